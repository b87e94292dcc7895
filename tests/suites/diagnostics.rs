//! Checks all messages of the macros: none is empty, and each says how to fix the mistake.
//!
//! The messages themselves are compared by the unit tests of `opgen-macros`, which alone can call a macro without a compiler.

use std::{
    fs,
    path::{Path, PathBuf},
};

const MARKER: &str = "//# ";

#[test]
fn every_message_says_how_to_mend_it() {
    for file in outputs() {
        for (title, messages) in cases(&file) {
            assert!(!messages.is_empty(), "{}: {title} says nothing", file.display());
            // An indented line belongs to the message before it.
            for message in messages.iter().filter(|message| !message.starts_with(' ')) {
                let remedy = message.split_once("; ").map_or("", |(_, remedy)| remedy);
                assert!(remedy.len() > 3, "{}: {message}", file.display());
            }
        }
    }
}

#[test]
fn every_output_has_its_cases() {
    for file in outputs() {
        let titles =
            |text: &str| text.lines().filter(|line| line.starts_with(MARKER)).map(str::to_owned).collect::<Vec<_>>();
        let source = fs::read_to_string(file.with_extension("rs")).unwrap_or_default();
        let said = fs::read_to_string(&file).unwrap();
        assert_eq!(titles(&source), titles(&said), "{}", file.display());
    }
}

fn outputs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("diagnostics");
    let folders = fs::read_dir(root).unwrap().map(|folder| folder.unwrap().path());
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap()).map(|file| file.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "txt")).collect()
}

/// The title of each case, and the lines that follow it.
fn cases(file: &Path) -> Vec<(String, Vec<String>)> {
    let mut cases: Vec<(String, Vec<String>)> = Vec::new();
    for line in fs::read_to_string(file).unwrap().lines().filter(|line| !line.is_empty()) {
        match (line.strip_prefix(MARKER), cases.last_mut()) {
            (Some(title), _) => cases.push((title.to_owned(), Vec::new())),
            (None, Some((_, messages))) => messages.push(line.to_owned()),
            (None, None) => (),
        }
    }
    cases
}

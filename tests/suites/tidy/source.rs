//! The files of the workspace, and Rust sources taken apart.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use walkdir::WalkDir;

pub(super) use super::fact::{Fact, Seen};
use super::{fact, root};

/// What else stands below `tests/` is input of tests: bad on purpose, or written by opgen.
const OWN_CODE_OF_TESTS: [&str; 6] = ["harness", "suites", "bench", "sandbox", "testing", "controlplane"];

/// All files of the workspace by their paths below its top, without what is built and what belongs to git.
pub(super) fn files() -> Vec<PathBuf> {
    let entries = WalkDir::new(root()).sort_by_file_name().into_iter();
    let kept = entries.filter_entry(|entry| !matches!(entry.file_name().to_str(), Some("target" | ".git")));
    kept.filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file() || entry.path_is_symlink())
        .filter_map(|entry| entry.path().strip_prefix(root()).ok().map(Path::to_owned))
        .collect()
}

/// The text of a file of the workspace.
pub(super) fn read(path: &Path) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Whether the file is input or output of a test rather than code of ours.
pub(super) fn is_fixture(path: &Path) -> bool {
    let parts: Vec<_> = path.iter().filter_map(OsStr::to_str).collect();
    match parts[..] {
        ["tests", folder, _, ..] => !OWN_CODE_OF_TESTS.contains(&folder),
        [_, "tests", _, _, ..] => true,
        _ => false,
    }
}

/// A Rust file of ours.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) facts: Vec<Fact>,
}

impl Source {
    pub(super) fn parse(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // `#[cfg(test)] mod tests;` says in another file that this one is tests.
        // These are programs of their own that stand among them.
        let own = ["tests/sandbox", "tests/testing"];
        let below = own.iter().find_map(|own| path.strip_prefix(own).ok()).unwrap_or(&path);
        let is_test = below.iter().any(|part| part == "tests" || part == "tests.rs");
        let facts = fact::of(&syntax, is_test);
        Self { path, text, facts }
    }

    /// Whether it is in one of the folders, or is one of the files.
    pub(super) fn is_in(&self, places: &[&str]) -> bool {
        places.iter().any(|place| self.path.starts_with(place) || self.path.with_extension("") == Path::new(place))
    }

    /// The facts outside tests.
    pub(super) fn shipped(&self) -> impl Iterator<Item = &Fact> {
        self.facts.iter().filter(|fact| !fact.in_test)
    }
}

/// All Rust files of ours, taken apart once for all laws.
pub(super) fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let rust = files().into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs") && !is_fixture(path));
        rust.map(|path| Source::parse(path.clone(), read(&path))).collect()
    })
}

/// Those in some folders or files.
pub(super) fn sources_in(places: &[&str]) -> impl Iterator<Item = &'static Source> {
    sources().iter().filter(|source| source.is_in(places))
}

//! What stands where.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::{Breach, holds, sees, source::files};

/// The names at the top; beside them only dot-files.
const TOP: [&str; 11] = [
    "Cargo.toml",
    "Cargo.lock",
    "macros",
    "runtime",
    "cli",
    "templates",
    "examples",
    "tests",
    "README.md",
    "LICENSE",
    "rust-toolchain.toml",
];

/// What each of these folders holds, no more and no less.
const EXACTLY: [(&str, &[&str]); 2] = [
    ("macros", &["Cargo.toml", "README.md", "src"]),
    (
        "macros/src",
        &[
            "attrs",
            "model",
            "check",
            "expand",
            "lib.rs",
            "diag.rs",
            "paths.rs",
            "fallback.rs",
            "stages.rs",
            "tests.rs",
            "tests",
        ],
    ),
];

/// What each of these folders holds, whatever else there is.
const AT_LEAST: [(&str, &[&str]); 9] = [
    ("macros/src/attrs", &GRID),
    ("macros/src/model", &GRID),
    ("macros/src/check", &GRID),
    ("macros/src/expand", &GRID),
    ("runtime", &["Cargo.toml", "src"]),
    ("cli", &["Cargo.toml", "src", "templates"]),
    ("templates", &["README.md", "project"]),
    ("examples", &["README.md", "cluster", "database", "ippool", "platform", "shop", "webapp"]),
    ("tests", &["Cargo.toml", "README.md", "controlplane", "harness", "suites"]),
];

/// The same names in each stage of the macros.
const GRID: [&str; 4] = ["managed.rs", "provisioner.rs", "access.rs", "operator.rs"];

#[test]
fn the_top_has_the_agreed_names() {
    let fix = "put it into the folder of its concept";
    let allowed = |name: &str| TOP.contains(&name) || name.starts_with('.');
    let stray = names_in("").into_iter().filter(|name| !allowed(name));
    holds("the top of the workspace", stray.map(|name| Breach::new(Path::new(&name), 1, "stands at the top", fix)));
    holds("the top of the workspace", missing("", &TOP));
}

#[test]
fn folders_hold_what_the_layout_says() {
    holds("the layout", AT_LEAST.iter().flat_map(|(folder, names)| missing(folder, names)));
    let stray = EXACTLY.iter().flat_map(|(folder, names)| {
        let stray = names_in(folder).into_iter().filter(|name| !names.contains(&name.as_str()));
        let fix = "put it into a stage, or change the table of tests/suites/tidy/layout.rs";
        stray.map(move |name| Breach::new(&Path::new(folder).join(name), 1, "has no place in the layout", fix))
    });
    holds("the layout", stray);
}

#[test]
fn templates_hold_no_literal_manifest() {
    let literal = files().into_iter().filter(|path| path.starts_with("templates") && path.ends_with("Cargo.toml"));
    let fix = "name it `Cargo.toml.tmpl`: Cargo drops such a folder from a package";
    holds("no literal manifest in a template", literal.map(|path| Breach::new(&path, 1, "is a Cargo manifest", fix)));
}

#[test]
fn every_expected_message_belongs_to_a_case() {
    holds("each case that doesn't compile has its messages", unpaired(&files()));
}

/// In the folders of a folder named `ui`: `.stderr` files and cases, but for those below `pass`, come in pairs.
fn unpaired(files: &[PathBuf]) -> Vec<Breach> {
    let of = |extension: &str| -> BTreeSet<PathBuf> {
        let matching = files.iter().filter(|path| path.extension().is_some_and(|own| own == extension));
        matching.map(|path| path.with_extension("")).collect()
    };
    let in_ui = |path: &&PathBuf| {
        let folder = path.parent().and_then(Path::parent);
        path.starts_with("tests") && folder.is_some_and(|folder| folder.iter().any(|part| part == "ui"))
    };
    let passes = |path: &PathBuf| path.iter().any(|part| part == "pass");
    let (cases, messages) = (of("rs"), of("stderr"));
    let orphans = messages.difference(&cases).map(|path| {
        Breach::new(
            &path.with_extension("stderr"),
            1,
            "belongs to no case",
            "remove it, or add the `.rs` file beside it",
        )
    });
    let silent = cases.difference(&messages).filter(in_ui).filter(|path| !passes(path)).map(|path| {
        Breach::new(&path.with_extension("rs"), 1, "has no messages", "run `cargo bless`, or move it below `pass`")
    });
    orphans.chain(silent).collect()
}

fn names_in(folder: &str) -> BTreeSet<String> {
    let first = |path: PathBuf| path.strip_prefix(folder).ok()?.iter().next()?.to_str().map(str::to_owned);
    files().into_iter().filter_map(first).collect()
}

fn missing(folder: &str, names: &[&str]) -> Vec<Breach> {
    let there = names_in(folder);
    let breach = |name: &&str| {
        Breach::new(
            &Path::new(folder).join(name),
            1,
            "is missing",
            "write it, or change the table of tests/suites/tidy/layout.rs",
        )
    };
    names.iter().filter(|name| !there.contains(**name)).map(breach).collect()
}

#[test]
fn cases_and_messages_are_paired() {
    let files = [
        "tests/ui/a/one.rs",
        "tests/ui/a/two.rs",
        "tests/ui/a/two.stderr",
        "tests/ui/three.stderr",
        "tests/ui/pass/four.rs",
        "tests/ui/main.rs",
        "macros/src/five.rs",
    ];
    let found = unpaired(&files.map(PathBuf::from));
    let found: Vec<_> = found.iter().map(|breach| breach.file.to_str().unwrap()).collect();
    assert_eq!(found, ["tests/ui/three.stderr", "tests/ui/a/one.rs"]);
    sees(unpaired(&[]), &[]);
}

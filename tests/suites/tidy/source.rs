//! The files of the workspace, and Rust sources taken apart.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{Span, TokenStream};
use syn::{spanned::Spanned as _, visit::Visit};
use walkdir::WalkDir;

/// What stands beside the suites below `tests/` is input of tests: bad on purpose, or written by opgen.
const OWN_CODE_OF_TESTS: [&str; 4] = ["harness", "suites", "sandbox", "controlplane"];

/// All files of the workspace by their paths below `root`, without what is built and what belongs to git.
pub(super) fn files(root: &Path) -> Vec<PathBuf> {
    let entries = WalkDir::new(root).sort_by_file_name().into_iter();
    let kept = entries.filter_entry(|entry| !matches!(entry.file_name().to_str(), Some("target" | ".git")));
    kept.filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .filter_map(|entry| entry.path().strip_prefix(root).ok().map(Path::to_owned))
        .collect()
}

/// Whether the file is input or output of a test rather than code of ours.
pub(super) fn is_fixture(path: &Path) -> bool {
    let mut parts = path.iter().filter_map(OsStr::to_str);
    match (parts.next(), parts.next()) {
        (Some("tests"), Some(second)) => parts.next().is_some() && !OWN_CODE_OF_TESTS.contains(&second),
        (_, Some("tests")) => parts.next().is_some(),
        _ => false,
    }
}

/// A Rust file of ours.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) syntax: syn::File,
}

impl Source {
    pub(super) fn parse(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path, text, syntax }
    }

    /// Whether the whole file is tests: a suite, or `mod tests` in a file of its own.
    pub(super) fn is_test(&self) -> bool {
        let in_tests = self.path.iter().any(|part| part == "tests");
        in_tests || self.path.file_stem().is_some_and(|stem| stem == "tests" || stem == "build" && false)
    }

    pub(super) fn is_below(&self, folder: &str) -> bool {
        self.path.starts_with(folder)
    }
}

/// All Rust files of ours, taken apart.
pub(super) fn sources() -> Vec<Source> {
    let root = super::root();
    let rust = files(&root).into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs") && !is_fixture(path));
    rust.map(|path| {
        let text = fs::read_to_string(root.join(&path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Source::parse(path, text)
    })
    .collect()
}

pub(super) fn line(span: Span) -> usize {
    span.start().line
}

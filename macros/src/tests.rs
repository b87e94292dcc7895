//! Runs the macros on the fixtures in `tests/diagnostics` and `tests/expand`, without a compiler.
//!
//! A fixture of diagnostics holds cases, each after a line `//# the mistake in words`. Its `.txt` file holds the messages:
//! `line:column what; fix`. A fixture of expansions has its output in `.out.rs`. `OPGEN_BLESS=1` writes both.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod diagnostics;
mod expansion;

use crate::stages::{self, Expansion};
use proc_macro2::{TokenStream, TokenTree};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

type Run = fn(TokenStream) -> Expansion;

const MACROS: [(&str, Run); 5] = [
    ("managed", stages::managed),
    ("validated", stages::validated),
    ("provisioner", stages::provisioner),
    ("operator", stages::operator),
    ("versions", versions),
];

/// Runs `#[versions(...)]` on an item with this attribute, which the macro itself does not get.
fn versions(item: TokenStream) -> Expansion {
    let (mut arguments, mut rest) = (TokenStream::new(), TokenStream::new());
    let mut tokens = item.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match tokens.peek().and_then(versions_arguments) {
            Some(found) if token.to_string() == "#" => {
                arguments.extend(found);
                tokens.next();
            }
            _ => rest.extend([token]),
        }
    }
    stages::versions(arguments, rest)
}

/// Returns the arguments in `[versions(...)]`.
fn versions_arguments(token: &TokenTree) -> Option<TokenStream> {
    let TokenTree::Group(brackets) = token else { return None };
    let mut tokens = brackets.stream().into_iter();
    match (tokens.next()?, tokens.next()) {
        (TokenTree::Ident(name), Some(TokenTree::Group(parentheses))) if name == "versions" => {
            Some(parentheses.stream())
        }
        _ => None,
    }
}

/// Returns the fixtures of a suite and a macro, in the order of their names.
fn fixtures(suite: &str, name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests").join(suite).join(name);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs") && !is_output(file));
    files.sort();
    assert!(!files.is_empty(), "no fixtures in {}", folder.display());
    files
}

fn is_output(file: &Path) -> bool {
    file.to_string_lossy().ends_with(".out.rs")
}

/// Compares the text with the file, or writes the file with `OPGEN_BLESS`.
#[track_caller]
fn check_golden(file: &Path, actual: &str) -> Result<(), String> {
    if env::var_os("OPGEN_BLESS").is_some() {
        fs::write(file, actual).unwrap();
        return Ok(());
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    if expected == actual {
        return Ok(());
    }
    let line = expected.lines().zip(actual.lines()).position(|(expected, actual)| expected != actual);
    let line = line.unwrap_or(expected.lines().count().min(actual.lines().count()));
    let at = |text: &str| text.lines().nth(line).unwrap_or("(nothing)").to_owned();
    let (expected, actual) = (at(&expected), at(actual));
    Err(format!("{}:{}\n  expected {expected}\n  found    {actual}\n", file.display(), line + 1))
}

/// Fails with all differences.
#[track_caller]
fn assert_golden(differences: &[String]) {
    assert!(differences.is_empty(), "\n{}\nOPGEN_BLESS=1 accepts what was found", differences.concat());
}

//! The laws of the house that can be asserted: sizes, layers, names, words, and documents that tell the truth.
//!
//! Each law is a function from sources to breaches, so it is shown on a bad example as well as on the workspace.

mod bans;
mod budget;
mod document;
mod fact;
mod graph;
mod house;
mod identity;
mod layer;
mod layout;
mod manager;
mod nats;
mod numbered;
mod source;
mod vocabulary;

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// One place that breaks a law.
#[derive(Clone, Debug)]
struct Breach {
    file: PathBuf,
    line: usize,
    what: String,
    fix: String,
}

impl Breach {
    fn new(file: &Path, line: usize, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, what: what.into(), fix: fix.into() }
    }
}

/// `runtime/src/queue.rs:12: what; how to mend it`.
impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; {}", self.file.display(), self.line, self.what, self.fix)
    }
}

/// The workspace keeps a law.
#[track_caller]
fn holds(law: &str, breaches: impl IntoIterator<Item = Breach>) {
    let breaches: Vec<_> = breaches.into_iter().map(|breach| breach.to_string()).collect();
    assert!(breaches.is_empty(), "{law}: {} breaches\n{}\n", breaches.len(), breaches.join("\n"));
}

/// A law sees what it is there to see: exactly the lines of `at` in a bad example.
#[track_caller]
fn sees(breaches: impl IntoIterator<Item = Breach>, at: &[usize]) {
    let breaches: Vec<_> = breaches.into_iter().collect();
    assert_eq!(breaches.iter().map(|breach| breach.line).collect::<Vec<_>>(), at, "{breaches:#?}");
}

/// The top of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace above the tests").to_owned()
}

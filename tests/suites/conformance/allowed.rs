//! The differences that may be, in one table: `allowed.yaml`.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use serde::Deserialize;
use serde_json::Value;

use opgen_tests::difference::{Difference, fits};

/// A row: in `case` the answers may part at `path`, because of `reason`. In both `*` stands for anything.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) path: String,
    pub(crate) reason: String,
    /// Of what a controller does at a moment of its own: not every run needs the row.
    #[serde(default)]
    sometimes: bool,
    #[serde(skip)]
    used: AtomicUsize,
}

/// The sentences that are told of a refusal but not compared: of a `Status` with one of these reasons on both sides.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sentences {
    reasons: Vec<String>,
    paths: Vec<String>,
    /// Why they need not be equal.
    #[serde(rename = "reason")]
    _reason: String,
    #[serde(skip)]
    used: AtomicUsize,
}

/// The table, with how often each row was needed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allowed {
    sentences: Sentences,
    rows: Vec<Row>,
}

impl Allowed {
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Whether the answers to one request of a case may part there; what allows it has been used.
    pub(crate) fn has(&self, case: &str, answers: [&Value; 2], difference: &Difference) -> bool {
        let row = self.rows.iter().find(|row| fits(&row.case, case) && fits(&row.path, &difference.path));
        let used = row.map(|row| &row.used);
        let used = used.or_else(|| self.sentences.have(answers, difference).then_some(&self.sentences.used));
        used.is_some_and(|used| used.fetch_add(1, Ordering::Relaxed) < usize::MAX)
    }

    /// The rows that nothing needed.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| !row.sometimes && row.used.load(Ordering::Relaxed) == 0)
    }

    /// How many differences were allowed by rows, and how many because they are sentences.
    pub(crate) fn used(&self) -> (usize, usize) {
        let rows = self.rows.iter().map(|row| row.used.load(Ordering::Relaxed)).sum();
        (rows, self.sentences.used.load(Ordering::Relaxed))
    }
}

impl Sentences {
    /// Both have to say something there: a sentence that only one of them tells is a difference.
    fn have(&self, answers: [&Value; 2], difference: &Difference) -> bool {
        let reason = |answer: &Value| {
            let reason = answer.pointer("/body/reason").and_then(Value::as_str);
            reason.filter(|_| answer.pointer("/body/kind").is_some_and(|kind| kind == "Status")).map(str::to_owned)
        };
        let [real, sandbox] = answers.map(reason);
        let are_texts =
            [&difference.real, &difference.sandbox].iter().all(|side| matches!(side, Some(Value::String(_))));
        are_texts
            && real == sandbox
            && real.is_some_and(|reason| self.reasons.contains(&reason))
            && self.paths.iter().any(|path| fits(path, &difference.path))
    }
}

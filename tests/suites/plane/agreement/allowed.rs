//! Differences between the sandbox and a cluster that are accepted, each with its reason: `allowed.yaml`.

use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use opgen_tests::difference::fits;
use serde::Deserialize;
use serde_json::Value;

/// An accepted difference. In `script`, `path` and `item` a `*` matches any text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    script: String,
    /// A value that may differ; with `item` a list.
    path: String,
    /// Items of the list that are left out on both sides before the rest is compared.
    item: Option<String>,
    #[serde(rename = "reason")]
    _reason: String,
    /// Of what happens at a moment of its own: not every run needs the row.
    #[serde(default)]
    sometimes: bool,
    #[serde(skip)]
    used: AtomicUsize,
}

/// The script of a row that is for all of them.
const ALL: &str = "*";

/// The table, with how often each row was needed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Allowed {
    rows: Vec<Row>,
    /// The number of cases that are done.
    #[serde(skip)]
    done: AtomicUsize,
}

impl Row {
    fn count(&self) {
        self.used.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether nothing needed the row, and something should have.
    fn is_unused(&self) -> bool {
        !self.sometimes && self.used.load(Ordering::Relaxed) == 0
    }
}

impl Allowed {
    /// The table of a folder.
    pub(super) fn read(folder: &Path) -> Self {
        let path = folder.join("allowed.yaml");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Whether the histories of a script may differ at this path. The row that allows it has been used.
    pub(super) fn has(&self, script: &str, path: &str) -> bool {
        let mut whole = self.rows.iter().filter(|row| row.item.is_none());
        let row = whole.find(|row| fits(&row.script, script) && fits(&row.path, path));
        row.inspect(|row| row.count()).is_some()
    }

    /// The rows that nothing needed, after one more case with these scripts. Those for all scripts count after the last of `cases`.
    pub(super) fn unused(&self, scripts: &[&str], cases: usize) -> Vec<String> {
        let is_last = self.done.fetch_add(1, Ordering::Relaxed) + 1 == cases;
        let concerns = |row: &Row| match row.script.as_str() {
            ALL => is_last,
            named => scripts.iter().any(|script| fits(named, script)),
        };
        let unused = self.rows.iter().filter(|row| concerns(row) && row.is_unused());
        unused.map(|row| format!("{} {} {}", row.script, row.path, row.item.as_deref().unwrap_or_default())).collect()
    }

    /// A history without the list items that this table leaves out. Neighbours that are equal then count as one, and a list
    /// or an object of lists that is empty then is absent.
    pub(super) fn compared(&self, script: &str, history: &Value) -> Value {
        let rows: Vec<_> = self.rows.iter().filter(|row| fits(&row.script, script)).collect();
        compared(&rows, "", history)
    }
}

fn compared(rows: &[&Row], path: &str, value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter_map(|(key, member)| {
                let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                let kept = compared(rows, &path, member);
                let emptied = is_empty(&kept) && !is_empty(member);
                (!emptied).then(|| (key.clone(), kept))
            });
            Value::Object(kept.collect())
        }
        Value::Array(items) => {
            let here = rows.iter().filter(|row| fits(&row.path, path));
            let patterns: Vec<_> = here.filter_map(|row| Some((*row, row.item.as_deref()?))).collect();
            let is_left_out = |item: &Value| {
                let row = patterns.iter().find(|(_, pattern)| fits(pattern, &text(item)));
                row.inspect(|(row, _)| row.count()).is_some()
            };
            let mut kept: Vec<_> = items.iter().filter(|item| !is_left_out(item)).cloned().collect();
            if kept.len() < items.len() {
                kept.dedup();
            }
            let numbered = kept.iter().enumerate();
            numbered.map(|(at, item)| compared(rows, &format!("{path}/{at}"), item)).collect()
        }
        other => other.clone(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// A text as it is, anything else as JSON.
fn text(item: &Value) -> String {
    item.as_str().map_or_else(|| item.to_string(), str::to_owned)
}

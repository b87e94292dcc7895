//! The differences that may be, in one table: `allowed.yaml`.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use serde::Deserialize;

use super::difference::{Difference, fits};

/// A row: in `case` the answers may part at `path`, because of `reason`. In both `*` stands for anything.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) path: String,
    pub(crate) reason: String,
    #[serde(skip)]
    used: AtomicUsize,
}

/// The table, with how often each row was needed.
#[derive(Debug)]
pub(crate) struct Allowed(Vec<Row>);

impl Allowed {
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self(serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    }

    /// Whether the table has the difference; the first row that fits has been used.
    pub(crate) fn has(&self, case: &str, difference: &Difference) -> bool {
        let row = self.0.iter().find(|row| fits(&row.case, case) && fits(&row.path, &difference.path));
        row.is_some_and(|row| row.used.fetch_add(1, Ordering::Relaxed) < usize::MAX)
    }

    /// The rows that nothing needed.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &Row> {
        self.0.iter().filter(|row| row.used.load(Ordering::Relaxed) == 0)
    }
}

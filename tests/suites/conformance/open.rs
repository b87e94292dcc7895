//! The cases that are known to differ, in one table: `open.yaml`.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

/// What still differs, by the case, and what the cases that were played came to.
#[derive(Debug)]
pub(crate) struct Open {
    rows: BTreeMap<String, String>,
    equal: AtomicUsize,
    known: AtomicUsize,
}

impl Open {
    /// Each row has to name a case, or it hides nothing but a slip of the pen.
    pub(crate) fn read(path: &Path, cases: &[String]) -> Self {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let rows: BTreeMap<String, String> =
            serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in rows.keys() {
            assert!(cases.contains(case), "{}: there is no case `{case}`; remove the row", path.display());
        }
        Self { rows, equal: AtomicUsize::default(), known: AtomicUsize::default() }
    }

    /// Whether a case is as the table has it; `told` is where the answers part, if they do.
    pub(crate) fn verdict(&self, case: &str, told: &str) -> Result<(), String> {
        let row = self.rows.get(case);
        match (told.is_empty(), row) {
            (true, None) => {
                self.equal.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            (true, Some(row)) => Err(format!("the answers are equal: remove it from open.yaml, where it says: {row}")),
            (false, Some(_)) => {
                self.known.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            (false, None) => Err(format!("the answers differ:\n{told}")),
        }
    }

    /// How many cases were equal, and how many differ as the table has it.
    pub(crate) fn played(&self) -> (usize, usize) {
        (self.equal.load(Ordering::Relaxed), self.known.load(Ordering::Relaxed))
    }
}

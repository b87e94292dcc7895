//! Where the sandbox and a cluster may part, and why: `allowed.yaml`.

use std::path::Path;

use opgen_tests::difference::fits;
use serde::Deserialize;

/// In `script` the two may part at `path`, because of `reason`. In both `*` stands for anything.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    script: String,
    path: String,
    #[serde(rename = "reason")]
    _reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Allowed {
    rows: Vec<Row>,
}

impl Allowed {
    /// The table of a folder.
    pub(super) fn read(folder: &Path) -> Self {
        let path = folder.join("allowed.yaml");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Whether the histories of a script may part there.
    pub(super) fn has(&self, script: &str, path: &str) -> bool {
        self.rows.iter().any(|row| fits(&row.script, script) && fits(&row.path, path))
    }
}

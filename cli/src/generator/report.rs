//! Reads the report that the generator prints as JSON: changes, drift, files and findings.

use std::{path::Path, process::Output};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, ResultExt as _};

/// The report of one run of the generator.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Report {
    /// The changes that were written.
    #[serde(default)]
    pub(crate) changes: Vec<FileChange>,
    /// The changes that a check found.
    #[serde(default)]
    pub(crate) drift: Vec<FileChange>,
    /// The files with their texts, if they were only printed.
    #[serde(default)]
    pub(crate) files: Vec<GeneratedFile>,
    /// The warnings of the linter.
    #[serde(default)]
    pub(crate) findings: Vec<LintFinding>,
}

/// A change of a file in the folder of the YAML.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct FileChange {
    pub(crate) path: String,
    pub(crate) action: Action,
    /// A unified diff, for drift only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) diff: String,
}

/// A generated file.
#[derive(Debug, Deserialize)]
pub(crate) struct GeneratedFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Action {
    Created,
    Updated,
    Removed,
}

impl Action {
    /// Returns the word for a change that was written to a file.
    pub(crate) fn change_verb(self) -> &'static str {
        match self {
            Self::Created => "Created",
            Self::Updated => "Updated",
            Self::Removed => "Removed",
        }
    }

    /// Returns the word for a file that a check found to differ from the generated YAML: a run would create, update or remove it.
    pub(crate) fn drift_word(self) -> &'static str {
        match self {
            Self::Created => "Missing",
            Self::Updated => "Different",
            Self::Removed => "Stale",
        }
    }
}

/// A warning of the linter about a field.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub(crate) struct LintFinding {
    severity: String,
    kind: String,
    path: String,
    problem: String,
    fix: String,
}

impl LintFinding {
    /// Returns the warning as text, with the kind and the field.
    pub(crate) fn text(&self) -> String {
        let path = if self.path.is_empty() { "." } else { &self.path };
        format!("{}: {path}: {}; {}", self.kind, self.problem, self.fix)
    }
}

impl Report {
    /// Returns whether nothing changed and nothing drifted.
    pub(crate) fn is_clean(&self) -> bool {
        self.changes.is_empty() && self.drift.is_empty()
    }

    /// Parses the report in the generator's output. Fails with the generator's own error if it failed; drift is no failure.
    pub(crate) fn read(output: &Output, generated: &Path) -> Result<Self> {
        let failed = || format!("failed to generate the YAML in `{}/`", generated.display());
        let stderr = String::from_utf8_lossy(&output.stderr);
        let stderr_message = || stderr.trim().trim_start_matches("error: ").to_owned();
        if output.stdout.is_empty() {
            return Err(Error::failed(failed()).because(stderr_message()));
        }
        let report: Self = serde_json::from_slice(&output.stdout).or_failed(failed)?;
        // The generator also exits with an error code after a check that found drift.
        match output.status.success() || !report.drift.is_empty() {
            true => Ok(report),
            false => Err(Error::failed(failed()).because(stderr_message())),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::{error::Error as _, process::Command};

    use super::*;

    /// Reads the report of a shell script that stands in for the generator.
    fn after(script: &str) -> Result<Report> {
        Report::read(&Command::new("sh").args(["-c", script]).output().unwrap(), Path::new("deploy"))
    }

    #[test]
    fn drift_is_a_report_and_no_failure() {
        let script =
            r#"echo '{"drift": [{"path": "a.yaml", "action": "removed", "diff": "-a"}], "findings": []}'; exit 1"#;
        let report = after(script).unwrap();
        assert_eq!((report.drift[0].action, report.drift[0].diff.as_str()), (Action::Removed, "-a"));
    }

    #[test]
    fn a_generator_that_fails_is_quoted() {
        let error = after("echo 'error: no such folder' >&2; exit 1").unwrap_err();
        assert_eq!(error.to_string(), "failed to generate the YAML in `deploy/`");
        assert_eq!(error.source().unwrap().to_string(), "no such folder");
    }

    #[test]
    fn an_invalid_report_is_an_error() {
        assert!(after("echo hello").is_err());
        assert!(after(r#"echo '{"changes": []}'; exit 1"#).is_err());
    }
}

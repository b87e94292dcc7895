//! What the linter says, and how the generator fails.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// How grave a [`Finding`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// The API server would refuse it, or the operator could not work with it: nothing is generated.
    Error,
    /// It works, with a cost or a surprise.
    Warning,
}

/// One thing that is wrong with what was to be generated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Error or warning.
    pub severity: Severity,
    /// The kind concerned with its version (`WebApp v1alpha1`), or the operator's name.
    pub kind: String,
    /// Where it is: the field of the object (`.spec.pools[*].size`), or of the definition.
    pub path: String,
    /// What is wrong.
    pub problem: String,
    /// What to change.
    pub fix: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "." } else { &self.path };
        write!(f, "{}: {}: {}; {}", self.kind, path, self.problem, self.fix)
    }
}

/// Why manifests could not be generated, written or compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The linter found errors; the warnings are among the findings too.
    #[error("failed to generate the manifests{}", listed(.0))]
    Invalid(Vec<Finding>),
    /// A document can't be written as YAML.
    #[error("failed to render `{path}` as YAML")]
    Render {
        /// The file, relative to the output folder.
        path: String,
        /// What the YAML writer said.
        #[source]
        source: serde_saphyr::SerializeError,
    },
    /// A file or folder can't be read or written.
    #[error("failed to access `{}`", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

fn listed(findings: &[Finding]) -> String {
    findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| format!("\n  {finding}"))
        .collect()
}

/// Collects the findings on one kind.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    kind: String,
    all: Vec<Finding>,
}

impl Findings {
    pub(crate) fn of(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), all: Vec::new() }
    }

    pub(crate) fn error(&mut self, path: &str, problem: impl Into<String>, fix: impl Into<String>) {
        self.push(Severity::Error, path, problem.into(), fix.into());
    }

    pub(crate) fn warning(&mut self, path: &str, problem: impl Into<String>, fix: impl Into<String>) {
        self.push(Severity::Warning, path, problem.into(), fix.into());
    }

    /// Adds what was found elsewhere.
    pub(crate) fn extend(&mut self, other: Self) {
        self.all.extend(other.all);
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.all.iter().any(|finding| finding.severity == Severity::Error)
    }

    pub(crate) fn into_vec(self) -> Vec<Finding> {
        self.all
    }

    pub(crate) fn push(&mut self, severity: Severity, path: &str, problem: String, fix: String) {
        self.all.push(Finding { severity, kind: self.kind.clone(), path: path.to_owned(), problem, fix });
    }
}

//! Defines the findings of the linter and the errors of the manifest generator.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// The severity of a [`Finding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// The API server would refuse the definition, or the operator could not work with it. No file is generated.
    Error,
    /// The definition works, with a cost or an unexpected effect.
    Warning,
}

/// One problem of the manifests that the linter reports.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Error or warning.
    pub severity: Severity,
    /// The kind with its version (`WebApp v1alpha1`), or the operator's name.
    pub kind: String,
    /// The path of the field in the object (`.spec.pools[*].size`) or in the definition.
    pub path: String,
    /// The problem.
    pub problem: String,
    /// The change that solves it.
    pub fix: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "." } else { &self.path };
        write!(f, "{}: {}: {}; {}", self.kind, path, self.problem, self.fix)
    }
}

/// The reasons why manifests could not be generated, written or compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The linter found errors. The list contains its warnings, too.
    #[error("failed to generate the manifests{}", error_list(.0))]
    Invalid(Vec<Finding>),
    /// A document can't be written as YAML.
    #[error("failed to render `{path}` as YAML")]
    Render {
        /// The file, relative to the output folder.
        path: String,
        /// The error of the YAML writer.
        #[source]
        source: serde_saphyr::SerializeError,
    },
    /// A file or folder can't be read or written.
    #[error("failed to access `{}`", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
}

/// Returns the findings that are errors as text, each on an indented line of its own.
fn error_list(findings: &[Finding]) -> String {
    findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| format!("\n  {finding}"))
        .collect()
}

/// Collects the findings about one kind.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    kind: String,
    all: Vec<Finding>,
}

impl Findings {
    /// Creates an empty collection for a kind.
    pub(crate) fn of(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), all: Vec::new() }
    }

    pub(crate) fn error(&mut self, path: &str, problem: impl Into<String>, fix: impl Into<String>) {
        self.push(Severity::Error, path, problem.into(), fix.into());
    }

    pub(crate) fn warning(&mut self, path: &str, problem: impl Into<String>, fix: impl Into<String>) {
        self.push(Severity::Warning, path, problem.into(), fix.into());
    }

    /// Adds the findings of another collection.
    pub(crate) fn extend(&mut self, other: Self) {
        self.all.extend(other.all);
    }

    pub(crate) fn into_vec(self) -> Vec<Finding> {
        self.all
    }

    pub(crate) fn push(&mut self, severity: Severity, path: &str, problem: String, fix: String) {
        self.all.push(Finding { severity, kind: self.kind.clone(), path: path.to_owned(), problem, fix });
    }
}

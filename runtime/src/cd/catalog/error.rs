//! `CatalogError`: the reason why applications of a catalog can't be deployed.

use crate::error::Error;
use std::fmt;

/// Why a catalog has no such application, or why applications can't be deployed together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogError {
    /// The catalog has no application of this name.
    UnknownApplication {
        /// The name.
        name: String,
    },
    /// Several objects have this name.
    AmbiguousApplication {
        /// The name.
        name: String,
    },
    /// The application has no such version.
    UnknownVersion {
        /// The name of the application.
        name: String,
        /// The version.
        version: String,
    },
    /// The version has neither a chart nor a branch.
    NoSource {
        /// The name of the application.
        name: String,
        /// The version.
        version: String,
    },
    /// A dependency is not selected, or not in a version that suffices.
    Conflict {
        /// The application, with its version.
        application: String,
        /// The dependency, with its constraints.
        dependency: String,
        /// The selected version of the dependency; `None` if it is not selected.
        selected: Option<String>,
    },
    /// The constraints of a dependency can't be read.
    InvalidConstraints {
        /// The application, with its version.
        application: String,
        /// The dependency, with its constraints.
        dependency: String,
    },
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownApplication { name } => write!(f, "there is no application {name}"),
            Self::AmbiguousApplication { name } => write!(f, "several objects have the application name {name}"),
            Self::UnknownVersion { name, version } => write!(f, "application {name} has no version {version}"),
            Self::NoSource { name, version } => {
                write!(f, "version {version} of application {name} has neither a chart nor a branch")
            }
            Self::Conflict { application, dependency, selected: None } => {
                write!(f, "{application} needs {dependency}, which is not selected")
            }
            Self::Conflict { application, dependency, selected: Some(selected) } => {
                write!(f, "{application} needs {dependency}, but {selected} is selected")
            }
            Self::InvalidConstraints { application, dependency } => {
                write!(f, "{application} needs {dependency}, whose constraints can't be read")
            }
        }
    }
}

impl std::error::Error for CatalogError {}

impl CatalogError {
    /// Returns an error with all messages that makes the node wait and try again, since the catalog may get the missing application.
    pub(super) fn yielding(errors: &[Self]) -> Error {
        let messages: Vec<_> = errors.iter().map(ToString::to_string).collect();
        Error::yielding("CatalogMismatch", messages.join("; "))
    }
}

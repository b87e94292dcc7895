//! `Change`: one difference between two releases of a definition.

use std::fmt;

/// For whom a change is breaking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Breaks {
    /// Objects in the cluster become invalid, lose content, or mean something else.
    pub stored: bool,
    /// A request that succeeded before can fail or mean something else, or a response can have what a client doesn't know.
    pub clients: bool,
}

impl Breaks {
    /// The change is harmless.
    pub const NOTHING: Self = Self { stored: false, clients: false };
    /// The change is breaking for stored objects only.
    pub const STORED: Self = Self { stored: true, clients: false };
    /// The change is breaking for clients only.
    pub const CLIENTS: Self = Self { stored: false, clients: true };
    /// The change is breaking for stored objects and for clients.
    pub const BOTH: Self = Self { stored: true, clients: true };

    /// Returns whether the change is breaking for anyone.
    pub fn any(self) -> bool {
        self.stored || self.clients
    }
}

/// Displays for whom the change is breaking, for example `stored objects, clients`; `nobody` if it is harmless.
impl fmt::Display for Breaks {
    /// Writes for whom the change is breaking: `stored objects`, `clients`, both, or `nobody`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.stored, self.clients) {
            (false, false) => "nobody",
            (true, false) => "stored objects",
            (false, true) => "clients",
            (true, true) => "stored objects, clients",
        })
    }
}

/// One difference between two releases of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The name of the version whose schema differs; `None` for a change of the whole definition.
    pub version: Option<String>,
    /// The JSON path of the field in an object, for example `.spec.ports[*].name`; for a change of the definition the path in it, for
    /// example `.spec.scope`.
    pub path: String,
    /// What has changed, and what follows from it.
    pub message: String,
    /// For whom the change is breaking.
    pub breaks: Breaks,
}

/// Displays the change as `v1 .spec.size: the field is removed; ...`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(version) = &self.version {
            write!(f, "{version} ")?;
        }
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// The changes that have been found in one version, or in the whole definition.
#[derive(Debug, Default)]
pub(super) struct Changes {
    version: Option<String>,
    found: Vec<Change>,
}

impl Changes {
    /// Returns an empty list for the changes of a version.
    pub(super) fn of_version(version: &str) -> Self {
        Self { version: Some(version.to_owned()), found: Vec::new() }
    }

    /// Adds a change.
    pub(super) fn add(&mut self, path: impl Into<String>, breaks: Breaks, message: impl Into<String>) {
        let (version, path, message) = (self.version.clone(), path.into(), message.into());
        self.found.push(Change { version, path, message, breaks });
    }

    /// Adds the changes of another list.
    pub(super) fn extend(&mut self, other: Self) {
        self.found.extend(other.found);
    }

    pub(super) fn into_vec(self) -> Vec<Change> {
        self.found
    }
}

//! `Revision`: tells whether an object was changed between two reads.

use super::{Header, ResourceVersion};

/// The versions of an object that tell whether it was changed: the API server raises one or both with each change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Revision {
    pub(crate) version: ResourceVersion,
    /// Counts the changes of what is wanted; not every kind has it, and no write of a subresource changes it.
    pub(crate) generation: Option<i64>,
}

impl Revision {
    /// That of an object as a watch shows it.
    pub(crate) fn of(header: &Header) -> Self {
        let generation = Some(header.generation).filter(|held| *held != 0);
        Self { version: header.resource_version.clone(), generation }
    }

    /// Whether the object was not changed in between. A status that another controller writes changes the version alone.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self.generation, other.generation) {
            (Some(one), Some(other)) => one == other,
            _ => self.version == other.version,
        }
    }
}

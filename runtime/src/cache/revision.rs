//! `Revision`: detects whether an object has changed between two reads, apart from its status.

use super::{Header, ResourceVersion};

/// The resourceVersion and the generation of an object at one read. The generation is compared if there is one, since a status write of
/// another controller changes the resourceVersion only.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Revision {
    pub(crate) version: ResourceVersion,
    /// The generation, which counts changes of the spec. Not every kind has it, and no write to a subresource changes it.
    pub(crate) generation: Option<i64>,
}

impl Revision {
    /// Returns the revision of an object from a watch.
    pub(crate) fn of(header: &Header) -> Self {
        let generation = Some(header.generation).filter(|generation| *generation != 0);
        Self { version: header.resource_version.clone(), generation }
    }

    /// Returns whether the spec has not changed in between. If one of the revisions has no generation, no field may have changed.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self.generation, other.generation) {
            (Some(one), Some(other)) => one == other,
            _ => self.version == other.version,
        }
    }
}

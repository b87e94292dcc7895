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
    /// Returns the revision of an object, without a generation if its kind has none.
    pub(crate) fn of(header: &Header) -> Self {
        let generation = Some(header.generation).filter(|generation| *generation != 0);
        Self { version: header.resource_version.clone(), generation }
    }

    /// Returns whether two revisions have the same generation, so that the spec is the same. If one of them has no generation, the method
    /// compares the resourceVersions, so that a change of any field counts.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self.generation, other.generation) {
            (Some(one), Some(other)) => one == other,
            _ => self.version == other.version,
        }
    }
}

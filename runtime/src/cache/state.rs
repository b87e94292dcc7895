//! `State`: whether an object was changed from one look to another.

use super::{Header, ResourceVersion};

/// A state of an object, as far as it tells whether the object was changed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) version: ResourceVersion,
    /// Counts the changes of what is wanted; not every kind has it, and no write of a subresource changes it.
    pub(crate) generation: Option<i64>,
}

impl State {
    /// The state of an object that a watch shows.
    pub(crate) fn of(header: &Header) -> Self {
        let generation = Some(header.generation).filter(|held| *held != 0);
        Self { version: header.resource_version.clone(), generation }
    }

    /// Whether an object was not changed from one state to the other. A status that another controller writes changes the version
    /// alone.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self.generation, other.generation) {
            (Some(one), Some(other)) => one == other,
            _ => self.version == other.version,
        }
    }
}

//! `Change`: the effect of a watch event on a store.

use super::Entry;
use std::sync::Arc;

/// The effect of an event on a store; predicates compare `old` with `new`.
#[derive(Debug)]
#[non_exhaustive]
pub enum Change<V> {
    /// The object was not in the store.
    Added {
        /// The object.
        new: Arc<Entry<V>>,
    },
    /// The object has a new version, or is a new object of the same name (another uid).
    Updated {
        /// The entry before the event.
        old: Arc<Entry<V>>,
        /// The entry after the event.
        new: Arc<Entry<V>>,
    },
    /// The event has the same version or an older one; the store did not change.
    Unchanged,
    /// The object was deleted.
    Deleted {
        /// The last entry.
        old: Arc<Entry<V>>,
    },
}

impl<V> Change<V> {
    /// Returns the object before the event; `None` for a new object and for [`Change::Unchanged`].
    pub fn old(&self) -> Option<&Arc<Entry<V>>> {
        match self {
            Self::Updated { old, .. } | Self::Deleted { old } => Some(old),
            Self::Added { .. } | Self::Unchanged => None,
        }
    }

    /// Returns the object after the event; `None` for a deleted object and for [`Change::Unchanged`].
    pub fn new_entry(&self) -> Option<&Arc<Entry<V>>> {
        match self {
            Self::Added { new } | Self::Updated { new, .. } => Some(new),
            Self::Unchanged | Self::Deleted { .. } => None,
        }
    }
}

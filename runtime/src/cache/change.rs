//! What an event did to a store.

use super::Entry;
use std::sync::Arc;

/// What an event did to a store; predicates compare `old` with `new`.
#[derive(Debug)]
#[non_exhaustive]
pub enum Change<V> {
    /// The object was not there.
    Added {
        /// The object.
        new: Arc<Entry<V>>,
    },
    /// The object has a new version, or is a new object of the same name (another uid).
    Updated {
        /// What was there.
        old: Arc<Entry<V>>,
        /// What is there now.
        new: Arc<Entry<V>>,
    },
    /// The same version again, or an older one: nothing was done.
    Unchanged,
    /// The object is gone.
    Deleted {
        /// The last state that was there.
        old: Arc<Entry<V>>,
    },
}

impl<V> Change<V> {
    /// The object before the event.
    pub fn old(&self) -> Option<&Arc<Entry<V>>> {
        match self {
            Self::Updated { old, .. } | Self::Deleted { old } => Some(old),
            Self::Added { .. } | Self::Unchanged => None,
        }
    }

    /// The object after the event.
    pub fn new_entry(&self) -> Option<&Arc<Entry<V>>> {
        match self {
            Self::Added { new } | Self::Updated { new, .. } => Some(new),
            Self::Unchanged | Self::Deleted { .. } => None,
        }
    }
}

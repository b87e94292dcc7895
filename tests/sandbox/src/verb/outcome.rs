//! Defines the outcome of a write: the object, whether it was created, and warnings.

use std::sync::Arc;

use serde_json::Value;

use crate::{kind::Kind, store::Stored};

/// The outcome of a write.
pub(super) struct WriteOutcome {
    pub(super) state: WrittenObject,
    pub(super) created: bool,
    pub(super) warnings: Vec<String>,
}

/// The object after a write.
pub(super) enum WrittenObject {
    /// The stored object.
    Stored(Arc<Stored>),
    /// An object that is not stored: the result of a dry run, or the last state of a removed object.
    Unstored(Value),
}

impl WrittenObject {
    /// Returns the object as JSON in the version of `kind`; decodes it if it is stored.
    pub(super) fn object(self, kind: &Kind) -> Value {
        match self {
            Self::Stored(stored) => stored.object(kind),
            Self::Unstored(object) => object,
        }
    }
}

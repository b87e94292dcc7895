//! `Stored`: the status of an object as it was read, typed or as JSON.

use crate::condition::Status;
use serde_json::Value;

/// What has a status.
pub(crate) trait Stored: Send + Sync {
    /// All of it, as it is stored.
    fn status(&self) -> Value;
    /// Its conditions, and the generation they speak of; nothing where they can't be read.
    fn said(&self) -> &Status;
}

/// The status of an object that can't be decoded.
pub(super) struct Unread(pub(super) Value);

impl Stored for Unread {
    fn status(&self) -> Value {
        self.0.clone()
    }

    fn said(&self) -> &Status {
        static NOTHING: Status = Status { conditions: Vec::new(), observed_generation: None };
        &NOTHING
    }
}

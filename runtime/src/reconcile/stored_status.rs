//! `StoredStatus` reads the status of an object as the API server stores it, typed or as JSON.

use crate::condition::Status;
use serde_json::Value;

/// Reads the stored status of an object.
pub(crate) trait StoredStatus: Send + Sync {
    /// Returns the whole status.
    fn status(&self) -> Value;
    /// Returns the conditions and the observed generation; empty if they can't be decoded.
    fn conditions(&self) -> &Status;
}

/// The status of an object that can't be decoded as a whole.
pub(super) struct RawStatus(pub(super) Value);

impl StoredStatus for RawStatus {
    fn status(&self) -> Value {
        self.0.clone()
    }

    fn conditions(&self) -> &Status {
        static EMPTY: Status = Status { conditions: Vec::new(), observed_generation: None };
        &EMPTY
    }
}

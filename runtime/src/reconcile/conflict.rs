//! How long conflicts are nobody's business.

use crate::{
    cache::ObjectKey,
    error::{Error, Result},
};
use parking_lot::Mutex;
use std::collections::HashMap;

/// A conflict ends as soon as the other's write has arrived. One after the other for as long is no conflict, but a patch that never
/// fits: with [`CATCH_UP`](super::CATCH_UP) between the passes, five seconds.
const MOST: u32 = 50;

/// The conflicts in a row that the trees of objects ended with.
#[derive(Debug, Default)]
pub(super) struct Conflicts(Mutex<HashMap<ObjectKey, u32>>);

impl Conflicts {
    /// The outcome of a tree; a conflict that does not end is an error like any other.
    pub(super) fn judge(&self, key: &ObjectKey, outcome: Result<()>) -> Result<()> {
        let mut conflicts = self.0.lock();
        let Err(Error::Conflict(source)) = outcome else {
            conflicts.remove(key);
            return outcome;
        };
        let row = conflicts.entry(key.clone()).or_default();
        *row = row.saturating_add(1);
        Err(if *row > MOST { Error::Unexpected(source) } else { Error::Conflict(source) })
    }

    pub(super) fn forget(&self, key: &ObjectKey) {
        self.0.lock().remove(key);
    }
}

//! `KnownRevisions`: the revisions of values that this process has read or written, which save a read before a write.

use parking_lot::Mutex;
use std::{collections::BTreeSet, sync::Arc};

/// How many revisions are remembered: the highest ones.
const REMEMBERED: usize = 4096;

/// Revisions that are known to be those of values.
///
/// JetStream compares the last revision of a key, whether it is that of a value or of a tombstone. In a bucket, the revision of a
/// tombstone must not match. So a write reads the key first, unless the revision that it expects is known to be that of a value.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownRevisions(Arc<Mutex<BTreeSet<u64>>>);

impl KnownRevisions {
    /// Adds the revision of a value. Drops the lowest revision if there are too many.
    pub(super) fn remember(&self, revision: u64) {
        let mut revisions = self.0.lock();
        revisions.insert(revision);
        if revisions.len() > REMEMBERED {
            revisions.pop_first();
        }
    }

    pub(super) fn contains(&self, revision: u64) -> bool {
        self.0.lock().contains(&revision)
    }

    /// Forgets all revisions: the bucket may have been deleted and created again.
    pub(super) fn forget(&self) {
        self.0.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_revisions_are_remembered() {
        let known = KnownRevisions::default();
        (1..=5000).for_each(|revision| known.remember(revision));
        assert!(known.contains(5000) && known.contains(905) && !known.contains(904));
        known.forget();
        assert!(!known.contains(5000));
    }
}

//! `Notes`: what the clients of a bucket with a planted bug share, such as past writes and cached reads.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use opgen::bucket::BucketEntry;

/// What happened to a bucket.
#[derive(Default)]
pub(crate) struct Notes {
    /// The number of clients.
    pub(crate) clients: u64,
    /// All values that clients wrote.
    pub(crate) history: Vec<BucketEntry>,
    /// The revision of the last write.
    pub(crate) last: u64,
    /// The clients that made the writes, by their revisions.
    pub(crate) writers: BTreeMap<u64, u64>,
    /// The revisions of the last removals by clients, by the keys.
    pub(crate) removals: BTreeMap<String, u64>,
    /// The number of removals by clients.
    pub(crate) removal_count: usize,
    /// The revisions of writes and deletions without a condition.
    pub(crate) foreign: BTreeSet<u64>,
    /// The entries that were deleted without a condition.
    pub(crate) deleted: BTreeMap<String, BucketEntry>,
    /// Those that were purged.
    pub(crate) purged: BTreeMap<String, BucketEntry>,
    /// Cached entries of clients.
    pub(crate) cached_gets: BTreeMap<(u64, String), Option<BucketEntry>>,
    pub(crate) cached_lists: BTreeMap<u64, Vec<BucketEntry>>,
    /// The number of calls of `get` and `list`.
    pub(crate) reads: usize,
    /// The number of calls so far that waited for another call between their check and their write.
    pub(crate) waiting_calls: usize,
    pub(crate) interruptions: usize,
    pub(crate) forgets: usize,
    pub(crate) restarts: usize,
    pub(crate) watches: usize,
    pub(crate) dropped_watches: usize,
    /// The number of watches that were never read.
    pub(crate) unread_watches: usize,
    pub(crate) is_locked: bool,
}

impl Notes {
    /// Returns the entry that was deleted or purged without a condition.
    pub(crate) fn lost(&self, key: &str) -> Option<&BucketEntry> {
        self.deleted.get(key).or_else(|| self.purged.get(key))
    }
}

/// Notes that all clients of a bucket change.
#[derive(Clone, Default)]
pub(crate) struct SharedNotes(Arc<Mutex<Notes>>);

impl SharedNotes {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

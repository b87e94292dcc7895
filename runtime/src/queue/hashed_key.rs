//! `HashedKey`: a key with its hash, which is computed once, before the queue is locked.

/// A key with its hash.
#[derive(Clone)]
pub(super) struct HashedKey<K> {
    pub(super) key: K,
    pub(super) hash: u64,
}

impl<K: Eq> HashedKey<K> {
    /// Returns whether it is this key. The hash decides nearly always, without a look at the text of the keys.
    pub(super) fn is(&self, hash: u64, key: &K) -> bool {
        self.hash == hash && self.key == *key
    }
}

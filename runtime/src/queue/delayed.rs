//! Keys that become ready later, by time.

use std::collections::BTreeMap;
use tokio::time::Instant;

/// Keys by the time they become ready.
pub(super) struct Delayed<K> {
    keys: BTreeMap<Due, K>,
    tickets: u64,
}

/// When a key becomes ready. The ticket keeps keys of the same time apart, in the order they came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    pub(super) at: Instant,
    ticket: u64,
}

impl<K> Delayed<K> {
    pub(super) fn new() -> Self {
        Self { keys: BTreeMap::new(), tickets: 0 }
    }

    pub(super) fn insert(&mut self, at: Instant, key: K) -> Due {
        let due = Due { at, ticket: self.tickets };
        self.tickets += 1;
        self.keys.insert(due, key);
        due
    }

    pub(super) fn remove(&mut self, due: &Due) {
        self.keys.remove(due);
    }

    /// The next key that is due at `now`, with its time.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<(Instant, K)> {
        let first = self.keys.first_entry().filter(|first| first.key().at <= now)?;
        let (due, key) = first.remove_entry();
        Some((due.at, key))
    }

    /// The earliest time.
    pub(super) fn next(&self) -> Option<Instant> {
        self.keys.first_key_value().map(|(due, _)| due.at)
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn clear(&mut self) {
        self.keys.clear();
    }
}

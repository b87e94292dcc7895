//! `Delayed`: the keys that become ready at a later time, sorted by time.

use std::collections::BTreeMap;
use tokio::time::Instant;

/// The delayed keys by the time when they become ready.
pub(super) struct Delayed<K> {
    keys: BTreeMap<DueTime, K>,
    next_ticket: u64,
}

/// The time when a key becomes ready. The ticket keeps keys with the same time distinct, in the order of arrival.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DueTime {
    pub(super) time: Instant,
    ticket: u64,
}

impl<K> Delayed<K> {
    pub(super) fn new() -> Self {
        Self { keys: BTreeMap::new(), next_ticket: 0 }
    }

    /// Adds a key that becomes due at `time`, and returns the due time with which [`Delayed::remove`] finds the key.
    pub(super) fn insert(&mut self, time: Instant, key: K) -> DueTime {
        let due = DueTime { time, ticket: self.next_ticket };
        self.next_ticket += 1;
        self.keys.insert(due, key);
        due
    }

    pub(super) fn remove(&mut self, due: &DueTime) {
        self.keys.remove(due);
    }

    /// Removes and returns the key with the earliest due time, with that time; `None` if no key is due at `now`.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<(Instant, K)> {
        let first = self.keys.first_entry().filter(|first| first.key().time <= now)?;
        let (due, key) = first.remove_entry();
        Some((due.time, key))
    }

    /// Returns the earliest time at which a key is due; `None` if there are no keys.
    pub(super) fn next(&self) -> Option<Instant> {
        self.keys.first_key_value().map(|(due, _)| due.time)
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn clear(&mut self) {
        self.keys.clear();
    }
}

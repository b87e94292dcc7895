//! Implements a work queue with deduplication, delays and exponential backoff.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use tokio::time::Instant;

/// The delay after the first failure; each further failure doubles it.
const FIRST_WAIT: Duration = Duration::from_millis(5);
const LONGEST_WAIT: Duration = Duration::from_secs(1000);

/// A work queue of keys.
#[derive(Debug)]
pub(super) struct Queue<K> {
    ready: VecDeque<K>,
    waiting: BTreeSet<K>,
    later: BTreeSet<(Instant, K)>,
    failures: BTreeMap<K, u32>,
}

impl<K: Ord + Clone> Queue<K> {
    pub(super) fn new() -> Self {
        Self { ready: VecDeque::new(), waiting: BTreeSet::new(), later: BTreeSet::new(), failures: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, key: K) {
        if self.waiting.insert(key.clone()) {
            self.ready.push_back(key);
        }
    }

    pub(super) fn add_at(&mut self, at: Instant, key: K) {
        self.later.insert((at, key));
    }

    /// Adds a failed key again with its backoff.
    pub(super) fn failed(&mut self, now: Instant, key: K) {
        let failures = self.failures.entry(key.clone()).or_default();
        let wait = FIRST_WAIT.saturating_mul(1_u32.checked_shl(*failures).unwrap_or(u32::MAX)).min(LONGEST_WAIT);
        *failures = failures.saturating_add(1);
        self.add_at(now + wait, key);
    }

    pub(super) fn succeeded(&mut self, key: &K) {
        self.failures.remove(key);
    }

    /// Returns the next key that is due.
    pub(super) fn next(&mut self, now: Instant) -> Option<K> {
        while self.later.first().is_some_and(|(at, _)| *at <= now) {
            if let Some((_, key)) = self.later.pop_first() {
                self.add(key);
            }
        }
        let key = self.ready.pop_front()?;
        self.waiting.remove(&key);
        Some(key)
    }

    /// Returns the time at which the next delayed key is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.later.first().map(|(at, _)| *at)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_failed_key_is_retried_with_backoff() {
        let (mut queue, start) = (Queue::new(), Instant::now());
        queue.add("a");
        queue.add("a");
        assert_eq!(queue.next(start), Some("a"));
        assert_eq!(queue.next(start), None, "each is there once");
        for wait in [5, 10, 20] {
            queue.failed(start, "a");
            assert_eq!(queue.due(), Some(start + Duration::from_millis(wait)));
            assert_eq!(queue.next(start), None);
            assert_eq!(queue.next(start + Duration::from_millis(wait)), Some("a"));
        }
        queue.succeeded(&"a");
        queue.failed(start, "a");
        assert_eq!(queue.due(), Some(start + FIRST_WAIT));
    }
}

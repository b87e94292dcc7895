//! `Queue`: a work queue with deduplication, delays and exponential backoff, like client-go's `workqueue`.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use tokio::time::Instant;

/// The delay after the first failure; each further failure doubles it, up to `MAX_DELAY`.
const BASE_DELAY: Duration = Duration::from_millis(5);
const MAX_DELAY: Duration = Duration::from_secs(1000);

/// A work queue of keys.
#[derive(Debug)]
pub(super) struct Queue<K> {
    /// The keys to reconcile now, in order.
    ready: VecDeque<K>,
    /// The same keys, for deduplication.
    queued: BTreeSet<K>,
    /// The keys to add at a later time.
    delayed: BTreeSet<(Instant, K)>,
    /// The number of failures of each key since its last success.
    failures: BTreeMap<K, u32>,
}

impl<K: Ord + Clone> Queue<K> {
    pub(super) fn new() -> Self {
        Self { ready: VecDeque::new(), queued: BTreeSet::new(), delayed: BTreeSet::new(), failures: BTreeMap::new() }
    }

    /// Adds a key unless it is already queued.
    pub(super) fn add(&mut self, key: K) {
        if self.queued.insert(key.clone()) {
            self.ready.push_back(key);
        }
    }

    /// Adds a key at a later time.
    pub(super) fn add_at(&mut self, at: Instant, key: K) {
        self.delayed.insert((at, key));
    }

    /// Adds a failed key again after its backoff, which doubles with each failure.
    pub(super) fn add_rate_limited(&mut self, now: Instant, key: K) {
        let failures = self.failures.entry(key.clone()).or_default();
        let delay = BASE_DELAY.saturating_mul(1_u32.checked_shl(*failures).unwrap_or(u32::MAX)).min(MAX_DELAY);
        *failures = failures.saturating_add(1);
        self.add_at(now + delay, key);
    }

    /// Resets the backoff of a key, after it was reconciled successfully.
    pub(super) fn forget(&mut self, key: &K) {
        self.failures.remove(key);
    }

    /// Removes the next key that is due and returns it; `None` if no key is due.
    pub(super) fn next(&mut self, now: Instant) -> Option<K> {
        while self.delayed.first().is_some_and(|(at, _)| *at <= now) {
            if let Some((_, key)) = self.delayed.pop_first() {
                self.add(key);
            }
        }
        let key = self.ready.pop_front()?;
        self.queued.remove(&key);
        Some(key)
    }

    /// Returns the time at which the next delayed key is due; `None` if no key is delayed.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.delayed.first().map(|(at, _)| *at)
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
        for delay in [5, 10, 20] {
            queue.add_rate_limited(start, "a");
            assert_eq!(queue.next_due(), Some(start + Duration::from_millis(delay)));
            assert_eq!(queue.next(start), None);
            assert_eq!(queue.next(start + Duration::from_millis(delay)), Some("a"));
        }
        queue.forget(&"a");
        queue.add_rate_limited(start, "a");
        assert_eq!(queue.next_due(), Some(start + BASE_DELAY));
    }
}

//! `Timings`: how long keys wait in a queue, and how long workers hold them.

use super::Item;
use crate::metrics::histogram::{Histogram, QUEUE_BUCKETS};
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use tokio::time::Instant;

/// The slot is unused.
const FREE: u64 = 0;
/// The worker of the slot holds no key. Greater values are the time when it took its key, in nanoseconds.
const IDLE: u64 = 1;

/// The durations of the keys of one queue, measured by its workers with atomic operations only.
///
/// ```
/// # use opgen::queue::{Priority, Queue, Timings};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (queue, timings) = (Queue::new(), Timings::new(1));
/// let worker = timings.worker();
/// queue.add("web", Priority::Normal);
/// if let Some(item) = queue.take().await {
///     let start = worker.begin(&item);
///     queue.done(&item.key);
///     worker.end(start);
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Timings {
    pub(crate) waits: Histogram,
    pub(crate) work: Histogram,
    base: Instant,
    /// The state of each worker.
    slots: Box<[AtomicU64]>,
}

/// One worker of a queue. Its drop releases its slot.
#[derive(Debug)]
pub struct Worker<'t> {
    timings: &'t Timings,
    slot: Option<&'t AtomicU64>,
}

/// The keys that workers hold now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeldKeys {
    pub(crate) count: usize,
    pub(crate) total: Duration,
    pub(crate) longest: Duration,
}

impl Timings {
    /// Returns timings for a number of workers. The durations of further workers count as well; only the keys that they hold
    /// now are not known.
    pub fn new(workers: usize) -> Self {
        let slots = (0..workers).map(|_| AtomicU64::new(FREE)).collect();
        let histogram = || Histogram::new(QUEUE_BUCKETS);
        Self { waits: histogram(), work: histogram(), base: Instant::now(), slots }
    }

    /// Returns a worker, which measures its keys.
    pub fn worker(&self) -> Worker<'_> {
        let claim = |slot: &&AtomicU64| slot.compare_exchange(FREE, IDLE, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        Worker { timings: self, slot: self.slots.iter().find(claim) }
    }

    /// Returns the number of workers that may hold a key at a time.
    pub(crate) fn workers(&self) -> usize {
        self.slots.len()
    }

    /// Returns the keys that workers hold at `now`.
    pub(crate) fn held_keys(&self, now: Instant) -> HeldKeys {
        let mut held = HeldKeys::default();
        for slot in &self.slots {
            let started = slot.load(Ordering::Relaxed);
            if started > IDLE {
                let duration = now.saturating_duration_since(self.base + Duration::from_nanos(started));
                held.count += 1;
                held.total += duration;
                held.longest = held.longest.max(duration);
            }
        }
        held
    }
}

impl Worker<'_> {
    /// Records that the worker took a key, and returns the current time.
    pub fn begin<K>(&self, item: &Item<K>) -> Instant {
        let now = Instant::now();
        self.timings.waits.observe(now.saturating_duration_since(item.since));
        if let Some(slot) = self.slot {
            let nanos = now.saturating_duration_since(self.timings.base).as_nanos();
            slot.store(u64::try_from(nanos).unwrap_or(u64::MAX).max(IDLE + 1), Ordering::Relaxed);
        }
        now
    }

    /// Records that the worker is done with the key that it took at `start`, and returns how long it held the key.
    pub fn end(&self, start: Instant) -> Duration {
        let duration = start.elapsed();
        self.timings.work.observe(duration);
        if let Some(slot) = self.slot {
            slot.store(IDLE, Ordering::Relaxed);
        }
        duration
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            slot.store(FREE, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::queue::{Priority, Queue};

    #[tokio::test(start_paused = true)]
    async fn waits_and_work_are_measured_and_a_worker_that_ends_holds_nothing() {
        let (queue, timings) = (Queue::new(), Timings::new(1));
        queue.add(1, Priority::Normal);
        tokio::time::advance(Duration::from_secs(2)).await;
        let worker = timings.worker();
        let item = queue.take().await.unwrap();
        let start = worker.begin(&item);
        tokio::time::advance(Duration::from_secs(3)).await;
        let three = Duration::from_secs(3);
        assert_eq!(timings.held_keys(Instant::now()), HeldKeys { count: 1, total: three, longest: three });
        assert_eq!(worker.end(start), three);
        assert_eq!(timings.held_keys(Instant::now()), HeldKeys::default());
        assert_eq!((timings.waits.values().sum, timings.work.values().sum), (2.0, 3.0));
        worker.begin(&item);
        drop(worker);
        assert_eq!(timings.held_keys(Instant::now()).count, 0);
        assert!(timings.worker().slot.is_some(), "the slot is free again");
    }
}

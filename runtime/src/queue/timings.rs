//! `Timings`: how long keys wait in a queue, and how long workers hold them.

use super::Item;
use crate::metrics::histogram::{Histogram, HistogramValues, QUEUE_BUCKETS};
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use tokio::time::Instant;

/// The slot is unused.
const FREE: u64 = 0;
/// The worker of the slot holds no key. Greater values are the time when it took its key, in nanoseconds.
const IDLE: u64 = 1;

/// The durations of the keys of one queue, measured by its workers with atomic operations only. Each worker counts for itself, so that
/// workers on several threads do not wait for the same memory.
///
/// ```
/// # use opgen::queue::{Priority, Queue, Timings};
/// # use tokio::time::Instant;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (queue, timings) = (Queue::new(), Timings::new(1));
/// let worker = timings.worker();
/// queue.add("web", Priority::Normal);
/// if let Some(item) = queue.take().await {
///     let start = worker.begin(&item);
///     worker.end(start, Instant::now());
///     queue.done(&item.key);
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Timings {
    base: Instant,
    slots: Box<[WorkerSlot]>,
    /// The slot of all workers that found no free one.
    shared: WorkerSlot,
}

/// The measurements of one worker. The alignment is that of a pair of cache lines, which some processors load at once.
#[derive(Debug)]
#[repr(align(128))]
struct WorkerSlot {
    /// The state of the worker.
    state: AtomicU64,
    waits: Histogram,
    work: Histogram,
}

/// One worker of a queue. Its drop releases its slot.
#[derive(Debug)]
pub struct Worker<'t> {
    base: Instant,
    slot: &'t WorkerSlot,
    /// Whether no other worker has the slot, so that it shows the key that the worker holds.
    is_alone: bool,
}

impl WorkerSlot {
    fn new() -> Self {
        let histogram = || Histogram::new(QUEUE_BUCKETS);
        Self { state: AtomicU64::new(FREE), waits: histogram(), work: histogram() }
    }

    /// Claims the slot, if it is free.
    fn claim(&self) -> bool {
        self.state.compare_exchange(FREE, IDLE, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
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
        let slots = (0..workers).map(|_| WorkerSlot::new()).collect();
        Self { base: Instant::now(), slots, shared: WorkerSlot::new() }
    }

    /// Returns a worker, which measures its keys.
    pub fn worker(&self) -> Worker<'_> {
        let own_slot = self.slots.iter().find(|slot| slot.claim());
        Worker { base: self.base, slot: own_slot.unwrap_or(&self.shared), is_alone: own_slot.is_some() }
    }

    /// Returns how long the keys were ready before a worker took them.
    pub(crate) fn waits(&self) -> HistogramValues {
        self.all(|slot| &slot.waits)
    }

    /// Returns how long workers held the keys.
    pub(crate) fn work(&self) -> HistogramValues {
        self.all(|slot| &slot.work)
    }

    /// Returns the sum of a histogram of all workers.
    fn all(&self, histogram: impl Fn(&WorkerSlot) -> &Histogram) -> HistogramValues {
        let mut values = histogram(&self.shared).values();
        self.slots.iter().for_each(|slot| values.add(histogram(slot).values()));
        values
    }

    /// Returns the number of workers that may hold a key at a time.
    pub(crate) fn workers(&self) -> usize {
        self.slots.len()
    }

    /// Returns the number of keys that workers hold at `now`, and how long they have held them, in total and at most.
    pub(crate) fn held_keys(&self, now: Instant) -> HeldKeys {
        let mut held = HeldKeys::default();
        for slot in &self.slots {
            let started = slot.state.load(Ordering::Relaxed);
            // Values up to `IDLE` say that the slot is free or its worker holds no key; greater ones are nanoseconds since `base`.
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
    /// Records that the worker took a key, and returns the time at which it did.
    pub fn begin<K>(&self, item: &Item<K>) -> Instant {
        self.observe(&self.slot.waits, item.taken.saturating_duration_since(item.since));
        // At least `IDLE + 1`, since smaller values mean that the worker holds no key.
        let nanos = item.taken.saturating_duration_since(self.base).as_nanos();
        self.set_state(u64::try_from(nanos).unwrap_or(u64::MAX).max(IDLE + 1));
        item.taken
    }

    /// Records that the worker is done at `now` with the key that it took at `start`, and returns how long it held the key.
    pub fn end(&self, start: Instant, now: Instant) -> Duration {
        let duration = now.saturating_duration_since(start);
        self.observe(&self.slot.work, duration);
        self.set_state(IDLE);
        duration
    }

    fn observe(&self, histogram: &Histogram, duration: Duration) {
        if self.is_alone { histogram.observe_alone(duration) } else { histogram.observe(duration) }
    }

    /// Sets the state of the worker's slot. A slot that several workers share has no state.
    fn set_state(&self, state: u64) {
        if self.is_alone {
            self.slot.state.store(state, Ordering::Relaxed);
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.set_state(FREE);
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
        assert_eq!(worker.end(start, Instant::now()), three);
        assert_eq!(timings.held_keys(Instant::now()), HeldKeys::default());
        assert_eq!((timings.waits().sum, timings.work().sum), (2.0, 3.0));
        worker.begin(&item);
        drop(worker);
        assert_eq!(timings.held_keys(Instant::now()).count, 0);
        assert!(timings.worker().is_alone, "the slot is free again");
    }

    #[tokio::test(start_paused = true)]
    async fn the_durations_of_further_workers_count_as_well() {
        let (queue, timings) = (Queue::new(), Timings::new(1));
        let workers = [timings.worker(), timings.worker(), timings.worker()];
        for worker in &workers {
            queue.add(1, Priority::Normal);
            let item = queue.take().await.unwrap();
            let start = worker.begin(&item);
            tokio::time::advance(Duration::from_secs(1)).await;
            assert!(timings.held_keys(Instant::now()).count <= 1);
            worker.end(start, Instant::now());
            queue.done(&item.key);
        }
        assert_eq!((timings.waits().count, timings.work().count, timings.work().sum), (3, 3, 3.0));
    }
}

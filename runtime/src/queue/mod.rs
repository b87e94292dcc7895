//! `Queue`: the work queue of a controller, with priorities, delays and one worker per key.
//!
//! [`Queue`] gives keys to workers, and [`KeyBackoff`] computes the delay of a key after a failure. Neither depends on the meaning
//! of a key.

mod backoff;
mod delayed;
mod hashed_key;
mod item;
mod key_table;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod model;
mod priority;
mod ready;
mod state;
mod stats;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod timings;

pub use backoff::{Backoff, Jitter, KeyBackoff, Seeded};
pub use item::Item;
pub use priority::{Priority, Trigger};
pub use stats::Stats;
pub use timings::{Timings, Worker};

use hashbrown::DefaultHashBuilder;
use hashed_key::HashedKey;
use parking_lot::Mutex;
use state::{QueueState, Wake};
use std::{
    fmt,
    future::pending,
    hash::{BuildHasher as _, Hash},
    pin::pin,
    time::Duration,
};
use tokio::{
    sync::Notify,
    task::coop,
    time::{Instant, sleep_until},
};

/// The hold in place of one beyond the range of the clock: thirty years.
const LONGEST_HOLD: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// The work queue of one controller.
///
/// # Guarantees
/// - A key is in the queue once, however often it is added; its priority is the highest of all adds.
/// - Of the workers of [`Queue::for_workers`], at most half process keys of [`Priority::Low`], so that a change by a user finds a
///   free worker and a server that is not busy with the passes of a list.
/// - One worker processes a key at a time. If the key is added meanwhile, it is processed once more afterwards.
/// - Of several delays the earliest time counts; an add without delay makes the key ready now.
/// - A key on hold becomes ready at the end of the hold and not before. Only an add with [`Trigger::Request`] ends the hold.
/// - The queue stores nothing about a key that is neither in the queue nor with a worker.
///
/// # Assumptions
/// A worker calls [`Queue::done`] or [`Queue::done_and_take`] for each key that it takes, also after a panic. The time is tokio's, so tests
/// may pause it.
pub struct Queue<K> {
    state: Mutex<QueueState<K>>,
    hasher: DefaultHashBuilder,
    /// Wakes one idle taker.
    key_ready: Notify,
    /// Wakes the taker that watches the clock, because there is an earlier time now.
    earlier_time: Notify,
    /// Wakes the callers of [`Queue::drained`].
    finished: Notify,
}

impl<K: Clone + Eq + Hash> Default for Queue<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Clone + Eq + Hash> Queue<K> {
    /// Returns an empty queue. Any number of its keys may be with workers at a time.
    pub fn new() -> Self {
        Self::with_max_running_low(usize::MAX)
    }

    /// Returns an empty queue for a number of workers. At most half of them, but at least one, process keys of [`Priority::Low`].
    pub fn for_workers(workers: usize) -> Self {
        Self::with_max_running_low((workers / 2).max(1))
    }

    /// Returns an empty queue. At most `max_running_low` keys of [`Priority::Low`] are with workers at a time.
    fn with_max_running_low(max_running_low: usize) -> Self {
        Self {
            state: Mutex::new(QueueState::new(max_running_low)),
            hasher: DefaultHashBuilder::default(),
            key_ready: Notify::new(),
            earlier_time: Notify::new(),
            finished: Notify::new(),
        }
    }

    /// Makes `key` ready now, with [`Trigger::Request`]. It does nothing after [`Queue::shutdown`].
    pub fn add(&self, key: K, priority: Priority) {
        self.add_for(key, priority, Trigger::Request);
    }

    /// Makes `key` ready now, or at the end of its hold unless the trigger ends the hold. It does nothing after
    /// [`Queue::shutdown`].
    pub fn add_for(&self, key: K, priority: Priority, trigger: Trigger) {
        let (key, now) = (self.hashed(key), Instant::now());
        let wake = self.state.lock().add(key, priority, now, trigger);
        if wake {
            self.key_ready.notify_one();
        }
    }

    /// Makes `key` ready after `delay`, unless it is ready sooner, with [`Trigger::Timer`]. It does nothing after
    /// [`Queue::shutdown`].
    pub fn add_after(&self, key: K, delay: Duration, priority: Priority) {
        self.add_after_for(key, delay, priority, Trigger::Timer);
    }

    /// Does the same as [`Queue::add_after`], with a trigger.
    pub fn add_after_for(&self, key: K, delay: Duration, priority: Priority, trigger: Trigger) {
        let now = Instant::now();
        // A time beyond the range of the clock never comes.
        let Some(at) = now.checked_add(delay) else { return };
        if at <= now {
            return self.add_for(key, priority, trigger);
        }
        let key = self.hashed(key);
        let wake = self.state.lock().add_at(key, at, priority, trigger);
        self.notify_for(wake);
    }

    /// Makes `key` ready after `delay` and not before: the backoff of a key whose worker failed.
    ///
    /// Called before [`Queue::done`], it also delays a key that was added meanwhile; only [`Trigger::Request`] makes it ready
    /// sooner. Of several holds the latest counts. It does nothing after [`Queue::shutdown`].
    pub fn hold(&self, key: K, delay: Duration, priority: Priority) {
        let now = Instant::now();
        // The key is held also if the time is beyond the range of the clock.
        let at = now.checked_add(delay).unwrap_or(now + LONGEST_HOLD);
        let key = self.hashed(key);
        let wake = self.state.lock().hold(key, at, priority);
        self.notify_for(wake);
    }

    /// Computes the hash of a key, before the queue is locked.
    fn hashed(&self, key: K) -> HashedKey<K> {
        HashedKey { hash: self.hasher.hash_one(&key), key }
    }

    /// Wakes the task that waits for keys and that a newly delayed key concerns: with `Clock` the task that sleeps until the earliest key
    /// is due, since the new key is due before, and with `Taker` any of the other tasks, to sleep until then.
    fn notify_for(&self, wake: Option<Wake>) {
        match wake {
            Some(Wake::Clock) => self.earlier_time.notify_one(),
            Some(Wake::Taker) => self.key_ready.notify_one(),
            None => {}
        }
    }

    /// Waits for the next key and returns it; `None` after [`Queue::shutdown`]. Dropping the future loses no key.
    pub async fn take(&self) -> Option<Item<K>> {
        // A worker that always finds a key would otherwise starve the other tasks of its thread.
        coop::consume_budget().await;
        // The clock is read before the lock, which all workers share.
        let now = Instant::now();
        let taken = self.try_take(&mut self.state.lock(), now);
        match taken {
            TryTake::Item(item) => Some(item),
            TryTake::Closed => None,
            TryTake::Empty => self.take_after_wait().await,
        }
    }

    /// Ends the processing of a key, as [`Queue::done`], and waits for the next one, as [`Queue::take`]. A worker that takes one key
    /// after the other locks the queue once for both. `now` is the current time, which the worker knows from measuring the first key.
    ///
    /// A future that is dropped before it completes loses no key, but the processing of `key` may not have ended.
    pub async fn done_and_take(&self, key: &K, now: Instant) -> Option<Item<K>> {
        let hash = self.hasher.hash_one(key);
        // Without a budget, the task waits for its next turn, and `now` is outdated then.
        let is_current = coop::has_budget_remaining();
        coop::consume_budget().await;
        let now = if is_current { now } else { Instant::now() };
        match self.done_and_try_take(hash, key, now) {
            TryTake::Item(item) => Some(item),
            TryTake::Closed => None,
            TryTake::Empty => self.take_after_wait().await,
        }
    }

    /// Ends the processing of a key and tries to take the next one, under one lock.
    fn done_and_try_take(&self, hash: u64, key: &K, now: Instant) -> TryTake<K> {
        let mut state = self.state.lock();
        // The result, whether idle takers have work, is not needed: `try_take` wakes a taker if there is more work.
        state.done(hash, key);
        let (taken, is_drained) = (self.try_take(&mut state, now), state.is_drained());
        drop(state);
        if is_drained {
            self.finished.notify_waiters();
        }
        taken
    }

    /// Tries to take a key, and waits and tries again until one is ready; `None` after the shutdown.
    async fn take_after_wait(&self) -> Option<Item<K>> {
        loop {
            // Enabled before the attempt, so that a notification between the attempt and the wait is not lost.
            let mut key_ready = pin!(self.key_ready.notified());
            key_ready.as_mut().enable();
            let mut wait = match self.take_or_wait() {
                Ok(taken) => return taken,
                Err(wait) => wait,
            };
            tokio::select! {
                biased;
                () = key_ready => {}
                () = wait.until_due() => {}
            }
            // The drop of `wait` then wakes no taker, since this taker tries again itself.
            wait.retries = true;
        }
    }

    /// Ends the processing of a key. If it was added meanwhile, it is ready again; otherwise the queue removes it.
    pub fn done(&self, key: &K) {
        let hash = self.hasher.hash_one(key);
        let mut state = self.state.lock();
        let (wake, is_drained) = (state.done(hash, key), state.is_drained());
        drop(state);
        if wake {
            self.key_ready.notify_one();
        }
        if is_drained {
            self.finished.notify_waiters();
        }
    }

    /// Closes the queue and removes all waiting keys. Workers may finish the keys that they hold.
    pub fn shutdown(&self) {
        self.state.lock().close();
        self.key_ready.notify_waiters();
        self.finished.notify_waiters();
    }

    /// Waits until the queue is shut down and no worker holds a key.
    pub async fn drained(&self) {
        loop {
            // Enabled before the check, so that a notification between the check and the wait is not lost.
            let mut finished = pin!(self.finished.notified());
            finished.as_mut().enable();
            if self.state.lock().is_drained() {
                return;
            }
            finished.await;
        }
    }

    /// Returns the keys that are with workers, in no order.
    pub fn running_keys(&self) -> Vec<K> {
        self.state.lock().running_keys()
    }

    /// Returns the current length and the totals of the queue.
    pub fn stats(&self) -> Stats {
        self.state.lock().stats()
    }

    /// Takes the next key, if there is one now, and wakes another taker if there is more work.
    fn try_take(&self, state: &mut QueueState<K>, now: Instant) -> TryTake<K> {
        if state.is_closed() {
            return TryTake::Closed;
        }
        let Some((item, has_more_work)) = state.take(now) else { return TryTake::Empty };
        // Several keys may become ready at one time, so each taker wakes the next one. It also does so if nobody watches the
        // clock.
        if has_more_work || state.needs_clock_watcher() {
            self.key_ready.notify_one();
        }
        TryTake::Item(item)
    }

    /// Tries to take a key; `Ok(None)` after the shutdown. If no key is ready, it returns `Err` with the wait of the caller, which it has
    /// registered as an idle taker under the same lock, so that the caller misses no key that is added in between.
    fn take_or_wait(&self) -> Result<Option<Item<K>>, TakerWait<'_, K>> {
        let now = Instant::now();
        let mut state = self.state.lock();
        match self.try_take(&mut state, now) {
            TryTake::Item(item) => Ok(Some(item)),
            TryTake::Closed => Ok(None),
            TryTake::Empty => Err(TakerWait { queue: self, wake_time: state.begin_wait(), retries: false }),
        }
    }
}

/// The result of an attempt to take a key without waiting.
enum TryTake<K> {
    Item(Item<K>),
    /// No key is ready now.
    Empty,
    /// The queue is shut down.
    Closed,
}

/// The wait of an idle taker. One idle taker watches the clock for delayed keys, so that a due key wakes one taker and not all.
struct TakerWait<'q, K: Clone + Eq + Hash> {
    queue: &'q Queue<K>,
    /// The time of the next delayed key, if this taker watches the clock.
    wake_time: Option<Instant>,
    /// Whether the taker retries at once. It then wakes nobody: its own wake-up would remain as a permit that the same taker
    /// consumes in an endless loop.
    retries: bool,
}

impl<K: Clone + Eq + Hash> TakerWait<'_, K> {
    /// Waits until the next delayed key is due; never returns if another taker watches the clock.
    async fn until_due(&self) {
        match self.wake_time {
            Some(at) => {
                tokio::select! { biased; () = sleep_until(at) => {}, () = self.queue.earlier_time.notified() => {} }
            }
            None => pending().await,
        }
    }
}

impl<K: Clone + Eq + Hash> Drop for TakerWait<'_, K> {
    /// Ends the wait. If this leaves the delayed keys without a taker that watches the clock, it wakes an idle taker, unless this taker
    /// itself tries again.
    fn drop(&mut self) {
        let mut state = self.queue.state.lock();
        state.end_wait(self.wake_time.is_some());
        if !self.retries && state.needs_clock_watcher() {
            self.queue.key_ready.notify_one();
        }
    }
}

impl<K: Clone + Eq + Hash> fmt::Debug for Queue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

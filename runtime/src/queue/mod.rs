//! The keys a controller has work for: each waits once, and is never with two workers.
//!
//! [`Queue`] hands out keys, [`Backoff`] says how long a key waits after a failure. Neither knows what a key means.

mod backoff;
mod delayed;
mod item;
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

pub use backoff::{Backoff, Delay, Jitter, Seeded};
pub use item::Item;
pub use priority::{Priority, Trigger};
pub use stats::Stats;

use parking_lot::Mutex;
use state::{QueueState, Wake};
use std::{fmt, future::pending, hash::Hash, pin::pin, time::Duration};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// The queue of one controller.
///
/// # Guarantees
/// - A key waits once, however often it is added; with several priorities, at the highest [M45].
/// - A key is with one worker at a time. Added meanwhile, it is handed out once more afterwards [M41].
/// - Of several delays the earliest time holds; an add without delay makes the key ready now [M46].
/// - A key that is held becomes ready at the end of its hold and not before, however often it is added for any other trigger than
///   [`Trigger::Request`].
/// - A key leaves no trace once it is neither waiting nor with a worker.
///
/// # Assumptions
/// For each key taken, [`Queue::done`] is called, also after a panic. Time is tokio's, so tests may pause it.
pub struct Queue<K> {
    state: Mutex<QueueState<K>>,
    /// Wakes one waiting taker.
    work: Notify,
    /// Wakes the taker that watches the clock, because there is an earlier time now.
    earlier: Notify,
    /// Wakes those who wait for the last key to come back.
    finished: Notify,
}

impl<K: Clone + Eq + Hash> Default for Queue<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Clone + Eq + Hash> Queue<K> {
    /// An empty queue.
    pub fn new() -> Self {
        Self {
            state: Mutex::new(QueueState::new()),
            work: Notify::new(),
            earlier: Notify::new(),
            finished: Notify::new(),
        }
    }

    /// Makes `key` ready now, as [`Trigger::Request`]. After [`Queue::shutdown`] nothing happens.
    pub fn add(&self, key: K, priority: Priority) {
        self.add_for(key, priority, Trigger::Request);
    }

    /// Makes `key` ready now, or at the end of its hold unless the trigger ends that. After [`Queue::shutdown`] nothing happens.
    pub fn add_for(&self, key: K, priority: Priority, trigger: Trigger) {
        let wake = self.state.lock().add(key, priority, Instant::now(), trigger);
        if wake {
            self.work.notify_one();
        }
    }

    /// Makes `key` ready after `delay`, unless it is sooner anyway, as [`Trigger::Timer`]. After [`Queue::shutdown`] nothing happens.
    pub fn add_after(&self, key: K, delay: Duration, priority: Priority) {
        self.add_after_for(key, delay, priority, Trigger::Timer);
    }

    /// As [`Queue::add_after`], and the key keeps the trigger that it had.
    pub fn add_after_for(&self, key: K, delay: Duration, priority: Priority, trigger: Trigger) {
        let now = Instant::now();
        // A time beyond what a clock can tell is never.
        let Some(at) = now.checked_add(delay) else { return };
        if at <= now {
            return self.add_for(key, priority, trigger);
        }
        let wake = self.state.lock().add_at(key, at, priority, trigger);
        self.tell(wake);
    }

    /// Makes `key` ready after `delay` and not before: the backoff of a key whose worker achieved nothing. Called before
    /// [`Queue::done`], it also defers what the key was added for meanwhile; only [`Trigger::Request`] makes it ready sooner. Of
    /// several holds the latest counts. After [`Queue::shutdown`] nothing happens.
    pub fn hold(&self, key: K, delay: Duration, priority: Priority) {
        // A time beyond what a clock can tell is never.
        let Some(at) = Instant::now().checked_add(delay) else { return };
        let wake = self.state.lock().hold(key, at, priority);
        self.tell(wake);
    }

    fn tell(&self, wake: Option<Wake>) {
        match wake {
            Some(Wake::Clock) => self.earlier.notify_one(),
            Some(Wake::Taker) => self.work.notify_one(),
            None => {}
        }
    }

    /// The next key, waiting for one if need be; `None` after [`Queue::shutdown`]. Dropping the future loses nothing.
    pub async fn take(&self) -> Option<Item<K>> {
        // A worker that always finds a key would otherwise never let its thread do anything else.
        tokio::task::coop::consume_budget().await;
        if let Some(taken) = self.try_take(&mut self.state.lock()) {
            return taken;
        }
        loop {
            let mut work = pin!(self.work.notified());
            work.as_mut().enable();
            let mut turn = match self.take_or_wait() {
                Ok(taken) => return taken,
                Err(turn) => turn,
            };
            tokio::select! {
                biased;
                () = work => {}
                () = turn.tick() => {}
            }
            turn.goes_on = true;
        }
    }

    /// Gives a key back. If it was added meanwhile, it is ready again; else the queue forgets it.
    pub fn done(&self, key: &K) {
        let mut state = self.state.lock();
        let (wake, drained) = (state.done(key), state.is_drained());
        drop(state);
        if wake {
            self.work.notify_one();
        }
        if drained {
            self.finished.notify_waiters();
        }
    }

    /// Hands out no more keys, and forgets those that wait. What is with a worker stays there until it is done.
    pub fn shutdown(&self) {
        self.state.lock().close();
        self.work.notify_waiters();
        self.finished.notify_waiters();
    }

    /// Whether [`Queue::shutdown`] was called.
    pub fn is_shut_down(&self) -> bool {
        self.state.lock().is_closed()
    }

    /// Waits until the queue is shut down and every key that was handed out is done.
    pub async fn drained(&self) {
        loop {
            let mut finished = pin!(self.finished.notified());
            finished.as_mut().enable();
            if self.state.lock().is_drained() {
                return;
            }
            finished.await;
        }
    }

    /// What is in the queue and what went through it.
    pub fn stats(&self) -> Stats {
        self.state.lock().stats()
    }

    /// `None` if there is nothing to take now, `Some(None)` if there never will be.
    fn try_take(&self, state: &mut QueueState<K>) -> Option<Option<Item<K>>> {
        if state.is_closed() {
            return Some(None);
        }
        let (item, more) = state.take(Instant::now())?;
        // Several keys may become ready by one tick of the clock: whoever takes one wakes the next taker. So does the one
        // who leaves the clock unwatched.
        if more || state.wants_watcher() {
            self.work.notify_one();
        }
        Some(Some(item))
    }

    /// Looks again and begins to wait under one lock, so that nothing added in between is missed.
    fn take_or_wait(&self) -> Result<Option<Item<K>>, Turn<'_, K>> {
        let mut state = self.state.lock();
        self.try_take(&mut state).ok_or_else(|| Turn { queue: self, clock: state.begin_wait(), goes_on: false })
    }
}

/// A taker's wait. One of those who wait watches the clock for the delayed keys, so that a tick wakes one and not all.
struct Turn<'q, K: Clone + Eq + Hash> {
    queue: &'q Queue<K>,
    /// When to wake by the clock, if this one watches it.
    clock: Option<Instant>,
    /// Whether it looks again at once. Then it wakes nobody: an earlier wake that its taker has not come to yet would
    /// leave it as a permit, that this one takes, and so on for ever.
    goes_on: bool,
}

impl<K: Clone + Eq + Hash> Turn<'_, K> {
    /// Ends when it is time to look again; only for the one that watches the clock.
    async fn tick(&self) {
        match self.clock {
            Some(at) => tokio::select! { biased; () = sleep_until(at) => {}, () = self.queue.earlier.notified() => {} },
            None => pending().await,
        }
    }
}

impl<K: Clone + Eq + Hash> Drop for Turn<'_, K> {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock();
        state.end_wait(self.clock.is_some());
        if !self.goes_on && state.wants_watcher() {
            self.queue.work.notify_one();
        }
    }
}

impl<K: Clone + Eq + Hash> fmt::Debug for Queue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

//! `QueueState`: the data of a queue, which a lock protects, and the operations on it. It neither waits nor wakes workers.

use super::{
    Item, Priority, Stats, Trigger,
    delayed::{Delayed, DueTime},
    hashed_key::HashedKey,
    key_table::KeyTable,
    ready::{QueuedKey, ReadyKeys},
};
use std::time::Duration;
use tokio::time::Instant;

/// The maximum number of due keys that one take makes ready, so that many keys with the same time don't block other takers.
const MAX_DUE_PER_TAKE: usize = 64;

/// The keys of a queue, the idle takers and the statistics.
pub(super) struct QueueState<K> {
    /// Every key that is waiting or with a worker.
    keys: KeyTable<K, KeyState>,
    ready: ReadyKeys<K>,
    delayed: Delayed<HashedKey<K>>,
    running: usize,
    /// The number of running keys that were taken with [`Priority::Low`], and its limit.
    running_low: usize,
    max_running_low: usize,
    /// The number of idle takers, and whether one of them watches the clock.
    idle_takers: usize,
    is_clock_watched: bool,
    closed: bool,
    taken: u64,
    waited: Duration,
    longest_wait: Duration,
}

/// The state of one key. It may be with a worker and waiting at the same time.
#[derive(Default)]
struct KeyState {
    /// The priority with which a worker took the key, while it processes the key.
    running: Option<Priority>,
    waiting: Waiting,
}

/// Whether and how a key waits.
#[derive(Clone, Copy, Default)]
enum Waiting {
    /// The key does not wait; it is with a worker.
    #[default]
    None,
    /// The key is ready, or becomes ready when its worker is done.
    Ready { priority: Priority, since: Instant, ticket: u64, trigger: Trigger },
    /// The key becomes ready at a time. `is_hold` prevents an earlier time.
    Until { priority: Priority, due: DueTime, is_hold: bool, trigger: Trigger },
}

/// The taker that has to wake up for a delayed key.
#[derive(Clone, Copy)]
pub(super) enum Wake {
    /// The taker that watches the clock, because there is an earlier time now.
    Clock,
    /// Any taker, to watch the clock.
    Taker,
}

impl<K: Clone + Eq> QueueState<K> {
    /// Creates an empty queue that is open. At most `max_running_low` keys of low priority are with workers at a time.
    pub(super) fn new(max_running_low: usize) -> Self {
        Self {
            keys: KeyTable::new(),
            ready: ReadyKeys::new(),
            delayed: Delayed::new(),
            running: 0,
            running_low: 0,
            max_running_low,
            idle_takers: 0,
            is_clock_watched: false,
            closed: false,
            taken: 0,
            waited: Duration::ZERO,
            longest_wait: Duration::ZERO,
        }
    }

    /// Makes a key ready, and returns whether there is work for an idle taker. A key on hold (in a backoff) stays on hold, unless the
    /// trigger is a request. A key that is already ready or on hold gets the higher priority and the stronger trigger.
    pub(super) fn add(&mut self, key: HashedKey<K>, priority: Priority, now: Instant, trigger: Trigger) -> bool {
        if self.closed {
            return false;
        }
        let key_state = self.keys.entry(&key);
        let priority_and_trigger = match key_state.waiting {
            Waiting::Ready { .. } => {
                key_state.raise(key, priority, &mut self.ready);
                key_state.add_trigger(trigger);
                return false;
            }
            Waiting::Until { priority: old_priority, is_hold: true, .. } if trigger != Trigger::Request => {
                key_state.add_trigger(trigger);
                key_state.set_priority(priority.max(old_priority));
                return false;
            }
            Waiting::Until { priority: old_priority, due, trigger: old_trigger, .. } => {
                self.delayed.remove(&due);
                // A timer that is not due yet is no trigger, so it becomes the weakest one.
                let old_trigger = if old_trigger == Trigger::Timer { Trigger::Own } else { old_trigger };
                (priority.max(old_priority), trigger.max(old_trigger))
            }
            Waiting::None => (priority, trigger),
        };
        key_state.make_ready(key, priority_and_trigger, now, &mut self.ready);
        self.has_work_for_idle_takers()
    }

    /// Makes a key ready at a time, unless it is ready sooner or on hold (in a backoff). It gets the higher priority in each case. Returns
    /// the taker to wake.
    pub(super) fn add_at(
        &mut self,
        key: HashedKey<K>,
        time: Instant,
        priority: Priority,
        trigger: Trigger,
    ) -> Option<Wake> {
        if self.closed {
            return None;
        }
        let key_state = self.keys.entry(&key);
        let priority = match key_state.waiting {
            Waiting::Ready { .. } => {
                key_state.raise(key, priority, &mut self.ready);
                return None;
            }
            Waiting::Until { priority: old_priority, due, is_hold, .. } if is_hold || due.time <= time => {
                key_state.set_priority(priority.max(old_priority));
                return None;
            }
            Waiting::Until { priority: old_priority, due, .. } => {
                self.delayed.remove(&due);
                priority.max(old_priority)
            }
            Waiting::None => priority,
        };
        let due = self.delayed.insert(time, key);
        key_state.waiting = Waiting::Until { priority, due, is_hold: false, trigger };
        self.wake_up_for(time)
    }

    /// Puts a key on hold: it becomes ready at a time and not before. A key that is ready because of a request stays ready, and a later end
    /// of an earlier hold stays. Returns the taker to wake.
    pub(super) fn hold(&mut self, key: HashedKey<K>, time: Instant, priority: Priority) -> Option<Wake> {
        if self.closed {
            return None;
        }
        let key_state = self.keys.entry(&key);
        let (priority, trigger) = match key_state.waiting {
            Waiting::Ready { trigger: Trigger::Request, .. } => {
                key_state.raise(key, priority, &mut self.ready);
                return None;
            }
            Waiting::Ready { priority: old_priority, trigger, .. } => {
                // While a worker has the key, it is not among the ready keys.
                if key_state.running.is_none() {
                    self.ready.remove_one(old_priority);
                }
                (priority.max(old_priority), trigger)
            }
            Waiting::Until { priority: old_priority, due, is_hold: true, .. } if due.time >= time => {
                key_state.set_priority(priority.max(old_priority));
                return None;
            }
            Waiting::Until { priority: old_priority, due, is_hold, trigger } => {
                self.delayed.remove(&due);
                // The hold replaces the delay of a key that was not on hold, so the trigger of the delay does not count.
                (priority.max(old_priority), if is_hold { trigger } else { Trigger::Own })
            }
            Waiting::None => (priority, Trigger::Own),
        };
        key_state.waiting = Waiting::Until { priority, due: self.delayed.insert(time, key), is_hold: true, trigger };
        self.wake_up_for(time)
    }

    /// Returns the taker to wake for a key that becomes ready at a time: the one that watches the clock, or else any idle taker. `None` if
    /// another key is due earlier, or if no taker is idle.
    fn wake_up_for(&self, time: Instant) -> Option<Wake> {
        match self.delayed.next() {
            Some(next) if next < time => None,
            _ if self.is_clock_watched => Some(Wake::Clock),
            _ => (self.idle_takers > 0).then_some(Wake::Taker),
        }
    }

    /// Removes and returns the next key at `now`, and whether there is more work for idle takers. `None` if no key is ready.
    pub(super) fn take(&mut self, now: Instant) -> Option<(Item<K>, bool)> {
        self.make_due_ready(now);
        let keys = &self.keys;
        // An entry of the ready keys is stale if its key has another ticket or another priority by now.
        let queued = self.ready.pop(self.lowest_takeable(), |queued, priority| {
            keys.has(queued.key.hash, |key_state| key_state.is_ready_with(queued.ticket, priority))
        });
        let QueuedKey { key: HashedKey { key, hash }, ticket } = queued?;
        let key_state = self.keys.find_state(hash, |key_state| key_state.has_ticket(ticket))?;
        let Waiting::Ready { priority, since, trigger, .. } = key_state.waiting else { return None };
        *key_state = KeyState { running: Some(priority), waiting: Waiting::None };
        self.running += 1;
        self.running_low += usize::from(priority == Priority::Low);
        self.taken += 1;
        let wait = now.saturating_duration_since(since);
        self.waited += wait;
        self.longest_wait = wait.max(self.longest_wait);
        Some((Item { key, priority, trigger, since, taken: now }, self.has_work_for_idle_takers()))
    }

    /// Makes the delayed keys ready that are due.
    fn make_due_ready(&mut self, now: Instant) {
        for _ in 0..MAX_DUE_PER_TAKE {
            let Some((time, key)) = self.delayed.pop_due(now) else { return };
            if let Some(key_state) = self.keys.get_mut(&key)
                && let Waiting::Until { priority, trigger, .. } = key_state.waiting
            {
                key_state.make_ready(key, (priority, trigger), time, &mut self.ready);
            }
        }
    }

    /// Ends the processing of a key, and returns whether there is work for an idle taker.
    pub(super) fn done(&mut self, hash: u64, key: &K) -> bool {
        let Some(mut row) = self.keys.find(hash, key) else { return false };
        let Some(taken_with) = row.get_mut().state.running.take() else { return false };
        self.running -= 1;
        self.running_low -= usize::from(taken_with == Priority::Low);
        match row.get().state.waiting {
            Waiting::None => {
                row.remove();
                self.keys.shrink();
            }
            Waiting::Until { .. } => {}
            // The key was added while the worker had it.
            Waiting::Ready { priority, ticket, .. } => {
                self.ready.push(priority, QueuedKey { key: row.get().key.clone(), ticket });
            }
        }
        self.has_work_for_idle_takers()
    }

    /// Begins the wait of a taker. Returns the time of the next delayed key if this taker has to watch the clock, because no other does.
    pub(super) fn begin_wait(&mut self) -> Option<Instant> {
        self.idle_takers += 1;
        let next = self.delayed.next().filter(|_| !self.is_clock_watched)?;
        self.is_clock_watched = true;
        Some(next)
    }

    /// Ends the wait of a taker.
    pub(super) fn end_wait(&mut self, watched_clock: bool) {
        self.idle_takers -= 1;
        if watched_clock {
            self.is_clock_watched = false;
        }
    }

    /// Returns whether an idle taker has to watch the clock and none does.
    pub(super) fn needs_clock_watcher(&self) -> bool {
        self.idle_takers > 0 && !self.is_clock_watched && self.delayed.next().is_some()
    }

    fn has_work_for_idle_takers(&self) -> bool {
        self.idle_takers > 0 && self.ready.has_key(self.lowest_takeable())
    }

    /// Returns the lowest priority that a worker may take now.
    fn lowest_takeable(&self) -> Priority {
        if self.running_low < self.max_running_low { Priority::Low } else { Priority::Normal }
    }

    /// Returns whether no trace of any key is left.
    #[cfg(test)]
    pub(super) fn has_no_keys(&self) -> bool {
        self.keys.is_empty() && self.ready.has_no_entries() && self.delayed.len() == 0 && self.running == 0
    }

    /// Returns the number of keys and of ready entries for which there is room.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> (usize, usize) {
        (self.keys.capacity(), self.ready.capacity())
    }

    /// Closes the queue and removes all waiting keys. A key that a worker processes stays until the worker is done.
    pub(super) fn close(&mut self) {
        self.closed = true;
        self.ready.clear();
        self.delayed.clear();
        self.keys.retain(|key_state| {
            key_state.waiting = Waiting::None;
            key_state.running.is_some()
        });
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn is_drained(&self) -> bool {
        self.closed && self.running == 0
    }

    /// Returns the keys that are with workers.
    pub(super) fn running_keys(&self) -> Vec<K> {
        self.keys.rows().filter(|row| row.state.running.is_some()).map(|row| row.key.key.clone()).collect()
    }

    /// Returns the lengths and counters for the metrics.
    pub(super) fn stats(&self) -> Stats {
        Stats {
            low: self.ready.len(Priority::Low),
            normal: self.ready.len(Priority::Normal),
            high: self.ready.len(Priority::High),
            delayed: self.delayed.len(),
            running: self.running,
            idle: self.idle_takers,
            added: self.ready.last_ticket(),
            taken: self.taken,
            waited: self.waited,
            longest_wait: self.longest_wait,
        }
    }
}

impl KeyState {
    /// Makes the key ready since `since`. While a worker has the key, it does not join the ready keys; `QueueState::done` adds it to them.
    fn make_ready<K>(
        &mut self,
        key: HashedKey<K>,
        (priority, trigger): (Priority, Trigger),
        since: Instant,
        ready: &mut ReadyKeys<K>,
    ) {
        let ticket = ready.next_ticket();
        self.waiting = Waiting::Ready { priority, since, ticket, trigger };
        if self.running.is_none() {
            ready.push(priority, QueuedKey { key, ticket });
        }
    }

    /// Raises the priority of a ready key; a lower priority changes nothing.
    fn raise<K>(&mut self, key: HashedKey<K>, priority: Priority, ready: &mut ReadyKeys<K>) {
        if let Waiting::Ready { priority: current, since, ticket, trigger } = self.waiting
            && priority > current
        {
            self.waiting = Waiting::Ready { priority, since, ticket, trigger };
            if self.running.is_none() {
                ready.raise(current, priority, QueuedKey { key, ticket });
            }
        }
    }

    /// Raises the trigger of a waiting key; a lower trigger changes nothing.
    fn add_trigger(&mut self, added_trigger: Trigger) {
        if let Waiting::Ready { trigger, .. } | Waiting::Until { trigger, .. } = &mut self.waiting {
            *trigger = added_trigger.max(*trigger);
        }
    }

    /// Sets the priority of a delayed key.
    fn set_priority(&mut self, new_priority: Priority) {
        if let Waiting::Until { priority, .. } = &mut self.waiting {
            *priority = new_priority;
        }
    }

    /// Returns whether the key is ready with a ticket. No two keys have one ticket.
    fn has_ticket(&self, expected: u64) -> bool {
        matches!(self.waiting, Waiting::Ready { ticket, .. } if ticket == expected)
    }

    /// Returns whether the key is ready with a ticket and a priority.
    fn is_ready_with(&self, expected: u64, expected_priority: Priority) -> bool {
        matches!(self.waiting, Waiting::Ready { priority, .. } if priority == expected_priority)
            && self.has_ticket(expected)
    }
}

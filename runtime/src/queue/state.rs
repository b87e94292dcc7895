//! What a queue knows, behind its lock; nothing here waits or wakes.

use super::{
    Item, Priority, Stats, Trigger,
    delayed::{Delayed, Due},
    ready::{QueuedKey, Ready},
};
use hashbrown::{HashMap, hash_map::EntryRef};
use std::{hash::Hash, time::Duration};
use tokio::time::Instant;

/// Delayed keys that one take makes ready, so that many of the same time don't hold everybody up.
const DUE_AT_ONCE: usize = 64;

pub(super) struct QueueState<K> {
    /// Every key that waits or is with a worker.
    slots: HashMap<K, Slot>,
    ready: Ready<K>,
    delayed: Delayed<K>,
    running: usize,
    /// Takers that wait, and whether one of them watches the clock.
    idle: usize,
    clock_watched: bool,
    closed: bool,
    taken: u64,
    waited: Duration,
    longest_wait: Duration,
}

/// Where one key is. It may be with a worker and wait as well.
struct Slot {
    running: bool,
    waits: Waiting,
}

#[derive(Clone, Copy)]
enum Waiting {
    /// It is only with a worker.
    Not,
    /// It is ready, or will be as soon as its worker is done.
    Ready { priority: Priority, since: Instant, ticket: u64, trigger: Trigger },
    /// It becomes ready at a time; if it is held, not before.
    Until { priority: Priority, due: Due, held: bool, trigger: Trigger },
}

/// Whom a delayed key concerns.
#[derive(Clone, Copy)]
pub(super) enum Wake {
    /// The taker that watches the clock: there is an earlier time now.
    Clock,
    /// Any taker, to watch the clock.
    Taker,
}

impl<K: Clone + Eq + Hash> QueueState<K> {
    pub(super) fn new() -> Self {
        Self {
            slots: HashMap::new(),
            ready: Ready::new(),
            delayed: Delayed::new(),
            running: 0,
            idle: 0,
            clock_watched: false,
            closed: false,
            taken: 0,
            waited: Duration::ZERO,
            longest_wait: Duration::ZERO,
        }
    }

    /// Makes a key ready; whether there is work for a waiting taker.
    pub(super) fn add(&mut self, key: K, priority: Priority, now: Instant, trigger: Trigger) -> bool {
        if self.closed {
            return false;
        }
        let slot = self.slots.entry(key.clone()).or_insert(Slot { running: false, waits: Waiting::Not });
        let why = match slot.waits {
            Waiting::Ready { .. } => {
                slot.raise(key, priority, &mut self.ready);
                slot.add_trigger(trigger);
                return false;
            }
            Waiting::Until { priority: before, held: true, .. } if trigger != Trigger::Request => {
                slot.add_trigger(trigger);
                slot.set_priority(priority.max(before));
                return false;
            }
            Waiting::Until { priority: before, due, trigger: delayed_for, .. } => {
                self.delayed.remove(&due);
                // The time of a timer has not come.
                let delayed_for = if delayed_for == Trigger::Timer { Trigger::Own } else { delayed_for };
                (priority.max(before), trigger.max(delayed_for))
            }
            Waiting::Not => (priority, trigger),
        };
        slot.make_ready(key, why, now, &mut self.ready);
        self.has_work_for_waiting()
    }

    /// Makes a key ready at a time, unless it is ready sooner; who has to know.
    pub(super) fn add_at(&mut self, key: K, at: Instant, priority: Priority, trigger: Trigger) -> Option<Wake> {
        if self.closed {
            return None;
        }
        let slot = self.slots.entry(key.clone()).or_insert(Slot { running: false, waits: Waiting::Not });
        let priority = match slot.waits {
            Waiting::Ready { .. } => {
                slot.raise(key, priority, &mut self.ready);
                return None;
            }
            Waiting::Until { priority: before, due, held, .. } if held || due.at <= at => {
                slot.set_priority(priority.max(before));
                return None;
            }
            Waiting::Until { priority: before, due, .. } => {
                self.delayed.remove(&due);
                priority.max(before)
            }
            Waiting::Not => priority,
        };
        let due = self.delayed.insert(at, key);
        slot.waits = Waiting::Until { priority, due, held: false, trigger };
        self.wake_for(at)
    }

    /// Makes a key ready at a time and not before, unless a user asked for it; who has to know.
    pub(super) fn hold(&mut self, key: K, at: Instant, priority: Priority) -> Option<Wake> {
        if self.closed {
            return None;
        }
        let slot = self.slots.entry(key.clone()).or_insert(Slot { running: false, waits: Waiting::Not });
        let (priority, trigger) = match slot.waits {
            Waiting::Ready { trigger: Trigger::Request, .. } => {
                slot.raise(key, priority, &mut self.ready);
                return None;
            }
            Waiting::Ready { priority: before, trigger, .. } => {
                if !slot.running {
                    self.ready.leave(before);
                }
                (priority.max(before), trigger)
            }
            Waiting::Until { priority: before, due, held: true, .. } if due.at >= at => {
                slot.set_priority(priority.max(before));
                return None;
            }
            Waiting::Until { priority: before, due, held, trigger } => {
                self.delayed.remove(&due);
                (priority.max(before), if held { trigger } else { Trigger::Own })
            }
            Waiting::Not => (priority, Trigger::Own),
        };
        slot.waits = Waiting::Until { priority, due: self.delayed.insert(at, key), held: true, trigger };
        self.wake_for(at)
    }

    /// Who has to know of a key that becomes ready at a time.
    fn wake_for(&self, at: Instant) -> Option<Wake> {
        match self.delayed.next() {
            Some(next) if next < at => None,
            _ if self.clock_watched => Some(Wake::Clock),
            _ => (self.idle > 0).then_some(Wake::Taker),
        }
    }

    /// The next key at `now`, and whether there is more work than this for those who wait.
    pub(super) fn take(&mut self, now: Instant) -> Option<(Item<K>, bool)> {
        self.make_due_ready(now);
        let slots = &self.slots;
        let place =
            self.ready.pop(|place, priority| slots.get(&place.key).is_some_and(|slot| slot.stands(place, priority)));
        let key = place?.key;
        let slot = self.slots.get_mut(&key)?;
        let Waiting::Ready { priority, since, trigger, .. } = slot.waits else { return None };
        *slot = Slot { running: true, waits: Waiting::Not };
        self.running += 1;
        self.taken += 1;
        let wait = now.saturating_duration_since(since);
        self.waited += wait;
        self.longest_wait = wait.max(self.longest_wait);
        Some((Item { key, priority, trigger, since }, self.has_work_for_waiting()))
    }

    fn make_due_ready(&mut self, now: Instant) {
        for _ in 0..DUE_AT_ONCE {
            let Some((at, key)) = self.delayed.pop_due(now) else { return };
            if let Some(slot) = self.slots.get_mut(&key)
                && let Waiting::Until { priority, trigger, .. } = slot.waits
            {
                slot.make_ready(key, (priority, trigger), at, &mut self.ready);
            }
        }
    }

    /// Takes a key back; whether there is work for a waiting taker.
    pub(super) fn done(&mut self, key: &K) -> bool {
        let EntryRef::Occupied(mut entry) = self.slots.entry_ref(key) else { return false };
        if !entry.get().running {
            return false;
        }
        self.running -= 1;
        entry.get_mut().running = false;
        match entry.get().waits {
            Waiting::Not => drop(entry.remove()),
            Waiting::Until { .. } => {}
            Waiting::Ready { priority, ticket, .. } => {
                self.ready.push(priority, QueuedKey { key: entry.key().clone(), ticket });
            }
        }
        self.has_work_for_waiting()
    }

    /// Begins a taker's wait: until when it sleeps, if it is the one that watches the clock.
    pub(super) fn begin_wait(&mut self) -> Option<Instant> {
        self.idle += 1;
        let next = self.delayed.next().filter(|_| !self.clock_watched)?;
        self.clock_watched = true;
        Some(next)
    }

    /// Ends a taker's wait.
    pub(super) fn end_wait(&mut self, watched: bool) {
        self.idle -= 1;
        if watched {
            self.clock_watched = false;
        }
    }

    /// Whether one of those who wait should watch the clock, and none does.
    pub(super) fn wants_watcher(&self) -> bool {
        self.idle > 0 && !self.clock_watched && self.delayed.next().is_some()
    }

    fn has_work_for_waiting(&self) -> bool {
        self.idle > 0 && !self.ready.is_empty()
    }

    /// Whether nothing is left of any key.
    #[cfg(test)]
    pub(super) fn is_blank(&self) -> bool {
        self.slots.is_empty() && self.ready.is_blank() && self.delayed.len() == 0 && self.running == 0
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
        self.ready.clear();
        self.delayed.clear();
        self.slots.retain(|_, slot| {
            slot.waits = Waiting::Not;
            slot.running
        });
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn is_drained(&self) -> bool {
        self.closed && self.running == 0
    }

    pub(super) fn stats(&self) -> Stats {
        Stats {
            low: self.ready.len(Priority::Low),
            normal: self.ready.len(Priority::Normal),
            high: self.ready.len(Priority::High),
            delayed: self.delayed.len(),
            running: self.running,
            idle: self.idle,
            added: self.ready.tickets(),
            taken: self.taken,
            waited: self.waited,
            longest_wait: self.longest_wait,
        }
    }
}

impl Slot {
    fn make_ready<K>(
        &mut self,
        key: K,
        (priority, trigger): (Priority, Trigger),
        since: Instant,
        ready: &mut Ready<K>,
    ) {
        let ticket = ready.ticket();
        self.waits = Waiting::Ready { priority, since, ticket, trigger };
        if !self.running {
            ready.push(priority, QueuedKey { key, ticket });
        }
    }

    /// Gives a ready key a higher priority; lower ones change nothing.
    fn raise<K>(&mut self, key: K, priority: Priority, ready: &mut Ready<K>) {
        if let Waiting::Ready { priority: held, since, ticket, trigger } = self.waits
            && priority > held
        {
            self.waits = Waiting::Ready { priority, since, ticket, trigger };
            if !self.running {
                ready.raise(held, priority, QueuedKey { key, ticket });
            }
        }
    }

    fn add_trigger(&mut self, more: Trigger) {
        if let Waiting::Ready { trigger, .. } | Waiting::Until { trigger, .. } = &mut self.waits {
            *trigger = more.max(*trigger);
        }
    }

    /// Sets the priority of a delayed key.
    fn set_priority(&mut self, to: Priority) {
        if let Waiting::Until { priority, .. } = &mut self.waits {
            *priority = to;
        }
    }

    /// Whether the key still stands at this place.
    fn stands<K>(&self, place: &QueuedKey<K>, at: Priority) -> bool {
        matches!(self.waits, Waiting::Ready { priority, ticket, .. } if priority == at && ticket == place.ticket)
    }
}

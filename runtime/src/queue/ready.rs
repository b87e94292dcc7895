//! `ReadyKeys`: the ready keys of a queue, first in first out within each priority.

use super::{Priority, hashed_key::HashedKey};
use std::collections::VecDeque;

/// One key in this many is the one that has been ready longest, whatever its priority.
const FAIRNESS_INTERVAL: u64 = 16;
const HIGHEST_FIRST: [Priority; 3] = [Priority::High, Priority::Normal, Priority::Low];

/// The ready keys: first in, first out for each priority.
///
/// A key whose priority is raised moves to the end of another priority's queue, and its old entry becomes stale. The caller of
/// [`ReadyKeys::pop`] passes a predicate that recognizes current entries.
pub(super) struct ReadyKeys<K> {
    by_priority: [PriorityQueue<K>; HIGHEST_FIRST.len()],
    last_ticket: u64,
    popped: u64,
}

/// The entries of one priority.
struct PriorityQueue<K> {
    entries: VecDeque<QueuedKey<K>>,
    /// The number of entries that are not stale.
    live_entries: usize,
}

/// Returns the capacity to which a collection has to shrink; `None` if it has the right size. The first list of a kind makes all
/// its objects ready at once, and so many never again.
pub(super) fn smaller_capacity(len: usize, capacity: usize) -> Option<usize> {
    (capacity > MAX_SPARE && len < capacity / SPARE_RATIO).then(|| MAX_SPARE.max(2 * len))
}

/// The capacity up to which a collection never shrinks.
const MAX_SPARE: usize = 256;
/// A larger collection shrinks when it has more than this many times the capacity that it needs.
const SPARE_RATIO: usize = 8;

/// An entry of a ready key. Tickets increase in the order in which keys become ready.
pub(super) struct QueuedKey<K> {
    pub(super) key: HashedKey<K>,
    pub(super) ticket: u64,
}

impl<K> ReadyKeys<K> {
    /// Creates an empty queue for each priority.
    pub(super) fn new() -> Self {
        Self {
            by_priority: HIGHEST_FIRST.map(|_| PriorityQueue { entries: VecDeque::new(), live_entries: 0 }),
            last_ticket: 0,
            popped: 0,
        }
    }

    /// Returns a new ticket.
    pub(super) fn next_ticket(&mut self) -> u64 {
        self.last_ticket += 1;
        self.last_ticket
    }

    /// Returns the number of tickets so far.
    pub(super) fn last_ticket(&self) -> u64 {
        self.last_ticket
    }

    /// Adds a key at the end of the queue of its priority.
    pub(super) fn push(&mut self, priority: Priority, queued: QueuedKey<K>) {
        let queue = &mut self.by_priority[priority as usize];
        queue.entries.push_back(queued);
        queue.live_entries += 1;
    }

    /// Moves a key to a higher priority.
    pub(super) fn raise(&mut self, from: Priority, to: Priority, queued: QueuedKey<K>) {
        self.by_priority[from as usize].remove_one();
        self.push(to, queued);
    }

    /// Makes the entry of a key stale, because the key is no longer ready.
    pub(super) fn remove_one(&mut self, priority: Priority) {
        self.by_priority[priority as usize].remove_one();
    }

    /// Removes and returns the first entry of the highest priority that has one, but every sixteenth time the entry of the key that has
    /// been ready longest. Priorities below `lowest` are left out. Entries for which `is_current` returns false are stale; those at the
    /// front are dropped first.
    pub(super) fn pop(
        &mut self,
        lowest: Priority,
        is_current: impl Fn(&QueuedKey<K>, Priority) -> bool,
    ) -> Option<QueuedKey<K>> {
        for priority in HIGHEST_FIRST {
            self.by_priority[priority as usize].drop_stale_front(|queued| is_current(queued, priority));
        }
        let priority = match self.popped % FAIRNESS_INTERVAL {
            position if position == FAIRNESS_INTERVAL - 1 => self.longest_waiting(lowest)?,
            _ => highest_first(lowest).find(|priority| self.len(*priority) > 0)?,
        };
        self.popped += 1;
        let queue = &mut self.by_priority[priority as usize];
        let queued = queue.entries.pop_front();
        queue.remove_one();
        if let Some(capacity) = smaller_capacity(queue.entries.len(), queue.entries.capacity()) {
            queue.entries.shrink_to(capacity);
        }
        queued
    }

    /// Returns the priority of the key that has been ready longest, of all priorities down to `lowest`.
    fn longest_waiting(&self, lowest: Priority) -> Option<Priority> {
        // The lowest ticket is that of the key that became ready first.
        let first_ticket = |priority| Some((self.by_priority[priority as usize].entries.front()?.ticket, priority));
        highest_first(lowest).filter_map(first_ticket).min().map(|(_, priority)| priority)
    }

    pub(super) fn len(&self, priority: Priority) -> usize {
        self.by_priority[priority as usize].live_entries
    }

    /// Returns whether a key is ready that has the priority `lowest` or a higher one.
    pub(super) fn has_key(&self, lowest: Priority) -> bool {
        highest_first(lowest).any(|priority| self.len(priority) > 0)
    }

    /// Returns whether there are no entries, not even stale ones.
    #[cfg(test)]
    pub(super) fn has_no_entries(&self) -> bool {
        self.by_priority.iter().all(|queue| queue.entries.is_empty())
    }

    /// Returns the number of entries for which there is room.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.by_priority.iter().map(|queue| queue.entries.capacity()).sum()
    }

    pub(super) fn clear(&mut self) {
        self.by_priority.iter_mut().for_each(PriorityQueue::clear);
    }
}

/// Returns the priorities from the highest down to `lowest`.
fn highest_first(lowest: Priority) -> impl Iterator<Item = Priority> {
    HIGHEST_FIRST.into_iter().filter(move |priority| *priority >= lowest)
}

impl<K> PriorityQueue<K> {
    /// Counts one live entry less. When none is left, all entries are stale and are dropped.
    fn remove_one(&mut self) {
        self.live_entries -= 1;
        if self.live_entries == 0 {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.live_entries = 0;
    }

    /// Drops the stale entries at the front.
    fn drop_stale_front(&mut self, is_current: impl Fn(&QueuedKey<K>) -> bool) {
        while self.entries.len() > self.live_entries && self.entries.front().is_some_and(|queued| !is_current(queued)) {
            self.entries.pop_front();
        }
    }
}

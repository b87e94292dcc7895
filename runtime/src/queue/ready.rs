//! Keys that are ready, in order.

use super::Priority;
use std::collections::VecDeque;

/// One key in this many is, of the first of each priority, the one that is ready longest.
const SHARE: u64 = 16;
const HIGHEST_FIRST: [Priority; 3] = [Priority::High, Priority::Normal, Priority::Low];

/// Keys that are ready: first in, first out for each priority.
///
/// A key whose priority is raised goes to the end of another line, and its old place stays behind: whoever pops has to
/// tell whether a key still stands at a place.
pub(super) struct Ready<K> {
    lines: [PriorityLine<K>; HIGHEST_FIRST.len()],
    tickets: u64,
    popped: u64,
}

struct PriorityLine<K> {
    places: VecDeque<QueuedKey<K>>,
    /// Places at which a key stands.
    live: usize,
}

/// Where a key stands. Tickets are given in the order in which keys become ready.
pub(super) struct QueuedKey<K> {
    pub(super) key: K,
    pub(super) ticket: u64,
}

impl<K> Ready<K> {
    pub(super) fn new() -> Self {
        Self { lines: HIGHEST_FIRST.map(|_| PriorityLine { places: VecDeque::new(), live: 0 }), tickets: 0, popped: 0 }
    }

    pub(super) fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    /// How many tickets were given.
    pub(super) fn tickets(&self) -> u64 {
        self.tickets
    }

    pub(super) fn push(&mut self, priority: Priority, place: QueuedKey<K>) {
        let line = &mut self.lines[priority as usize];
        line.places.push_back(place);
        line.live += 1;
    }

    pub(super) fn raise(&mut self, from: Priority, to: Priority, place: QueuedKey<K>) {
        self.lines[from as usize].leave();
        self.push(to, place);
    }

    /// A key of this priority is not ready any more.
    pub(super) fn leave(&mut self, priority: Priority) {
        self.lines[priority as usize].leave();
    }

    /// The next place at which its key `stands`.
    pub(super) fn pop(&mut self, stands: impl Fn(&QueuedKey<K>, Priority) -> bool) -> Option<QueuedKey<K>> {
        for priority in HIGHEST_FIRST {
            self.lines[priority as usize].drop_left_places(|place| stands(place, priority));
        }
        let priority = match self.popped % SHARE {
            turn if turn == SHARE - 1 => self.waiting_longest()?,
            _ => HIGHEST_FIRST.into_iter().find(|priority| self.len(*priority) > 0)?,
        };
        self.popped += 1;
        let line = &mut self.lines[priority as usize];
        let place = line.places.pop_front();
        line.leave();
        place
    }

    fn waiting_longest(&self) -> Option<Priority> {
        let first = |priority| Some((self.lines[priority as usize].places.front()?.ticket, priority));
        HIGHEST_FIRST.into_iter().filter_map(first).min().map(|(_, priority)| priority)
    }

    pub(super) fn len(&self, priority: Priority) -> usize {
        self.lines[priority as usize].live
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| line.live == 0)
    }

    /// Whether not even places that raised keys left are there.
    #[cfg(test)]
    pub(super) fn is_blank(&self) -> bool {
        self.lines.iter().all(|line| line.places.is_empty())
    }

    pub(super) fn clear(&mut self) {
        self.lines.iter_mut().for_each(PriorityLine::clear);
    }
}

impl<K> PriorityLine<K> {
    fn leave(&mut self) {
        self.live -= 1;
        if self.live == 0 {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.places.clear();
        self.live = 0;
    }

    /// Drops the places that raised keys left, as far as they are in front.
    fn drop_left_places(&mut self, stands: impl Fn(&QueuedKey<K>) -> bool) {
        while self.places.len() > self.live && self.places.front().is_some_and(|place| !stands(place)) {
            self.places.pop_front();
        }
    }
}

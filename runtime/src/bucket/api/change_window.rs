//! `ChangeWindow`: the last changes of the objects of a kind, from which watches read.

use std::{collections::VecDeque, sync::Arc};

/// The maximum number of changes that are kept, and the maximum of their sizes in bytes.
const MAX_CHANGES: usize = 1024;
const MAX_BYTES: usize = 1024 * 1024;

/// A change of one object.
#[derive(Debug)]
pub(super) struct ObjectChange {
    /// Where the change is in the order of all changes: at the revision of its write, or later.
    pub(super) position: u64,
    pub(super) namespace: String,
    pub(super) name: String,
    /// The labels before the change as a JSON object, empty if there are none; `None` for a new object.
    pub(super) before: Option<Box<str>>,
    /// The labels after the change; `None` for a removed object.
    pub(super) after: Option<Box<str>>,
    /// The object as JSON. Of a removed object it has the metadata only.
    pub(super) json: Box<[u8]>,
}

/// The last changes, in the order of their positions.
#[derive(Debug, Default)]
pub(super) struct ChangeWindow {
    changes: VecDeque<Arc<ObjectChange>>,
    /// The number of the next change.
    next: u64,
    bytes: usize,
    /// Changes up to this position may be forgotten; those after it are all kept.
    forgotten_up_to: u64,
}

impl ChangeWindow {
    /// Adds a change, and drops the oldest changes while there are too many or they are too large. The newest change always stays.
    pub(super) fn push(&mut self, change: ObjectChange) {
        self.bytes += change.size();
        self.changes.push_back(Arc::new(change));
        self.next += 1;
        while self.changes.len() > MAX_CHANGES || self.bytes > MAX_BYTES && self.changes.len() > 1 {
            let Some(oldest) = self.changes.pop_front() else { return };
            self.bytes -= oldest.size();
            self.forgotten_up_to = self.forgotten_up_to.max(oldest.position);
        }
    }

    /// Drops all changes, so that every running watch reads [`WindowRead::Forgotten`] next and ends. A new watch can start at the position
    /// `forgotten_up_to` or later: the window has all changes from there on.
    pub(super) fn reset(&mut self, forgotten_up_to: u64) {
        // One number is skipped: a watch that has read all changes waits for this number, and must end, too.
        self.next += 1;
        self.changes.clear();
        (self.bytes, self.forgotten_up_to) = (0, forgotten_up_to);
    }

    /// Returns the number at which a watch from a position starts to read; `None` if the window has dropped changes after the position.
    /// Changes are numbered one by one in the order in which they are pushed.
    pub(super) fn first_after(&self, position: u64) -> Option<u64> {
        if position < self.forgotten_up_to {
            return None;
        }
        let earlier = self.changes.partition_point(|change| change.position <= position);
        Some(self.first() + u64::try_from(earlier).unwrap_or(u64::MAX))
    }

    /// Returns the change with this number, [`WindowRead::End`] for the number that the next change gets, and [`WindowRead::Forgotten`] for
    /// a number that is no longer in the window or was never given.
    pub(super) fn get(&self, number: u64) -> WindowRead {
        if number == self.next {
            return WindowRead::End;
        }
        let index = number.checked_sub(self.first()).and_then(|index| usize::try_from(index).ok());
        index
            .and_then(|index| self.changes.get(index))
            .map_or(WindowRead::Forgotten, |change| WindowRead::Change(change.clone()))
    }

    /// Returns the latest change of an object that is still in the window.
    pub(super) fn last_of(&self, namespace: &str, name: &str) -> Option<&ObjectChange> {
        self.changes.iter().rev().map(Arc::as_ref).find(|change| change.namespace == namespace && change.name == name)
    }

    /// Returns the number of the oldest change in the window.
    fn first(&self) -> u64 {
        self.next.saturating_sub(u64::try_from(self.changes.len()).unwrap_or_default())
    }
}

/// The result of reading a change by its number.
#[derive(Debug)]
pub(super) enum WindowRead {
    Change(Arc<ObjectChange>),
    /// There is no such change yet.
    End,
    Forgotten,
}

impl ObjectChange {
    /// Returns the size of the texts of the change, in bytes.
    fn size(&self) -> usize {
        let labels = |labels: &Option<Box<str>>| labels.as_ref().map_or(0, |labels| labels.len());
        self.json.len() + self.namespace.len() + self.name.len() + labels(&self.before) + labels(&self.after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a new object at a position, whose JSON has this size.
    fn change(position: u64, size: usize) -> ObjectChange {
        let json = vec![0; size].into_boxed_slice();
        let (namespace, name, after) = (String::new(), String::new(), Some("".into()));
        ObjectChange { position, namespace, name, before: None, after, json }
    }

    /// Returns the position of the change that was read; `None` if no change was read.
    fn position(read: WindowRead) -> Option<u64> {
        match read {
            WindowRead::Change(change) => Some(change.position),
            WindowRead::End | WindowRead::Forgotten => None,
        }
    }

    #[test]
    fn changes_are_read_from_a_position_on() {
        let mut window = ChangeWindow::default();
        window.reset(10);
        [12, 15, 15, 20].into_iter().for_each(|position| window.push(change(position, 1)));
        for (after, expected) in [(10, Some(12)), (12, Some(15)), (14, Some(15)), (15, Some(20))] {
            let number = window.first_after(after);
            assert_eq!(number.and_then(|number| position(window.get(number))), expected, "{after}");
        }
        assert_eq!(window.first_after(20), Some(window.next));
        assert!(matches!(window.get(window.next), WindowRead::End));
        assert_eq!(window.first_after(9), None);
    }

    #[test]
    fn too_many_and_too_large_changes_are_forgotten() {
        let mut window = ChangeWindow::default();
        (1..=MAX_CHANGES as u64 + 2).for_each(|position| window.push(change(position, 1)));
        assert_eq!((window.first_after(1), window.changes.len()), (None, MAX_CHANGES));
        assert!(window.first_after(2).is_some());
        assert!(matches!(window.get(0), WindowRead::Forgotten));
        window.push(change(2000, MAX_BYTES + 1));
        assert_eq!((window.changes.len(), window.first_after(1025)), (1, None));
        assert!(window.first_after(1026).is_some(), "the change before it is the last that is forgotten");
    }

    #[test]
    fn a_reset_ends_also_a_watch_that_has_read_everything() {
        let mut window = ChangeWindow::default();
        window.push(change(1, 1));
        let number = window.next;
        window.reset(7);
        assert!(matches!(window.get(number), WindowRead::Forgotten));
        assert_eq!(window.first_after(7), Some(window.next));
    }
}

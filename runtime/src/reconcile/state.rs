//! State that the loop keeps of an object between passes.

use crate::{
    cache::{Header, ObjectKey, PerObject, Uid},
    error::{Error, Result},
    reconcile::next::Next,
};
use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// Conflicts in a row after which a conflict is reported as an error. A conflict ends as soon as the cache shows the write of the
/// other client. One that does not end in some five seconds (the sum of the delays between six passes) is a patch that never
/// applies.
const CONFLICTS: u32 = 6;

/// Changes in a row of what is wanted of an object that end a backoff. A person makes no more; another controller that changes the
/// object again and again, perhaps because of what this one does, waits for the end of the backoff from then on.
const WISHES: u32 = 10;
/// Changes that are farther apart are not in a row.
const CALM: Duration = Duration::from_secs(30);

/// What the loop knows of one object. All of it ends with the object's uid.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ObjectState {
    /// No pass does anything until the object is changed.
    pub(super) parked: bool,
    /// The reason of the last event, where the status of the kind is not the operator's to write.
    pub(super) reported: Option<String>,
    /// The finalizer was removed from the deleting object; the cache does not show yet that the object is gone.
    pub(super) released: bool,
    /// The object is being deleted with the propagation policy `Orphan`.
    pub(super) orphaning: bool,
    /// A status write failed without an answer, so the stored status may differ from the cached one.
    pub(super) status_uncertain: bool,
    /// The stored status has no fields any more that only an earlier release of the operator wrote.
    pub(super) status_searched: bool,
    /// Passes in a row that ended with an error.
    pub(super) failures: u32,
    /// Passes in a row that ended with a conflict.
    pub(super) conflicts: u32,
    /// Changes in a row that ended a backoff.
    pub(super) wishes: u32,
    /// When the last change was made that would end a backoff.
    pub(super) wished: Option<Instant>,
}

/// The state of all objects of a controller.
#[derive(Debug, Default)]
pub(super) struct States(Mutex<PerObject<ObjectState>>);

impl States {
    pub(super) fn update<R>(&self, key: &ObjectKey, uid: &Uid, change: impl FnOnce(&mut ObjectState) -> R) -> R {
        self.0.lock().update(key, uid, change)
    }

    pub(super) fn read<R>(&self, key: &ObjectKey, uid: &Uid, read: impl FnOnce(&ObjectState) -> R) -> R {
        read(self.0.lock().get(key, uid).unwrap_or(&ObjectState::default()))
    }

    /// The uid of the object of which something is known: that of one which the cache does not have.
    pub(super) fn uid_of(&self, key: &ObjectKey) -> Option<Uid> {
        self.0.lock().uid_of(key).cloned()
    }

    pub(super) fn is_released(&self, header: &Header) -> bool {
        self.read(&header.key, &header.uid, |state| state.released)
    }

    /// Keeps nothing of a released object but that it is released.
    pub(super) fn release(&self, header: &Header) {
        self.update(&header.key, &header.uid, |state| {
            *state = ObjectState { released: header.deleting, ..ObjectState::default() };
        });
    }

    pub(super) fn is_orphaning(&self, header: &Header) -> bool {
        self.read(&header.key, &header.uid, |state| state.orphaning)
    }

    pub(super) fn orphan(&self, header: &Header) {
        self.update(&header.key, &header.uid, |state| state.orphaning = true);
    }

    pub(super) fn is_status_uncertain(&self, header: &Header) -> bool {
        self.read(&header.key, &header.uid, |state| state.status_uncertain)
    }

    pub(super) fn set_status_uncertain(&self, header: &Header, is_uncertain: bool) {
        if is_uncertain || self.is_status_uncertain(header) {
            self.update(&header.key, &header.uid, |state| state.status_uncertain = is_uncertain);
        }
    }

    /// Whether the status was written without the fields of an earlier release: they are searched for once for each object,
    /// as this release writes none.
    pub(super) fn is_status_searched(&self, header: &Header) -> bool {
        self.read(&header.key, &header.uid, |state| state.status_searched)
    }

    pub(super) fn set_status_searched(&self, header: &Header) {
        self.update(&header.key, &header.uid, |state| state.status_searched = true);
    }

    /// Stores the reason of an event, and returns that of the last one.
    pub(super) fn report(&self, header: &Header, reason: &str) -> Option<String> {
        self.update(&header.key, &header.uid, |state| state.reported.replace(reason.to_owned()))
    }

    pub(super) fn has_reported(&self, header: &Header, reason: &str) -> bool {
        self.read(&header.key, &header.uid, |state| state.reported.as_deref() == Some(reason))
    }

    pub(super) fn forget(&self, key: &ObjectKey) {
        self.0.lock().forget(key);
    }

    /// The outcome of a tree. A conflict that does not end is an error like any other.
    pub(super) fn escalate(&self, key: &ObjectKey, uid: &Uid, outcome: Result<()>) -> Result<()> {
        outcome.map_err(|error| match error {
            Error::Conflict(source) if self.is_persistent(key, uid) => Error::Unexpected(source),
            error => error,
        })
    }

    /// Whether the object had so many conflicts in a row that the next one is an error.
    pub(super) fn is_persistent(&self, key: &ObjectKey, uid: &Uid) -> bool {
        self.read(key, uid, |state| state.conflicts >= CONFLICTS)
    }

    /// Has an object looked at again that was parked; the counts end with a backoff.
    pub(super) fn unpark(&self, key: &ObjectKey, uid: &Uid, ends_backoff: bool) {
        self.update(key, uid, |state| {
            state.parked = false;
            if ends_backoff {
                (state.failures, state.conflicts) = (0, 0);
            }
        });
    }

    /// Whether a change of what is wanted ends a backoff: one of many in a row does not.
    pub(super) fn may_end_backoff(&self, key: &ObjectKey, uid: &Uid, now: Instant) -> bool {
        self.update(key, uid, |state| {
            let is_in_a_row = state.wished.is_some_and(|last| now.saturating_duration_since(last) < CALM);
            let before = if is_in_a_row { state.wishes } else { 0 };
            (state.wishes, state.wished) = ((before + 1).min(WISHES), Some(now));
            before < WISHES
        })
    }

    /// Counts the end of a pass: how many passes before it ended alike, in a row.
    pub(super) fn count(&self, key: &ObjectKey, uid: &Uid, next: Next) -> u32 {
        let counts = self.read(key, uid, |state| (state.failures, state.conflicts));
        let after = match next {
            Next::Failed => (counts.0.saturating_add(1), counts.1),
            Next::Retry => (counts.0, counts.1.saturating_add(1)),
            // The pass did not begin.
            Next::CatchUp => counts,
            _ => (0, 0),
        };
        if after != counts {
            self.update(key, uid, |state| (state.failures, state.conflicts) = after);
        }
        if next == Next::Retry { counts.1 } else { counts.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object() -> (ObjectKey, Uid) {
        (ObjectKey::namespaced("shop", "web"), Uid::from("1"))
    }

    #[tokio::test(start_paused = true)]
    async fn of_many_changes_in_a_row_only_the_first_end_a_backoff() {
        let (states, (key, uid)) = (States::default(), object());
        let ends = || states.may_end_backoff(&key, &uid, Instant::now());
        for _ in 0..WISHES {
            assert!(ends());
            tokio::time::advance(CALM / 2).await;
        }
        for _ in 0..WISHES {
            assert!(!ends());
            tokio::time::advance(CALM / 2).await;
        }
        tokio::time::advance(CALM).await;
        assert!(ends());
    }

    #[test]
    fn an_object_that_the_cache_does_not_have_counts_under_the_uid_that_is_known() {
        let (states, (key, uid)) = (States::default(), object());
        assert_eq!(states.uid_of(&key), None);
        states.update(&key, &uid, |state| state.reported = Some("Failed".to_owned()));
        let known = states.uid_of(&key).unwrap_or_default();
        assert_eq!(known, uid);
        let rows: Vec<_> = (0..3).map(|_| states.count(&key, &known, Next::Failed)).collect();
        assert_eq!(rows, [0, 1, 2]);
    }
}

//! `ObjectStates` stores the state of each object between passes: failures, conflicts, teardown, and whether it waits for a user.

use crate::{
    cache::{Header, ObjectKey, PerObject, Uid},
    error::{Error, Result},
    reconcile::{
        next::Next,
        repetition::{Repeated, Repetition},
    },
    spans::convergence::Convergence,
};
use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// The number of consecutive conflicts after which the next conflict is an error. A usual conflict ends as soon as the cache
/// shows the write of the other client. A conflict that persists for about five seconds (the sum of the delays between six
/// passes) is a patch that never applies.
const MAX_CONFLICTS: u32 = 6;

/// The number of consecutive changes of spec, labels or annotations that end a backoff. A person makes no more than that. Another
/// controller that changes the object repeatedly, perhaps in response to this one, then waits for the end of the backoff.
const MAX_BACKOFF_RESETS: u32 = 10;
/// Changes count as consecutive if less than this time is between them.
const RESET_WINDOW: Duration = Duration::from_secs(30);

/// The state of one object. It ends with the object's uid.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ObjectState {
    /// Passes do nothing until a user changes the object.
    pub(super) parked: bool,
    /// The reason of the last event. Only for foreign kinds, whose status the operator does not write.
    pub(super) reported_reason: Option<String>,
    /// The finalizer was removed from the deleting object, and the cache does not show the end of the object yet.
    pub(super) finalizer_removed: bool,
    /// The object is being deleted with the propagation policy `Orphan`.
    pub(super) orphaning: bool,
    /// The object was deleted, and its last pass has not run. Only with shards: the pass needs the uid.
    pub(super) deleted: bool,
    /// A status write failed without an answer, so the stored status may differ from the cached one.
    pub(super) status_uncertain: bool,
    /// The time of the first of the consecutive passes that did not end ready.
    pub(super) unready_since: Option<Instant>,
    /// The number of consecutive passes that ended with an error.
    pub(super) failures: u32,
    /// The number of consecutive passes that ended with a conflict.
    pub(super) conflicts: u32,
    /// The number of consecutive changes that ended a backoff.
    pub(super) backoff_resets: u32,
    /// The time of the last change of spec, labels or annotations while there was a backoff.
    pub(super) last_user_change: Option<Instant>,
    /// The last failure or yield that was reported, until a pass succeeds.
    pub(super) repetition: Option<Repetition>,
    /// The trace that the next pass continues, or links to.
    pub(super) convergence: Option<Box<Convergence>>,
}

/// The state of all objects of a controller.
#[derive(Debug, Default)]
pub(super) struct ObjectStates {
    states: Mutex<PerObject<ObjectState>>,
    /// Whether the stored status was searched for fields that only an earlier release of the operator wrote. It is true for all
    /// objects with a status, most of which have no other state.
    searched: Mutex<PerObject<bool>>,
}

impl ObjectStates {
    /// Changes the state of an object, which is created if there is none.
    pub(super) fn update<R>(&self, key: &ObjectKey, uid: &Uid, change: impl FnOnce(&mut ObjectState) -> R) -> R {
        self.states.lock().update(key, uid, change)
    }

    /// Reads the state of an object; the default state if there is none.
    pub(super) fn read<R>(&self, key: &ObjectKey, uid: &Uid, read: impl FnOnce(&ObjectState) -> R) -> R {
        read(self.states.lock().get(key, uid).unwrap_or(&ObjectState::default()))
    }

    /// Returns the uid of the object with this key, which the cache may no longer have; `None` if no state is stored for it.
    pub(super) fn uid_of(&self, key: &ObjectKey) -> Option<Uid> {
        self.states.lock().uid_of(key).cloned()
    }

    pub(super) fn is_finalizer_removed(&self, header: &Header) -> bool {
        self.read(&header.key, &header.uid, |state| state.finalizer_removed)
    }

    /// Drops the state of an object whose finalizer was removed. If the object is being deleted, keeps the fact that it was removed.
    pub(super) fn set_finalizer_removed(&self, header: &Header) {
        self.update(&header.key, &header.uid, |state| {
            *state = ObjectState { finalizer_removed: header.deleting, ..ObjectState::default() };
        });
    }

    pub(super) fn is_orphaning(&self, header: &Header) -> bool {
        self.read(&header.key, &header.uid, |state| state.orphaning)
    }

    pub(super) fn set_orphaning(&self, header: &Header) {
        self.update(&header.key, &header.uid, |state| state.orphaning = true);
    }

    pub(super) fn is_status_uncertain(&self, header: &Header) -> bool {
        self.read(&header.key, &header.uid, |state| state.status_uncertain)
    }

    /// Records whether the stored status may differ from the cached one, because a failed status write may have been stored nevertheless.
    pub(super) fn set_status_uncertain(&self, header: &Header, is_uncertain: bool) {
        if is_uncertain || self.is_status_uncertain(header) {
            self.update(&header.key, &header.uid, |state| state.status_uncertain = is_uncertain);
        }
    }

    /// Returns whether the status was searched for fields of an earlier release. Once per object is enough, because this release
    /// writes no such fields.
    pub(super) fn is_status_searched(&self, header: &Header) -> bool {
        self.searched.lock().get(&header.key, &header.uid).is_some()
    }

    pub(super) fn set_status_searched(&self, header: &Header) {
        self.searched.lock().update(&header.key, &header.uid, |searched| *searched = true);
    }

    /// Stores the reason of an event, and returns the reason of the one before; `None` if there is none.
    pub(super) fn set_reported_reason(&self, header: &Header, reason: &str) -> Option<String> {
        self.update(&header.key, &header.uid, |state| state.reported_reason.replace(reason.to_owned()))
    }

    pub(super) fn has_reported_reason(&self, header: &Header, reason: &str) -> bool {
        self.read(&header.key, &header.uid, |state| state.reported_reason.as_deref() == Some(reason))
    }

    pub(super) fn forget(&self, key: &ObjectKey) {
        self.states.lock().forget(key);
        self.searched.lock().forget(key);
    }

    /// Records whether a pass over the object ended ready; if not, keeps the time of the first of the consecutive unready passes.
    pub(super) fn note_readiness(&self, key: &ObjectKey, uid: &Uid, is_ready: bool) {
        let mut states = self.states.lock();
        match states.get(key, uid).and_then(|state| state.unready_since) {
            Some(_) if is_ready => states.update(key, uid, |state| state.unready_since = None),
            None if !is_ready => states.update(key, uid, |state| state.unready_since = Some(Instant::now())),
            _ => {}
        }
    }

    /// Counts a report of an object with this reason and message, and returns whether it is logged.
    pub(super) fn count_report(&self, key: &ObjectKey, uid: &Uid, is_failure: bool, report: (&str, &str)) -> Repeated {
        self.update(key, uid, |state| Repetition::count(&mut state.repetition, is_failure, report))
    }

    /// Drops the count of reports of an object, because a pass succeeded. Returns how often the last failure was reported; `None` if the
    /// passes before did not fail.
    pub(super) fn end_reports(&self, key: &ObjectKey, uid: &Uid) -> Option<u32> {
        if self.read(key, uid, |state| state.repetition.is_none()) {
            return None;
        }
        let ended = self.update(key, uid, |state| state.repetition.take());
        ended.filter(|ended| ended.is_failure).map(Repetition::times)
    }

    /// Returns the number of objects whose last pass did not end ready, and the time since when the first of them has not been ready.
    pub(super) fn unconverged(&self) -> (usize, Option<Instant>) {
        let states = self.states.lock();
        let unready = states.values().filter_map(|state| state.unready_since);
        unready.fold((0, None), |(count, first), since| (count + 1, first.into_iter().chain([since]).min()))
    }

    /// Turns a conflict into an unexpected error if the object had many consecutive conflicts before; returns any other outcome unchanged.
    pub(super) fn escalate_conflict(&self, key: &ObjectKey, uid: &Uid, outcome: Result<()>) -> Result<()> {
        outcome.map_err(|error| match error {
            Error::Conflict(source) if self.has_persistent_conflict(key, uid) => Error::Unexpected(source),
            error => error,
        })
    }

    /// Returns whether the object had so many consecutive conflicts that the next one is an error.
    pub(super) fn has_persistent_conflict(&self, key: &ObjectKey, uid: &Uid) -> bool {
        self.read(key, uid, |state| state.conflicts >= MAX_CONFLICTS)
    }

    /// Lets passes over a parked object run again.
    pub(super) fn unpark(&self, key: &ObjectKey, uid: &Uid) {
        self.update(key, uid, |state| state.parked = false);
    }

    /// Resets the counts of failures and conflicts.
    pub(super) fn reset_failures(&self, key: &ObjectKey, uid: &Uid) {
        self.update(key, uid, |state| (state.failures, state.conflicts) = (0, 0));
    }

    /// Counts a change of spec, labels or annotations at `now`. Returns whether the change ends the backoff: the first
    /// [`MAX_BACKOFF_RESETS`] of consecutive changes do, and later ones do not, since they come from another controller.
    pub(super) fn allow_backoff_reset(&self, key: &ObjectKey, uid: &Uid, now: Instant) -> bool {
        self.update(key, uid, |state| {
            let is_consecutive =
                state.last_user_change.is_some_and(|last| now.saturating_duration_since(last) < RESET_WINDOW);
            let resets = if is_consecutive { state.backoff_resets } else { 0 };
            (state.backoff_resets, state.last_user_change) = ((resets + 1).min(MAX_BACKOFF_RESETS), Some(now));
            resets < MAX_BACKOFF_RESETS
        })
    }

    /// Counts the result of a pass as a failure or a conflict; any other result resets both counts, except that of a skipped pass. Returns
    /// the count before this pass: of consecutive conflicts if the pass ended with a conflict, else of consecutive failures.
    pub(super) fn count_failures(&self, key: &ObjectKey, uid: &Uid, next: Next) -> u32 {
        let (failures, conflicts) = self.read(key, uid, |state| (state.failures, state.conflicts));
        let counts = match next {
            Next::Failed => (failures.saturating_add(1), conflicts),
            Next::Retry => (failures, conflicts.saturating_add(1)),
            // The pass was skipped.
            Next::CatchUp => (failures, conflicts),
            _ => (0, 0),
        };
        if counts != (failures, conflicts) {
            self.update(key, uid, |state| (state.failures, state.conflicts) = counts);
        }
        if next == Next::Retry { conflicts } else { failures }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object() -> (ObjectKey, Uid) {
        (ObjectKey::namespaced("shop", "web"), Uid::from("1"))
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_first_of_many_consecutive_changes_end_a_backoff() {
        let (states, (key, uid)) = (ObjectStates::default(), object());
        let ends = || states.allow_backoff_reset(&key, &uid, Instant::now());
        for _ in 0..MAX_BACKOFF_RESETS {
            assert!(ends());
            tokio::time::advance(RESET_WINDOW / 2).await;
        }
        for _ in 0..MAX_BACKOFF_RESETS {
            assert!(!ends());
            tokio::time::advance(RESET_WINDOW / 2).await;
        }
        tokio::time::advance(RESET_WINDOW).await;
        assert!(ends());
    }

    #[test]
    fn an_object_that_the_cache_does_not_have_counts_under_the_uid_that_is_known() {
        let (states, (key, uid)) = (ObjectStates::default(), object());
        assert_eq!(states.uid_of(&key), None);
        states.update(&key, &uid, |state| state.reported_reason = Some("Failed".to_owned()));
        let known = states.uid_of(&key).unwrap_or_default();
        assert_eq!(known, uid);
        let counts = [Next::Failed; 3].map(|next| states.count_failures(&key, &known, next));
        assert_eq!(counts, [0, 1, 2]);
    }
}

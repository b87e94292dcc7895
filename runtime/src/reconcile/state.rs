//! State that the loop keeps of an object between passes.

use super::{Loop, Next};
use crate::{
    cache::{Encoded, Entry, Header, ObjectKey, PerObject, Uid},
    error::{Error, Result},
};
use parking_lot::Mutex;

/// Conflicts in a row after which a conflict is reported as an error. A conflict ends as soon as the cache shows the write of the
/// other client. One that does not end in some five seconds (the sum of the delays between six passes) is a patch that never
/// applies.
const CONFLICTS: u32 = 6;

/// What the loop knows of one object. All of it ends with the object's uid.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ObjectState {
    /// The wanted state at which the object was parked: no pass does anything until it changes.
    parked: Option<String>,
    /// The reason of the last event, where the status of the kind is not the operator's to write.
    reported: Option<String>,
    /// The finalizer was removed from the deleting object; the cache does not show yet that the object is gone.
    released: bool,
    /// The object is being deleted with the propagation policy `Orphan`.
    orphaning: bool,
    /// A status write failed without an answer, so the stored status may differ from the cached one.
    status_uncertain: bool,
    /// The stored status has no fields any more that only an earlier release of the operator wrote.
    status_searched: bool,
    /// Passes in a row that ended with an error.
    failures: u32,
    /// Passes in a row that ended with a conflict.
    conflicts: u32,
    /// The wanted state at which failures, conflicts and repairs were counted: a change of it begins anew.
    counted_at: Option<String>,
}

/// The state of all objects of a controller.
#[derive(Debug, Default)]
pub(super) struct States(Mutex<PerObject<ObjectState>>);

impl States {
    fn update<R>(&self, key: &ObjectKey, uid: &Uid, change: impl FnOnce(&mut ObjectState) -> R) -> R {
        self.0.lock().update(key, uid, change)
    }

    fn read<R>(&self, key: &ObjectKey, uid: &Uid, read: impl FnOnce(&ObjectState) -> R) -> R {
        read(self.0.lock().get(key, uid).unwrap_or(&ObjectState::default()))
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

/// The deletion is a request of a user, too.
fn requested(of: &Loop, entry: &Entry<Encoded>) -> String {
    format!("{} {}", entry.header.deleting, of.wanted(entry))
}

impl Loop {
    /// Begins to count failures, conflicts and repairs anew where a user has changed the object since they were counted.
    pub(super) fn notice_request(&self, entry: &Entry<Encoded>) {
        let (key, uid) = (&entry.header.key, &entry.header.uid);
        let counted_at = self.states.read(key, uid, |state| state.counted_at.clone());
        if counted_at.is_some_and(|counted_at| counted_at != requested(self, entry)) {
            self.states.update(key, uid, |state| (state.failures, state.conflicts, state.counted_at) = (0, 0, None));
            self.shared.memory().forget_repairs(&self.identity(&entry.header));
        }
    }

    /// Counts the end of a pass over an object: how many passes before it ended alike, in a row.
    pub(super) fn count(&self, entry: &Entry<Encoded>, next: Next) -> u32 {
        let (key, uid) = (&entry.header.key, &entry.header.uid);
        let row = self.states.count(key, uid, next);
        let (fails, is_noted) =
            self.states.read(key, uid, |state| (state.failures > 0 || state.conflicts > 0, state.counted_at.is_some()));
        let counts = fails || self.shared.memory().has_repairs(key, uid);
        if counts != is_noted {
            let counted_at = counts.then(|| requested(self, entry));
            self.states.update(key, uid, |state| state.counted_at = counted_at);
        }
        row
    }

    /// A fight over children is an error of every pass that goes well otherwise.
    pub(super) fn with_fight(&self, header: &Header, outcome: Result<()>) -> Result<()> {
        if let Ok(()) | Err(Error::Yield { .. } | Error::Conflict(_)) = outcome
            && let Some(sentence) = self.shared.memory().fight(&header.key, &header.uid)
        {
            self.shared.counters.count_fight();
            return Err(Error::blocked("Fighting", sentence));
        }
        outcome
    }

    pub(super) fn is_parked(&self, entry: &Entry<Encoded>) -> bool {
        let (key, uid) = (&entry.header.key, &entry.header.uid);
        let parked = self.states.read(key, uid, |state| state.parked.clone());
        let Some(parked) = parked else { return false };
        let is_parked = parked == self.wanted(entry);
        if !is_parked {
            self.states.update(key, uid, |state| state.parked = None);
        }
        is_parked
    }

    pub(super) fn park(&self, entry: &Entry<Encoded>) {
        let wanted = self.wanted(entry);
        self.states.update(&entry.header.key, &entry.header.uid, |state| state.parked = Some(wanted));
    }
}

//! `Next`: when an object is enqueued again after a pass.

use crate::{engine::pass::Again, reconcile::Delay};
use std::time::Duration;

/// How long after an unfinished pass the object is looked at again, if nothing happens before (unikorn §1.3).
pub const REQUEUE: Duration = Duration::from_secs(10);

/// The delay after a conflict, or after a call on an object that is not there.
pub(crate) const AFTER_CONFLICT: Delay =
    Delay::Exponential { base: Duration::from_millis(100), cap: Duration::from_secs(5) };

/// How soon a pass is tried again that would have acted on an old state [Y1].
pub(crate) const CATCH_UP: Duration = Duration::from_millis(100);

/// What a pass ends with: when the object is looked at again, unless something changes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Only when something changes.
    AwaitChange,
    /// After the controller's poll period, if it has one.
    Poll,
    /// After the requeue interval.
    Requeue,
    /// After the time that the pass, or the object, asks for.
    After(Duration),
    /// After an error, with the backoff of the controller.
    Failed,
    /// After a conflict, or a call on an object that is not there: another client was faster than the cache. With a short backoff.
    Retry,
    /// As soon as the cache has caught up with the operator's own writes. The pass made no call.
    CatchUp,
}

impl Next {
    /// For whoever is told of passes.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::AwaitChange => "again when something changes",
            Self::Poll => "again after the poll period",
            Self::Requeue => "not done yet, again after the requeue interval",
            Self::After(_) => "again after the time that it asked for",
            Self::Failed => "failed, again after the interval for errors",
            Self::Retry => "conflict, again after a short delay",
            Self::CatchUp => "again as soon as the cache has caught up",
        }
    }
}

impl Again {
    /// What a pass asked for holds unless it has to be repeated anyway: at once, or after an error.
    pub(super) fn in_place_of(self, next: Next) -> Next {
        match (next, self.after) {
            (Next::Requeue, Some(after)) if self.soon => Next::After(after.min(REQUEUE)),
            (Next::Poll | Next::After(_) | Next::Requeue, Some(after)) => Next::After(after),
            (next, _) => next,
        }
    }
}

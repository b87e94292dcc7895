//! `Next`: when an object is enqueued again after a pass.

use super::REQUEUE;
use crate::engine::pass::Again;
use std::time::Duration;

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

//! `Next` decides when an object is enqueued again after a pass.

use crate::{engine::side_effects::RequeueRequest, metrics::controller::PassKind, reconcile::Backoff};
use std::time::Duration;

/// The default delay between a pass that is not done (a yield) and the next pass, unless a change starts one earlier.
pub const DEFAULT_REQUEUE: Duration = Duration::from_secs(10);

/// The delay after a conflict, or after a call on an object that does not exist.
pub(crate) const AFTER_CONFLICT: Backoff =
    Backoff::Exponential { base: Duration::from_millis(100), cap: Duration::from_secs(5) };

/// The delay before the retry of a pass that was skipped because the cache did not show the operator's own writes yet.
pub(crate) const CATCH_UP: Duration = Duration::from_millis(100);

/// When the next pass over an object runs, unless a change starts one earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Only after a change.
    AwaitChange,
    /// Only after a change, because the pass ended with an error that only a change of the object can resolve.
    Parked,
    /// After the controller's resync period, if it has one.
    Resync,
    /// After the requeue interval.
    Requeue,
    /// After the time that the pass or the object requests.
    After(Duration),
    /// After an error, with the backoff of the controller.
    Failed,
    /// After a short backoff. The pass ended with a conflict, or with a call on an object that does not exist: another client was
    /// faster than the cache.
    Retry,
    /// As soon as the cache shows the operator's own writes. The pass was skipped.
    CatchUp,
    /// Only after a change. The pass was skipped, since another replica holds the shard of the object.
    OtherShard,
}

impl Next {
    /// Returns a text that describes when the next pass runs, for observers of passes in tests.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::AwaitChange | Self::Parked => "next pass on a change",
            Self::Resync => "next pass after the resync period",
            Self::Requeue => "not done yet, next pass after the requeue interval",
            Self::After(_) => "next pass after the requested time",
            Self::Failed => "failed, next pass after the backoff",
            Self::Retry => "conflict, next pass after a short delay",
            Self::CatchUp => "next pass once the cache is up to date",
            Self::OtherShard => "next pass by another replica",
        }
    }

    /// Returns the result of the pass that ended with this value, in the terms of controller-runtime, for metrics and spans; `None` if the
    /// pass was skipped.
    pub(crate) fn kind(self) -> Option<PassKind> {
        match self {
            Self::CatchUp | Self::OtherShard => None,
            Self::AwaitChange | Self::Resync => Some(PassKind::Success),
            Self::Requeue | Self::After(_) => Some(PassKind::RequeueAfter),
            Self::Retry => Some(PassKind::Requeue),
            Self::Failed | Self::Parked => Some(PassKind::Error),
        }
    }
}

/// When the next pass over an object runs, with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NextPass {
    pub(crate) when: Next,
    /// The pass runs after this time, if a period or a backoff is longer, or if there is no resync period. `None` is no limit.
    pub(crate) at_most: Option<Duration>,
}

impl From<Next> for NextPass {
    fn from(when: Next) -> Self {
        Self { when, at_most: None }
    }
}

impl NextPass {
    /// Returns the delay within the limit.
    pub(crate) fn limit(self, delay: Duration) -> Duration {
        self.at_most.map_or(delay, |limit| delay.min(limit))
    }
}

impl RequeueRequest {
    /// Combines the delays that the nodes request with `next`, which follows from the outcome of the pass. A retry after an error or a
    /// conflict ignores the request. After an error, `rest_of_fight` limits the backoff: the time until the operator and another client
    /// count as no longer undoing each other's writes.
    pub(super) fn apply_to(self, next: Next, rest_of_fight: Option<Duration>) -> NextPass {
        let when = match (next, self.after) {
            // The nodes request the requeue interval (`soon`) and a delay: the shorter one wins.
            (Next::Requeue, Some(after)) if self.soon => Next::After(after.min(DEFAULT_REQUEUE)),
            (Next::Resync | Next::After(_) | Next::Requeue, Some(after)) => Next::After(after),
            (next, _) => next,
        };
        let at_most = match when {
            Next::Resync | Next::Requeue | Next::After(_) => self.at_most,
            Next::Failed => rest_of_fight,
            _ => None,
        };
        NextPass { when, at_most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_y5_a_skipped_pass_counts_as_none() {
        assert_eq!(Next::CatchUp.kind(), None);
    }

    #[test]
    fn a_requested_limit_shortens_the_delay_of_the_next_pass_and_never_extends_it() {
        let (minute, hour) = (Duration::from_secs(60), Duration::from_secs(3600));
        let mut request = RequeueRequest::default();
        request.request_at_most(hour);
        request.request_at_most(minute);
        for next in [Next::Resync, Next::Requeue, Next::After(hour)] {
            let next = request.apply_to(next, None);
            assert_eq!((next.limit(hour), next.limit(Duration::ZERO)), (minute, Duration::ZERO));
        }
        for next in [Next::Failed, Next::Retry, Next::AwaitChange] {
            assert_eq!(request.apply_to(next, None), NextPass::from(next));
        }
    }

    #[test]
    fn the_rest_of_a_fight_limits_the_backoff_after_an_error() {
        let second = Duration::from_secs(1);
        let request = RequeueRequest::default();
        assert_eq!(
            request.apply_to(Next::Failed, Some(second)),
            NextPass { when: Next::Failed, at_most: Some(second) }
        );
        assert_eq!(request.apply_to(Next::Requeue, Some(second)), NextPass::from(Next::Requeue));
    }

    #[test]
    fn manager_m47_the_result_of_a_pass_is_that_of_controller_runtime() {
        let name = |next: Next| next.kind().map(PassKind::as_str);
        assert_eq!(name(Next::Resync), Some("success"));
        assert_eq!(name(Next::After(Duration::ZERO)), Some("requeue_after"));
        assert_eq!(name(Next::Retry), Some("requeue"));
        assert_eq!((name(Next::Failed), name(Next::Parked)), (Some("error"), Some("error")));
    }
}

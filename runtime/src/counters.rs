//! Counters of a running operator, for metrics.

use crate::{kind::Kind, panic::Closure};
use parking_lot::Mutex;
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// Counters of an operator since it was made, for the metrics of your own exporter; from
/// [`Operator::counters`](crate::Operator::counters). Clones count together.
///
/// ```
/// let operator = opgen::Operator::new("webapp");
/// let counters = operator.counters();
/// assert_eq!((counters.fights(), counters.throttled()), (0, 0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Counters(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    fights: AtomicU64,
    throttled: AtomicU64,
    panics: [AtomicU64; Closure::ALL.len()],
    task_restarts: AtomicU64,
    timeouts: AtomicU64,
    orphans: Mutex<BTreeMap<Kind, Orphans>>,
}

/// What the collection of orphans of a kind came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Orphans {
    /// Children that were deleted because their owner is gone.
    pub deleted: u64,
    /// Children that could not be looked at or deleted, each try counted.
    pub failed: u64,
}

impl Counters {
    /// Passes that ended with the reason `Fighting`: a child was repaired again and again. Each is held back by the backoff of its
    /// controller.
    pub fn fights(&self) -> u64 {
        self.0.fights.load(Ordering::Relaxed)
    }

    /// Answers of the API server with 429 or 503 and a `Retry-After`, after which the client sent nothing for a while.
    pub fn throttled(&self) -> u64 {
        self.0.throttled.load(Ordering::Relaxed)
    }

    /// How often user code of this kind panicked.
    pub fn panics(&self, closure: Closure) -> u64 {
        self.0.panics.get(closure as usize).map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// How often a task of the runtime (an informer, the collection of orphans, …) ended unexpectedly and was started again.
    pub fn task_restarts(&self) -> u64 {
        self.0.task_restarts.load(Ordering::Relaxed)
    }

    /// How many calls and watches ended because of a [`Timeouts`](crate::Timeouts) of the operator.
    pub fn timeouts(&self) -> u64 {
        self.0.timeouts.load(Ordering::Relaxed)
    }

    /// What the collection of orphans came to, by the kind of the children. Only kinds that had an orphan or a failure.
    pub fn orphans(&self) -> BTreeMap<Kind, Orphans> {
        self.0.orphans.lock().clone()
    }

    pub(crate) fn count_orphan(&self, kind: &Kind, is_deleted: bool) {
        let mut orphans = self.0.orphans.lock();
        let counts = orphans.entry(kind.clone()).or_default();
        if is_deleted {
            counts.deleted += 1;
        } else {
            counts.failed += 1;
        }
    }

    pub(crate) fn count_panic(&self, closure: Closure) {
        if let Some(count) = self.0.panics.get(closure as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn count_task_restart(&self) {
        self.0.task_restarts.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_timeout(&self) {
        self.0.timeouts.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_fight(&self) {
        self.0.fights.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_throttled(&self) {
        self.0.throttled.fetch_add(1, Ordering::Relaxed);
    }
}

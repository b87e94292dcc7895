//! Counts panics, timeouts, orphans and other events of an operator, for a metrics exporter.

use crate::kind::Kind;
pub use crate::panic::Closure;
use parking_lot::Mutex;
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// Counters of an operator since its creation, for your own metrics exporter; see
/// [`Operator::counters`](crate::Operator::counters). Clones share the counts.
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
    unconverted_fields: AtomicU64,
    orphans: Mutex<BTreeMap<Kind, Orphans>>,
}

/// The results of the orphan collection for one kind of children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Orphans {
    /// Children that were deleted because their owner is gone.
    pub deleted: u64,
    /// Failed attempts to read or delete a child.
    pub failed: u64,
}

impl Counters {
    /// Returns the number of passes that ended with the reason `Fighting`: the operator had to repair an object again and again, or passes
    /// of several objects caused each other without end. The pass after each of them is delayed by the backoff of its controller.
    pub fn fights(&self) -> u64 {
        self.0.fights.load(Ordering::Relaxed)
    }

    /// Returns the number of responses 429 or 503 with a `Retry-After`, after which the client sent nothing for a while. Those of other
    /// clusters are only in the metrics of these clusters.
    pub fn throttled(&self) -> u64 {
        self.0.throttled.load(Ordering::Relaxed)
    }

    /// Returns the number of panics in user code of this kind.
    pub fn panics(&self, closure: Closure) -> u64 {
        self.0.panics.get(closure as usize).map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// Returns the number of times that a task of the runtime (an informer, the orphan collector, …) ended unexpectedly and
    /// restarted.
    pub fn task_restarts(&self) -> u64 {
        self.0.task_restarts.load(Ordering::Relaxed)
    }

    /// Returns the number of calls and watches that a [`Timeouts`](crate::Timeouts) of the operator ended. Those of other clusters are only
    /// in the metrics of these clusters.
    pub fn timeouts(&self) -> u64 {
        self.0.timeouts.load(Ordering::Relaxed)
    }

    /// Returns the number of times that a field of an object could not be converted to another version of its kind.
    pub fn unconverted_fields(&self) -> u64 {
        self.0.unconverted_fields.load(Ordering::Relaxed)
    }

    /// Returns the results of the orphan collection by the kind of the children, for kinds with an orphan or a failure.
    pub fn orphans(&self) -> BTreeMap<Kind, Orphans> {
        self.0.orphans.lock().clone()
    }

    /// Counts the result of the orphan collection for one child of a kind whose owner is gone: `is_deleted`, or else a failed attempt.
    pub(crate) fn count_orphan(&self, kind: &Kind, is_deleted: bool) {
        let mut orphans = self.0.orphans.lock();
        let counts = orphans.entry(kind.clone()).or_default();
        if is_deleted {
            counts.deleted += 1;
        } else {
            counts.failed += 1;
        }
    }

    /// Counts a panic in user code of this kind.
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

    pub(crate) fn count_unconverted_fields(&self, count: usize) {
        self.0.unconverted_fields.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn count_fight(&self) {
        self.0.fights.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_throttled(&self) {
        self.0.throttled.fetch_add(1, Ordering::Relaxed);
    }
}

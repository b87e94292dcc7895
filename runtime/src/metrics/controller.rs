//! `ControllerMetrics`: the metrics of one controller, such as the number, the results and the durations of its reconcile passes.

use crate::{
    metrics::{
        histogram::{Histogram, PASS_BUCKETS},
        label::LabelCounts,
    },
    queue::Timings,
    spans::context::TraceContext,
};
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// The result of a pass, as controller-runtime names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PassKind {
    Success,
    Error,
    Requeue,
    RequeueAfter,
}

impl PassKind {
    pub(crate) const ALL: [Self; 4] = [Self::Success, Self::Error, Self::Requeue, Self::RequeueAfter];

    /// Returns the value of the label `result`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Requeue => "requeue",
            Self::RequeueAfter => "requeue_after",
        }
    }
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct RunningTotal(AtomicU64);

impl RunningTotal {
    pub(crate) fn increment(&self) {
        self.add(1);
    }

    pub(crate) fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The metrics of one controller. Workers and passes hold them by reference, so that no pass looks up a label.
#[derive(Debug)]
pub(crate) struct ControllerMetrics {
    /// The value of the labels `controller` and `name`.
    pub(crate) name: String,
    results: [RunningTotal; PassKind::ALL.len()],
    /// Passes that ended with an error that only a change of the object can resolve.
    pub(crate) terminal_errors: RunningTotal,
    pub(crate) panics: RunningTotal,
    pub(crate) retries: RunningTotal,
    /// Passes that were skipped because the cache did not show an own write yet.
    pub(crate) skipped: RunningTotal,
    pub(crate) fights: RunningTotal,
    /// Children that the fast path found unchanged.
    pub(crate) unchanged_children: RunningTotal,
    pub(crate) yields: LabelCounts,
    pub(crate) errors: LabelCounts,
    pub(crate) duration: Histogram,
    pub(crate) timings: Timings,
}

impl ControllerMetrics {
    /// Returns metrics of a controller with this name and this number of workers.
    pub(crate) fn new(name: &str, workers: usize) -> Self {
        Self {
            name: name.to_owned(),
            results: Default::default(),
            terminal_errors: RunningTotal::default(),
            panics: RunningTotal::default(),
            retries: RunningTotal::default(),
            skipped: RunningTotal::default(),
            fights: RunningTotal::default(),
            unchanged_children: RunningTotal::default(),
            yields: LabelCounts::default(),
            errors: LabelCounts::default(),
            duration: Histogram::new(PASS_BUCKETS),
            timings: Timings::new(workers),
        }
    }

    /// Counts a reconcile pass by its result, and adds its duration to the histogram. `trace` is the span of the pass if spans are
    /// exported; it becomes the exemplar of the duration.
    pub(crate) fn count_pass(&self, kind: PassKind, duration: Duration, trace: Option<&TraceContext>) {
        self.results[kind as usize].increment();
        self.duration.observe_traced(duration, trace);
    }

    /// Returns the number of passes with this result.
    pub(crate) fn passes(&self, kind: PassKind) -> u64 {
        self.results[kind as usize].get()
    }
}

impl Default for ControllerMetrics {
    /// Returns metrics of a controller without a name and without workers, for unit tests.
    fn default() -> Self {
        Self::new("", 0)
    }
}

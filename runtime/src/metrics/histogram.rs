//! `Histogram`: durations in fixed buckets, counted with atomic operations only.

use crate::spans::context::TraceContext;
use parking_lot::Mutex;
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

/// The upper bounds of the buckets of a pass, in seconds, as in controller-runtime.
pub(crate) const PASS_BUCKETS: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5,
    1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0,
];

/// The upper bounds of the buckets of a work queue, in seconds, as in controller-runtime: powers of ten from 10 ns to 1000 s.
pub(crate) const QUEUE_BUCKETS: &[f64] = &[1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0];

/// The upper bounds of the buckets of a call, in seconds, as in client-go.
pub(crate) const CALL_BUCKETS: &[f64] = &[0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0];

/// The number of observed durations by bucket, and their sum.
#[derive(Debug)]
pub(crate) struct Histogram {
    bounds: &'static [f64],
    /// The upper bounds in nanoseconds.
    bounds_nanos: Box<[u64]>,
    /// One count for each bound, and one for longer durations, in order.
    counts: Box<[CountLine]>,
    sum_nanos: AtomicU64,
    /// The last duration of each bucket that was observed in an exported span.
    exemplars: Mutex<BTreeMap<usize, SpanExemplar>>,
}

/// The number of counts in a line.
const LINE: usize = 16;

/// Counts that share no cache line with those of another histogram: else threads that count in different histograms would wait for
/// each other. The alignment is that of a pair of cache lines, which some processors load at once.
#[derive(Debug, Default)]
#[repr(align(128))]
struct CountLine([AtomicU64; LINE]);

/// The values of a histogram at one time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HistogramValues {
    pub(crate) sum: f64,
    pub(crate) count: u64,
    /// The upper bound of each bucket and the durations in this bucket alone.
    pub(crate) buckets: Vec<(f64, u64)>,
    /// The exemplar of each bucket that has one.
    pub(crate) exemplars: BTreeMap<usize, SpanExemplar>,
}

/// A duration with the span in which it was measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SpanExemplar {
    pub(crate) trace_id: String,
    pub(crate) span_id: String,
    pub(crate) seconds: f64,
    pub(crate) time: SystemTime,
}

impl Histogram {
    /// Returns an empty histogram with these upper bounds, which must be sorted.
    pub(crate) fn new(bounds: &'static [f64]) -> Self {
        let counts = (0..=bounds.len() / LINE).map(|_| CountLine::default()).collect();
        let bounds_nanos = bounds.iter().map(|bound| nanos(Duration::from_secs_f64(*bound))).collect();
        Self { bounds, bounds_nanos, counts, sum_nanos: AtomicU64::new(0), exemplars: Mutex::default() }
    }

    /// Counts a duration.
    pub(crate) fn observe(&self, duration: Duration) {
        self.observe_traced(duration, None);
    }

    /// Counts a duration in a histogram that no other thread changes at the same time. So a load and a store suffice, which are cheaper
    /// than the atomic additions of [`Histogram::observe`].
    pub(crate) fn observe_alone(&self, duration: Duration) {
        let nanos = nanos(duration);
        let add = |counter: &AtomicU64, more: u64| {
            counter.store(counter.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
        };
        if let Some(count) = self.count(self.bucket(nanos)) {
            add(count, 1);
        }
        add(&self.sum_nanos, nanos);
    }

    /// Returns the counter of the bucket with this number.
    fn count(&self, bucket: usize) -> Option<&AtomicU64> {
        self.counts.get(bucket / LINE).and_then(|line| line.0.get(bucket % LINE))
    }

    /// Returns the number of the bucket that counts a duration: the first one whose upper bound is not exceeded.
    fn bucket(&self, nanos: u64) -> usize {
        self.bounds_nanos.partition_point(|bound| *bound < nanos)
    }

    /// Counts a duration. If it was measured in an exported `span`, it also replaces the exemplar of its bucket.
    pub(crate) fn observe_traced(&self, duration: Duration, span: Option<&TraceContext>) {
        let nanos = nanos(duration);
        let bucket = self.bucket(nanos);
        if let Some(span) = span {
            let seconds = duration.as_secs_f64();
            let (trace_id, span_id) = (span.trace_id_text(), span.span_id_text());
            let exemplar = SpanExemplar { trace_id, span_id, seconds, time: SystemTime::now() };
            self.exemplars.lock().insert(bucket, exemplar);
        }
        if let Some(count) = self.count(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Returns the current values. They are read one after the other, so a duration that is counted meanwhile may be in the sum and not in
    /// its bucket, or the reverse.
    pub(crate) fn values(&self) -> HistogramValues {
        let counts = self.counts.iter().flat_map(|line| &line.0).map(|count| count.load(Ordering::Relaxed));
        let bounds = self.bounds.iter().copied().chain([f64::INFINITY]);
        let buckets: Vec<_> = bounds.zip(counts).collect();
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = Duration::from_nanos(self.sum_nanos.load(Ordering::Relaxed)).as_secs_f64();
        HistogramValues { sum, count, buckets, exemplars: self.exemplars.lock().clone() }
    }
}

/// Returns a duration in nanoseconds.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl HistogramValues {
    /// Adds the values of a histogram with the same bounds.
    pub(crate) fn add(&mut self, other: Self) {
        self.sum += other.sum;
        self.count += other.count;
        self.buckets.iter_mut().zip(other.buckets).for_each(|((_, count), (_, more))| *count += more);
        self.exemplars.extend(other.exemplars);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_in_the_first_bucket_whose_bound_it_does_not_exceed() {
        let histogram = Histogram::new(&[0.005, 1.0]);
        for millis in [0, 5, 6, 1000, 1001] {
            histogram.observe(Duration::from_millis(millis));
            histogram.observe_alone(Duration::from_millis(millis));
        }
        let values = histogram.values();
        assert_eq!(values.buckets, [(0.005, 4), (1.0, 4), (f64::INFINITY, 2)]);
        assert_eq!((values.count, values.sum), (10, 4.024));
    }

    #[test]
    fn bounds_are_sorted() {
        for bounds in [PASS_BUCKETS, QUEUE_BUCKETS, CALL_BUCKETS] {
            assert!(bounds.is_sorted());
        }
        assert_eq!((PASS_BUCKETS.len(), QUEUE_BUCKETS.len(), CALL_BUCKETS.len()), (40, 12, 12));
    }
}

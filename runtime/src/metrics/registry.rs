//! `Metrics`: all metrics of one operator, and their exposition as text.

use super::{
    calls::CallMetrics,
    clusters::{self, ClusterMetrics},
    controller::{ControllerMetrics, PassKind},
    exemplar,
    live::{ControllerValues, LiveOperator, WATCH_STATES},
    process,
    sample::MetricSamples,
    table::{
        ACTIVE_WORKERS, CACHE_BYTES, CACHE_OBJECTS, CALL_DURATION, CALLS_AVOIDED, ERRORS, FIGHTS, LONGEST_RUNNING,
        MASTER_STATUS, MAX_CONCURRENT, ORPHANS, PANICS, QUEUE_ADDS, QUEUE_DEPTH, QUEUE_DURATION, QUEUE_RETRIES,
        RECONCILE_ERRORS, RECONCILE_PANICS, RECONCILE_TIME, RECONCILE_TOTAL, REST_DURATION, REST_REQUESTS, SHARDS_HELD,
        SKIPPED, TASK_RESTARTS, TERMINAL_ERRORS, THROTTLED, TIMEOUTS, UNCONVERGED, UNCONVERGED_OBJECTS,
        UNCONVERTED_FIELDS, UNFINISHED_WORK, WATCH_RESTARTS, WATCHES, WORK_DURATION, YIELDS,
    },
    text,
};
use crate::{
    counters::{Counters, Orphans},
    panic::Closure,
    shard::gate::Shards,
};
use parking_lot::Mutex;
use prometheus_client::{encoding, registry::Registry};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Weak},
};
use tokio::time::Instant;

/// The host of the API server if the caller of [`Operator::run_with`](crate::Operator::run_with) created the client.
const UNKNOWN_HOST: &str = "unknown";

/// The metrics of an operator; see [`Operator::metrics`](crate::Operator::metrics). Clones share the values.
///
/// ```
/// let metrics = opgen::Operator::new("webapp").metrics();
/// assert!(metrics.text()?.contains("# TYPE opgen_throttled_total counter\nopgen_throttled_total 0\n"));
/// # Ok::<(), std::fmt::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Values>);

/// The values of [`Metrics`], which its clones share.
#[derive(Debug)]
struct Values {
    operator: String,
    counters: Counters,
    calls: CallMetrics,
    clusters: ClusterMetrics,
    host: Mutex<Option<String>>,
    controllers: Mutex<BTreeMap<String, Arc<ControllerMetrics>>>,
    /// Whether this process leads, by the name of the lock.
    leaderships: Mutex<BTreeMap<String, bool>>,
    /// The shards of this process, if the operator has any.
    shards: Mutex<Option<Shards>>,
    live: Mutex<Option<Weak<dyn LiveOperator>>>,
    registries: Mutex<Vec<Arc<Registry>>>,
}

impl Metrics {
    /// Returns metrics of an operator with these counters.
    pub(crate) fn new(operator: &str, counters: Counters) -> Self {
        Self(Arc::new(Values {
            operator: operator.to_owned(),
            counters,
            calls: CallMetrics::default(),
            clusters: ClusterMetrics::default(),
            host: Mutex::default(),
            controllers: Mutex::default(),
            leaderships: Mutex::default(),
            shards: Mutex::default(),
            live: Mutex::new(None),
            registries: Mutex::default(),
        }))
    }

    /// Returns all metrics in the text format of OpenMetrics 1.0.
    ///
    /// # Errors
    /// Fails if a metric of an added registry can't be encoded.
    pub fn open_metrics(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        let mut registry = Registry::default();
        let samples = self.samples();
        let exemplars = samples.exemplars();
        registry.register_collector(Box::new(samples));
        encoding::text::encode_registry(&mut text, &registry)?;
        if !exemplars.is_empty() {
            text = exemplar::append(&text, &exemplars);
        }
        let registries = self.0.registries.lock().clone();
        registries.iter().try_for_each(|added| encoding::text::encode_registry(&mut text, added))?;
        encoding::text::encode_eof(&mut text)?;
        Ok(text)
    }

    /// Returns all metrics in the text format 0.0.4 of Prometheus.
    ///
    /// # Errors
    /// As [`Metrics::open_metrics`].
    pub fn text(&self) -> Result<String, fmt::Error> {
        Ok(text::convert(&self.open_metrics()?))
    }

    /// Adds metrics of the user, which follow those of the operator.
    pub(crate) fn add_registry(&self, registry: Arc<Registry>) {
        self.0.registries.lock().push(registry);
    }

    /// Adds the user's registries of another operator in the same process to these.
    pub(crate) fn adopt(&self, other: &Self) {
        let registries = other.0.registries.lock().clone();
        self.0.registries.lock().extend(registries);
    }

    /// Returns the counters of the operator.
    pub(crate) fn counters(&self) -> &Counters {
        &self.0.counters
    }

    /// Returns the metrics of the calls in the operator's own cluster.
    pub(crate) fn calls(&self) -> &CallMetrics {
        &self.0.calls
    }

    pub(crate) fn clusters(&self) -> &ClusterMetrics {
        &self.0.clusters
    }

    /// Returns the metrics of a controller. A later run of the operator in this process continues the counters of the earlier one.
    pub(crate) fn controller(&self, name: &str, workers: usize) -> Arc<ControllerMetrics> {
        let mut controllers = self.0.controllers.lock();
        controllers.entry(name.to_owned()).or_insert_with(|| Arc::new(ControllerMetrics::new(name, workers))).clone()
    }

    /// Sets whether this process holds the lock of a leader election. An operator without leader election never calls this method; its
    /// metric `leader_election_master_status` is 1.
    pub(crate) fn set_leader(&self, lock: &str, leads: bool) {
        self.0.leaderships.lock().insert(lock.to_owned(), leads);
    }

    /// Sets the shards of this process.
    pub(crate) fn set_shards(&self, shards: Shards) {
        *self.0.shards.lock() = Some(shards);
    }

    /// Sets the host of the API server.
    pub(crate) fn set_host(&self, host: &str) {
        *self.0.host.lock() = Some(host.to_owned());
    }

    /// Sets the running operator whose queues, caches and watches each scrape reads, until the operator is dropped.
    pub(crate) fn observe(&self, operator: &Arc<dyn LiveOperator>) {
        *self.0.live.lock() = Some(Arc::downgrade(operator));
    }

    /// Collects the current values of all metrics. The values of queues, caches, watches, other clusters and leader election exist only
    /// while an operator runs.
    fn samples(&self) -> MetricSamples {
        let mut samples = MetricSamples::default();
        let live = self.0.live.lock().as_ref().and_then(Weak::upgrade);
        for metrics in self.0.controllers.lock().values() {
            add_passes(&mut samples, metrics);
        }
        if let Some(live) = &live {
            live.controllers().iter().for_each(|values| add_queue(&mut samples, values));
            add_watches(&mut samples, live.as_ref());
            clusters::add(&mut samples, live.clusters());
            self.add_leaderships(&mut samples);
        }
        self.add_calls(&mut samples);
        self.add_counters(&mut samples, live.as_deref());
        self.add_orphans(&mut samples, live.as_deref());
        process::add(&mut samples);
        samples
    }

    /// Adds for each lock of a leader election whether this process holds it, and the number of shards whose Leases this process holds.
    fn add_leaderships(&self, samples: &mut MetricSamples) {
        let leaderships = self.0.leaderships.lock();
        // Without leader election every process may act, so it counts as the leader.
        if leaderships.is_empty() {
            samples.add(&MASTER_STATUS, &[&self.0.operator], 1_u64);
        }
        for (lock, leads) in leaderships.iter() {
            samples.add(&MASTER_STATUS, &[lock], u64::from(*leads));
        }
        let held = self.0.shards.lock().as_ref().map_or(0, Shards::held_number);
        samples.add(&SHARDS_HELD, &[], u64::from(held));
    }

    /// Adds the counts and durations of the calls to the API server.
    fn add_calls(&self, samples: &mut MetricSamples) {
        let host = self.0.host.lock();
        let host = host.as_deref().unwrap_or(UNKNOWN_HOST);
        for ((code, method), count) in self.0.calls.requests() {
            samples.add(&REST_REQUESTS, &[&code, host, &method], count);
        }
        for (method, durations) in self.0.calls.methods() {
            samples.add(&REST_DURATION, &[&method, host], durations);
        }
        for ((verb, resource), durations) in self.0.calls.targets() {
            samples.add(&CALL_DURATION, &[verb, &resource], durations);
        }
    }

    /// Adds the counters of the operator, except those of orphans.
    fn add_counters(&self, samples: &mut MetricSamples, live: Option<&dyn LiveOperator>) {
        let counters = &self.0.counters;
        // Panics while a watch event is processed are counted by the watch. They are panics of the runtime.
        let watch_panics =
            live.map(LiveOperator::watches).unwrap_or_default().values().map(|watch| watch.panics).sum::<u64>();
        for closure in Closure::ALL {
            let watch_panics = if closure == Closure::Runtime { watch_panics } else { 0 };
            samples.add(&PANICS, &[closure.as_str()], counters.panics(closure) + watch_panics);
        }
        samples.add(&TASK_RESTARTS, &[], counters.task_restarts());
        samples.add(&TIMEOUTS, &[], counters.timeouts());
        samples.add(&THROTTLED, &[], counters.throttled());
        samples.add(&UNCONVERTED_FIELDS, &[], counters.unconverted_fields());
    }

    /// Adds the counters of orphans, which are children whose owner is gone. Each kind of children has its series from the start, with the
    /// value zero.
    fn add_orphans(&self, samples: &mut MetricSamples, live: Option<&dyn LiveOperator>) {
        let children = live.map(LiveOperator::children).unwrap_or_default();
        let mut orphans: BTreeMap<_, _> = children.into_iter().map(|kind| (kind, Orphans::default())).collect();
        orphans.extend(self.0.counters.orphans());
        for (kind, orphans) in orphans {
            samples.add(&ORPHANS, &[&kind.full_name(), "deleted"], orphans.deleted);
            samples.add(&ORPHANS, &[&kind.full_name(), "failed"], orphans.failed);
        }
    }
}

/// Adds the counters and durations of a controller's passes and of its queue.
fn add_passes(samples: &mut MetricSamples, metrics: &ControllerMetrics) {
    let name = metrics.name.as_str();
    for kind in PassKind::ALL {
        samples.add(&RECONCILE_TOTAL, &[name, kind.as_str()], metrics.passes(kind));
    }
    samples.add(&RECONCILE_ERRORS, &[name], metrics.passes(PassKind::Error));
    samples.add(&TERMINAL_ERRORS, &[name], metrics.terminal_errors.get());
    samples.add(&RECONCILE_PANICS, &[name], metrics.panics.get());
    samples.add(&RECONCILE_TIME, &[name], metrics.duration.values());
    samples.add(&FIGHTS, &[name], metrics.fights.get());
    samples.add(&SKIPPED, &[name], metrics.skipped.get());
    samples.add(&CALLS_AVOIDED, &[name], metrics.unchanged_children.get());
    for (metric, counts) in [(&YIELDS, &metrics.yields), (&ERRORS, &metrics.errors)] {
        for (reason, count) in counts.values() {
            samples.add(metric, &[name, &reason], count);
        }
    }
    let (timings, held) = (&metrics.timings, metrics.timings.held_keys(Instant::now()));
    samples.add(&MAX_CONCURRENT, &[name], timings.workers());
    samples.add(&ACTIVE_WORKERS, &[name], held.count);
    samples.add(&QUEUE_DURATION, &[name, name], timings.waits());
    samples.add(&WORK_DURATION, &[name, name], timings.work());
    samples.add(&UNFINISHED_WORK, &[name, name], held.total.as_secs_f64());
    samples.add(&LONGEST_RUNNING, &[name, name], held.longest.as_secs_f64());
    samples.add(&QUEUE_RETRIES, &[name, name], metrics.retries.get());
}

/// Adds the length of a controller's queue by priority, the number of its adds, and the number and the age of unready objects.
fn add_queue(samples: &mut MetricSamples, values: &ControllerValues) {
    let (name, queue) = (values.name.as_str(), &values.queue);
    for (priority, depth) in [("100", queue.high), ("0", queue.normal), ("-100", queue.low)] {
        samples.add(&QUEUE_DEPTH, &[name, name, priority], depth);
    }
    samples.add(&QUEUE_ADDS, &[name, name], queue.added);
    let (count, longest) = values.unconverged;
    samples.add(&UNCONVERGED, &[name], longest.as_secs_f64());
    samples.add(&UNCONVERGED_OBJECTS, &[name], count);
}

/// Adds the caches and the watches of a running operator.
fn add_watches(samples: &mut MetricSamples, live: &dyn LiveOperator) {
    for (resource, cache) in live.caches() {
        samples.add(&CACHE_OBJECTS, &[&resource], cache.objects);
        samples.add(&CACHE_BYTES, &[&resource], cache.bytes);
    }
    for (resource, watches) in live.watches() {
        for (state, count) in WATCH_STATES.iter().zip(watches.states) {
            samples.add(&WATCHES, &[&resource, state], count);
        }
        samples.add(&WATCH_RESTARTS, &[&resource], watches.restarts);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn manager_m47_the_series_of_a_controller_exist_before_its_first_pass() {
        let metrics = Metrics::new("shop", Counters::default());
        let controller = metrics.controller("shop", 3);
        let text = metrics.text().unwrap();
        for line in [
            "controller_runtime_reconcile_total{controller=\"shop\",result=\"success\"} 0",
            "controller_runtime_reconcile_total{controller=\"shop\",result=\"error\"} 0",
            "controller_runtime_reconcile_total{controller=\"shop\",result=\"requeue\"} 0",
            "controller_runtime_reconcile_total{controller=\"shop\",result=\"requeue_after\"} 0",
            "controller_runtime_reconcile_errors_total{controller=\"shop\"} 0",
            "controller_runtime_terminal_reconcile_errors_total{controller=\"shop\"} 0",
            "controller_runtime_reconcile_panics_total{controller=\"shop\"} 0",
            "controller_runtime_max_concurrent_reconciles{controller=\"shop\"} 3",
            "controller_runtime_active_workers{controller=\"shop\"} 0",
            "workqueue_retries_total{name=\"shop\",controller=\"shop\"} 0",
            "workqueue_work_duration_seconds_count{name=\"shop\",controller=\"shop\"} 0",
            "opgen_yields_total{controller=\"shop\",reason=\"other\"} 0",
        ] {
            assert!(text.lines().any(|actual| actual == line), "{line} is not in\n{text}");
        }
        controller.count_pass(PassKind::Error, Duration::from_millis(30), None);
        let text = metrics.text().unwrap();
        for line in [
            "# HELP controller_runtime_reconcile_time_seconds Duration of a pass of a controller",
            "# TYPE controller_runtime_reconcile_time_seconds histogram",
            "controller_runtime_reconcile_time_seconds_bucket{le=\"0.025\",controller=\"shop\"} 0",
            "controller_runtime_reconcile_time_seconds_bucket{le=\"0.05\",controller=\"shop\"} 1",
            "controller_runtime_reconcile_time_seconds_bucket{le=\"+Inf\",controller=\"shop\"} 1",
            "controller_runtime_reconcile_time_seconds_sum{controller=\"shop\"} 0.03",
            "controller_runtime_reconcile_errors_total{controller=\"shop\"} 1",
        ] {
            assert!(text.lines().any(|actual| actual == line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn the_metrics_of_the_user_follow_those_of_the_operator() {
        let metrics = Metrics::new("shop", Counters::default());
        let mut registry = Registry::default();
        let sold = prometheus_client::metrics::counter::Counter::<u64>::default();
        registry.register("shop_sold", "Sold books", sold.clone());
        metrics.add_registry(registry.into());
        sold.inc();
        assert!(metrics.open_metrics().unwrap().ends_with("shop_sold_total 1\n# EOF\n"));
    }
}

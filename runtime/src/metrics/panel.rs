//! Derives the panels of the Grafana dashboard, with their units and queries, from the table of metrics, and orders them in rows.

use super::{
    metric::{Metric, MetricKind},
    table::{
        ACTIVE_WORKERS, CACHE_BYTES, CACHE_OBJECTS, CALL_DURATION, CALLS_AVOIDED, CLUSTER_OBJECTS, CLUSTER_OWNERS,
        CLUSTER_REACHABLE, CLUSTER_REQUESTS, CLUSTER_THROTTLED, CLUSTER_TIMEOUTS, ERRORS, FIGHTS, LONGEST_RUNNING,
        MASTER_STATUS, MAX_CONCURRENT, ORPHANS, PANICS, PROCESS_CPU, PROCESS_FDS, PROCESS_MAX_FDS, PROCESS_RESIDENT,
        PROCESS_START, PROCESS_VIRTUAL, QUEUE_ADDS, QUEUE_DEPTH, QUEUE_DURATION, QUEUE_RETRIES, RECONCILE_ERRORS,
        RECONCILE_PANICS, RECONCILE_TIME, RECONCILE_TOTAL, REST_DURATION, REST_REQUESTS, SHARDS_HELD, SKIPPED,
        TASK_RESTARTS, TASKS, TERMINAL_ERRORS, THROTTLED, TIMEOUTS, UNCONVERGED, UNCONVERGED_OBJECTS,
        UNCONVERTED_FIELDS, UNFINISHED_WORK, WATCH_RESTARTS, WATCHES, WORK_DURATION, YIELDS,
    },
};

/// The label that the dashboard has a variable for.
const CONTROLLER: &str = "controller";

/// The matcher of that variable.
const CHOSEN_CONTROLLER: &str = "controller=~\"$controller\"";

/// The metric whose series have the names of all controllers.
pub(crate) const CONTROLLERS: &Metric = &MAX_CONCURRENT;

/// The quantiles that are shown of a histogram, with their names in the legend.
const QUANTILES: [(&str, &str); 2] = [("0.5", "p50"), ("0.99", "p99")];

/// All metrics in the rows of the dashboard, with the title of each row.
const ROWS: &[(&str, &[Metric])] = &[
    ("Objects", &[UNCONVERGED, UNCONVERGED_OBJECTS, YIELDS, ERRORS, FIGHTS, ORPHANS, UNCONVERTED_FIELDS]),
    (
        "Passes",
        &[
            RECONCILE_TOTAL,
            RECONCILE_ERRORS,
            TERMINAL_ERRORS,
            RECONCILE_TIME,
            ACTIVE_WORKERS,
            MAX_CONCURRENT,
            SKIPPED,
            CALLS_AVOIDED,
            RECONCILE_PANICS,
        ],
    ),
    (
        "Queues",
        &[QUEUE_DEPTH, QUEUE_ADDS, QUEUE_RETRIES, QUEUE_DURATION, WORK_DURATION, LONGEST_RUNNING, UNFINISHED_WORK],
    ),
    ("Calls of the API server", &[REST_REQUESTS, REST_DURATION, CALL_DURATION, TIMEOUTS, THROTTLED]),
    ("Watches and caches", &[WATCHES, WATCH_RESTARTS, CACHE_OBJECTS, CACHE_BYTES]),
    (
        "Other clusters",
        &[CLUSTER_REACHABLE, CLUSTER_REQUESTS, CLUSTER_TIMEOUTS, CLUSTER_THROTTLED, CLUSTER_OBJECTS, CLUSTER_OWNERS],
    ),
    (
        "Process",
        &[
            MASTER_STATUS,
            SHARDS_HELD,
            PANICS,
            TASK_RESTARTS,
            PROCESS_CPU,
            PROCESS_RESIDENT,
            PROCESS_VIRTUAL,
            PROCESS_FDS,
            PROCESS_MAX_FDS,
            TASKS,
            PROCESS_START,
        ],
    ),
];

/// One query of a panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Query {
    /// The query in PromQL, with variables of Grafana.
    pub(crate) expression: String,
    /// The template of the name of a series in the legend.
    pub(crate) legend: String,
}

/// One panel of the dashboard: a graph of one metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Panel {
    pub(crate) metric: &'static Metric,
    /// The unit of the graph, as Grafana names it.
    pub(crate) unit: &'static str,
    pub(crate) queries: Vec<Query>,
}

/// Returns the rows of the dashboard: their titles and panels. `matchers` select the series of the operator.
pub(crate) fn rows(matchers: &str) -> impl Iterator<Item = (&'static str, Vec<Panel>)> {
    ROWS.iter().map(move |(title, metrics)| (*title, metrics.iter().map(|metric| panel(metric, matchers)).collect()))
}

/// Returns the panel of a metric: the rate of a counter, the value of a gauge, or quantiles of a histogram.
fn panel(metric: &'static Metric, matchers: &str) -> Panel {
    // The metrics of a queue have the name of the controller in the label `name`, too, which the queries omit.
    let has_controller = metric.labels.contains(&CONTROLLER);
    let labels: Vec<_> = metric.labels.iter().copied().filter(|label| !(has_controller && *label == "name")).collect();
    let matchers = if has_controller { format!("{matchers},{CHOSEN_CONTROLLER}") } else { matchers.to_owned() };
    let legend = labels.iter().map(|label| format!("{{{{{label}}}}}")).collect::<Vec<_>>().join(" ");
    let (name, by) = (metric.name, labels.join(", "));
    let rate = |suffix: &str| format!("rate({name}{suffix}{{{matchers}}}[$__rate_interval])");
    let value = format!("{name}{{{matchers}}}");
    let queries = match metric.kind {
        MetricKind::Histogram => QUANTILES
            .map(|(quantile, title)| Query {
                expression: format!("histogram_quantile({quantile}, sum by (le, {by}) ({}))", rate("_bucket")),
                legend: format!("{title} {legend}"),
            })
            .into(),
        // A metric without labels is one of the process: the replicas are not summed, and the legend names each of them.
        _ if labels.is_empty() => {
            let expression = match metric.kind {
                MetricKind::Counter => rate(""),
                _ if metric.name == PROCESS_START.name => format!("time() - {value}"),
                _ => value,
            };
            vec![Query { expression, legend: "{{instance}}".to_owned() }]
        }
        MetricKind::Counter => vec![Query { expression: format!("sum by ({by}) ({})", rate("")), legend }],
        MetricKind::Gauge => {
            let aggregate = match metric.unit {
                // Durations of several replicas have no meaningful sum.
                "seconds" => "max",
                // Each replica has connections of its own.
                _ if metric.name == CLUSTER_REACHABLE.name => "min",
                _ => "sum",
            };
            vec![Query { expression: format!("{aggregate} by ({by}) ({value})"), legend }]
        }
    };
    Panel { metric, unit: unit(metric), queries }
}

/// Returns the unit of a panel, as Grafana names it.
fn unit(metric: &Metric) -> &'static str {
    match (metric.kind, metric.unit) {
        // Seconds of CPU per second are the number of busy cores.
        (MetricKind::Counter, "seconds") => "none",
        (MetricKind::Counter, _) => "cps",
        (_, "seconds") => "s",
        (_, "bytes") => "bytes",
        _ => "short",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::TABLE;

    #[test]
    fn every_metric_has_one_panel() {
        let mut shown: Vec<_> = ROWS.iter().flat_map(|(_, metrics)| metrics.iter().map(|metric| metric.name)).collect();
        let mut listed: Vec<_> = TABLE.iter().map(|metric| metric.name).collect();
        shown.sort_unstable();
        listed.sort_unstable();
        assert_eq!(shown, listed);
    }

    #[test]
    fn queries_follow_from_the_type_the_unit_and_the_labels() {
        let first_query = |metric| panel(metric, "job=\"a\"").queries.into_iter().map(|query| query.expression).next();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            first_query(&QUEUE_ADDS),
            some(
                "sum by (controller) (rate(workqueue_adds_total{job=\"a\",controller=~\"$controller\"}[$__rate_interval]))"
            )
        );
        assert_eq!(first_query(&CACHE_BYTES), some("sum by (resource) (opgen_cache_bytes{job=\"a\"})"));
        assert_eq!(
            first_query(&CLUSTER_REACHABLE),
            some("min by (kubeconfig) (opgen_remote_cluster_reachable{job=\"a\"})")
        );
        assert_eq!(first_query(&PROCESS_FDS), some("process_open_fds{job=\"a\"}"));
        assert_eq!(first_query(&PROCESS_START), some("time() - process_start_time_seconds{job=\"a\"}"));
        assert_eq!(
            first_query(&CALL_DURATION),
            some(
                "histogram_quantile(0.5, sum by (le, verb, resource) (rate(opgen_call_duration_seconds_bucket{job=\"a\"}[$__rate_interval])))"
            )
        );
        assert!(first_query(&UNCONVERGED).is_some_and(|query| query.starts_with("max by (controller)")));
    }
}

//! `TABLE` lists every metric with its type, labels, unit and meaning.

use super::metric::{Metric, counter, gauge, histogram};

const CONTROLLER: &[&str] = &["controller"];
const QUEUE: &[&str] = &["name", "controller"];
const RESOURCE: &[&str] = &["resource"];
const KUBECONFIG: &[&str] = &["kubeconfig"];

pub(super) const RECONCILE_TOTAL: Metric = counter(
    "controller_runtime_reconcile_total",
    "Passes by result",
    &["controller", "result"],
    "Passes of a controller by result: success, error, requeue (after a conflict) or requeue_after (after a yield or by request)",
);
pub(super) const RECONCILE_ERRORS: Metric = counter(
    "controller_runtime_reconcile_errors_total",
    "Failed passes",
    CONTROLLER,
    "Passes of a controller that ended with an error",
);
pub(super) const TERMINAL_ERRORS: Metric = counter(
    "controller_runtime_terminal_reconcile_errors_total",
    "Terminal errors",
    CONTROLLER,
    "Passes of a controller that ended with an error that only a change of the object can resolve",
);
pub(super) const RECONCILE_PANICS: Metric = counter(
    "controller_runtime_reconcile_panics_total",
    "Panics in passes",
    CONTROLLER,
    "Panics in passes of a controller",
);
pub(super) const RECONCILE_TIME: Metric = histogram(
    "controller_runtime_reconcile_time_seconds",
    "Duration of a pass",
    CONTROLLER,
    "Duration of a pass of a controller",
);
pub(super) const MAX_CONCURRENT: Metric = gauge(
    "controller_runtime_max_concurrent_reconciles",
    "Maximum concurrent passes",
    CONTROLLER,
    "The maximum number of concurrent passes of a controller",
);
pub(super) const ACTIVE_WORKERS: Metric = gauge(
    "controller_runtime_active_workers",
    "Active workers",
    CONTROLLER,
    "Workers of a controller that run a pass now",
);
pub(super) const QUEUE_DEPTH: Metric = gauge(
    "workqueue_depth",
    "Queue depth by priority",
    &["name", "controller", "priority"],
    "Ready objects in the queue of a controller by priority: 100 for changes by users, 0, and -100 for lists and resyncs",
);
pub(super) const QUEUE_ADDS: Metric = counter(
    "workqueue_adds_total",
    "Queue adds",
    QUEUE,
    "Times that an object became ready in the queue of a controller",
);
pub(super) const QUEUE_DURATION: Metric = histogram(
    "workqueue_queue_duration_seconds",
    "Time in the queue",
    QUEUE,
    "How long an object was ready in the queue before a worker took it",
);
pub(super) const WORK_DURATION: Metric = histogram(
    "workqueue_work_duration_seconds",
    "Time of a worker per object",
    QUEUE,
    "How long a worker held an object of the queue",
);
pub(super) const UNFINISHED_WORK: Metric = gauge(
    "workqueue_unfinished_work_seconds",
    "Unfinished work",
    QUEUE,
    "How long workers have held the objects that they hold now, in total; a steady rate is the number of stuck workers",
)
.unit("seconds");
pub(super) const LONGEST_RUNNING: Metric = gauge(
    "workqueue_longest_running_processor_seconds",
    "Longest running pass",
    QUEUE,
    "How long the longest running worker has held its object",
)
.unit("seconds");
pub(super) const QUEUE_RETRIES: Metric = counter(
    "workqueue_retries_total",
    "Queue retries",
    QUEUE,
    "Times that an object was queued again after an error or a conflict",
);
pub(super) const REST_REQUESTS: Metric = counter(
    "rest_client_requests_total",
    "Requests by status code",
    &["code", "host", "method"],
    "Requests to the API server by status code, host and method; the code is <error> if there was no response",
);
pub(super) const REST_DURATION: Metric = histogram(
    "rest_client_request_duration_seconds",
    "Request latency by method",
    &["verb", "host"],
    "Time until the API server began its response, by HTTP method and host",
);
pub(super) const MASTER_STATUS: Metric = gauge(
    "leader_election_master_status",
    "Leaders",
    &["name"],
    "Whether this process may act: 1 for the leader, or without leader election, else 0",
);
pub(super) const SHARDS_HELD: Metric = gauge(
    "opgen_shards_held",
    "Held shards",
    &[],
    "Shards whose Leases this process holds; 0 if the operator has no shards",
);
pub(super) const PROCESS_CPU: Metric =
    counter("process_cpu_seconds_total", "CPU", &[], "User and system CPU time of the process").unit("seconds");
pub(super) const PROCESS_START: Metric =
    gauge("process_start_time_seconds", "Uptime", &[], "Start time of the process since the Unix epoch")
        .unit("seconds");
pub(super) const PROCESS_RESIDENT: Metric =
    gauge("process_resident_memory_bytes", "Resident memory", &[], "Resident memory of the process").unit("bytes");
pub(super) const PROCESS_VIRTUAL: Metric =
    gauge("process_virtual_memory_bytes", "Virtual memory", &[], "Virtual memory of the process").unit("bytes");
pub(super) const PROCESS_FDS: Metric =
    gauge("process_open_fds", "Open file descriptors", &[], "Open file descriptors of the process");
pub(super) const PROCESS_MAX_FDS: Metric = gauge(
    "process_max_fds",
    "Maximum open file descriptors",
    &[],
    "The maximum number of open file descriptors of the process",
);
pub(super) const TASKS: Metric =
    gauge("opgen_tasks", "Tasks", &[], "Tasks of tokio that have not ended; a number that grows with time is a leak");
pub(super) const YIELDS: Metric = counter(
    "opgen_yields_total",
    "Waiting passes by reason",
    &["controller", "reason"],
    "Passes that ended because something is not ready yet, by the reason of the condition",
);
pub(super) const ERRORS: Metric = counter(
    "opgen_errors_total",
    "Errors by reason",
    &["controller", "reason"],
    "Passes that ended with an error, by the reason of the condition",
);
pub(super) const UNCONVERGED: Metric = gauge(
    "opgen_oldest_unconverged_seconds",
    "Oldest unready object",
    CONTROLLER,
    "Time since the first unready pass over the object that has been unready longest; 0 if all objects are ready",
)
.unit("seconds");
pub(super) const UNCONVERGED_OBJECTS: Metric =
    gauge("opgen_unconverged_objects", "Unready objects", CONTROLLER, "Objects whose last pass did not end ready");
pub(super) const FIGHTS: Metric = counter(
    "opgen_fights_total",
    "Fights with other clients",
    CONTROLLER,
    "Passes that ended with the reason Fighting: another client repeatedly undoes the writes of the operator",
);
pub(super) const SKIPPED: Metric = counter(
    "opgen_skipped_passes_total",
    "Skipped passes",
    CONTROLLER,
    "Passes that were skipped because the cache did not show an own write of the operator yet",
);
pub(super) const CALLS_AVOIDED: Metric = counter(
    "opgen_calls_avoided_total",
    "Unchanged children",
    CONTROLLER,
    "Children that the fast path skipped, because they and their inputs had not changed",
);
pub(super) const CACHE_OBJECTS: Metric =
    gauge("opgen_cache_objects", "Cached objects", RESOURCE, "Objects in the caches of a resource");
pub(super) const CACHE_BYTES: Metric = gauge(
    "opgen_cache_bytes",
    "Cache size",
    RESOURCE,
    "Memory of the cached objects of a resource without their labels, annotations and names, which entries share",
)
.unit("bytes");
pub(super) const WATCHES: Metric = gauge(
    "opgen_watches",
    "Watches by state",
    &["resource", "state"],
    "Watches of a resource by state: starting, following, missing, forbidden or failing",
);
pub(super) const WATCH_RESTARTS: Metric = counter(
    "opgen_watch_restarts_total",
    "Watch restarts",
    RESOURCE,
    "Times that a watch of a resource ended with an error or expired, and restarted",
);
pub(super) const CALL_DURATION: Metric = histogram(
    "opgen_call_duration_seconds",
    "Call latency by resource",
    &["verb", "resource"],
    "Time until the API server began its response, by verb of RBAC and resource",
);
pub(super) const PANICS: Metric = counter(
    "opgen_panics_total",
    "Panics by closure",
    &["closure"],
    "Panics by the closure of user code, or in the runtime",
);
pub(super) const TASK_RESTARTS: Metric = counter(
    "opgen_task_restarts_total",
    "Task restarts",
    &[],
    "Tasks of the runtime that ended unexpectedly and were started again",
);
pub(super) const TIMEOUTS: Metric = counter(
    "opgen_call_timeouts_total",
    "Call timeouts",
    &[],
    "Calls and watches of the operator's cluster that a timeout of the operator ended",
);
pub(super) const UNCONVERTED_FIELDS: Metric = counter(
    "opgen_unconverted_fields_total",
    "Unconverted fields",
    &[],
    "Fields of objects that could not be converted to another version of their kind, each time",
);
pub(super) const THROTTLED: Metric = counter(
    "opgen_throttled_total",
    "Throttled calls",
    &[],
    "Responses of the operator's cluster after which the client sent nothing for a while (Retry-After)",
);
pub(super) const ORPHANS: Metric = counter(
    "opgen_orphans_total",
    "Orphans",
    &["resource", "result"],
    "Children whose owner is gone: deleted, or failed to be read or deleted",
);
pub(super) const CLUSTER_REACHABLE: Metric = gauge(
    "opgen_remote_cluster_reachable",
    "Reachable clusters",
    KUBECONFIG,
    "Whether another cluster can be used: 1 if its caches are filled, and it answers and accepts the credentials, else 0",
);
pub(super) const CLUSTER_REQUESTS: Metric = counter(
    "opgen_remote_cluster_requests_total",
    "Requests by cluster",
    &["kubeconfig", "code"],
    "Requests to another cluster by class of status code: 2xx, 3xx, 4xx, 5xx, or <error> if there was no response",
);
pub(super) const CLUSTER_TIMEOUTS: Metric = counter(
    "opgen_remote_cluster_timeouts_total",
    "Timeouts by cluster",
    KUBECONFIG,
    "Calls and watches of another cluster that a timeout of the operator ended",
);
pub(super) const CLUSTER_THROTTLED: Metric = counter(
    "opgen_remote_cluster_throttled_total",
    "Throttled calls by cluster",
    KUBECONFIG,
    "Responses of another cluster after which the client sent nothing for a while (Retry-After)",
);
pub(super) const CLUSTER_OBJECTS: Metric =
    gauge("opgen_remote_cluster_objects", "Objects by cluster", KUBECONFIG, "Objects in the caches of another cluster");
pub(super) const CLUSTER_OWNERS: Metric =
    gauge("opgen_remote_cluster_owners", "Owners by cluster", KUBECONFIG, "Owners with nodes in another cluster");

/// All metrics of an operator, in the order of the exposition. The metrics of the process exist on Linux only, and those of another
/// cluster while the operator is connected to it.
pub const TABLE: &[Metric] = &[
    RECONCILE_TOTAL,
    RECONCILE_ERRORS,
    TERMINAL_ERRORS,
    RECONCILE_PANICS,
    RECONCILE_TIME,
    MAX_CONCURRENT,
    ACTIVE_WORKERS,
    QUEUE_DEPTH,
    QUEUE_ADDS,
    QUEUE_DURATION,
    WORK_DURATION,
    UNFINISHED_WORK,
    LONGEST_RUNNING,
    QUEUE_RETRIES,
    REST_REQUESTS,
    REST_DURATION,
    MASTER_STATUS,
    SHARDS_HELD,
    PROCESS_CPU,
    PROCESS_START,
    PROCESS_RESIDENT,
    PROCESS_VIRTUAL,
    PROCESS_FDS,
    PROCESS_MAX_FDS,
    TASKS,
    YIELDS,
    ERRORS,
    UNCONVERGED,
    UNCONVERGED_OBJECTS,
    FIGHTS,
    SKIPPED,
    CALLS_AVOIDED,
    CACHE_OBJECTS,
    CACHE_BYTES,
    WATCHES,
    WATCH_RESTARTS,
    CALL_DURATION,
    PANICS,
    TASK_RESTARTS,
    TIMEOUTS,
    UNCONVERTED_FIELDS,
    THROTTLED,
    ORPHANS,
    CLUSTER_REACHABLE,
    CLUSTER_REQUESTS,
    CLUSTER_TIMEOUTS,
    CLUSTER_THROTTLED,
    CLUSTER_OBJECTS,
    CLUSTER_OWNERS,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::MetricKind;
    use std::collections::BTreeSet;

    #[test]
    fn names_follow_the_rules_of_prometheus() {
        let names: BTreeSet<_> = TABLE.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), TABLE.len(), "each name once");
        for Metric { name, title, kind, unit, help, .. } in TABLE {
            assert_eq!(name.ends_with("_total"), *kind == MetricKind::Counter, "{name}");
            let plain = name.trim_end_matches("_total");
            assert!(unit.is_empty() || plain.ends_with(unit), "{name} has the unit {unit}");
            assert!(!title.is_empty() && title.len() <= 32, "{name}: {title}");
            assert!(!help.contains(['\n', '\\']) && !help.ends_with('.'), "{name}: {help}");
        }
    }
}

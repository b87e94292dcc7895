//! Checks that each query of a generated dashboard returns data from a Prometheus.

use std::collections::BTreeSet;

use opgen_tests::wait::{self, PATIENCE};
use serde_json::Value;

use super::prometheus::Prometheus;
use crate::operator::example::Example;

/// Metrics that may be zero in all series of an operator that works: what they count did not happen.
const ZERO: [&str; 18] = [
    "controller_runtime_active_workers",
    "controller_runtime_reconcile_panics_total",
    "controller_runtime_terminal_reconcile_errors_total",
    "opgen_call_timeouts_total",
    "opgen_calls_avoided_total",
    "opgen_fights_total",
    "opgen_orphans_total",
    "opgen_panics_total",
    "opgen_shards_held",
    "opgen_skipped_passes_total",
    "opgen_task_restarts_total",
    "opgen_throttled_total",
    "opgen_unconverted_fields_total",
    "opgen_watch_restarts_total",
    "opgen_yields_total",
    "workqueue_depth",
    "workqueue_longest_running_processor_seconds",
    "workqueue_unfinished_work_seconds",
];

/// The prefix of the metrics of other clusters, which the operator does not connect to.
const REMOTE: &str = "opgen_remote_cluster_";

/// The queries of all panels, with all controllers and a short interval in place of Grafana's variables.
fn queries(example: &Example) -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&example.committed("grafana/dashboard.json")).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let query = |target: &Value| {
        let query = target["expr"].as_str().expect("a query");
        query.replace("$controller", ".*").replace("$__rate_interval", "1m")
    };
    targets.map(query).collect()
}

/// Waits until each query has given series, and values other than zero unless its metric may be zero.
pub(super) async fn shows_data(example: &Example, prometheus: &Prometheus) {
    let queries = queries(example);
    assert!(queries.len() > opgen::metrics::TABLE.len(), "{queries:?}");
    let mut missing: BTreeSet<_> = queries.into_iter().filter(|query| !query.contains(REMOTE)).collect();
    wait::until("each query of the dashboard gives data", PATIENCE * 2, async || {
        for query in missing.clone() {
            let values = prometheus.query(&query).await?;
            let may_be_zero = ZERO.iter().any(|metric| query.contains(&format!("{metric}{{")));
            let has_value = values.iter().any(|value| value.is_finite() && (may_be_zero || *value != 0.0));
            if has_value {
                missing.remove(&query);
            }
        }
        if missing.is_empty() { Ok(()) } else { Err(format!("{missing:#?}")) }
    })
    .await;
}

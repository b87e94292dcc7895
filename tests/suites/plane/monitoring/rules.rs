//! Tests the generated alert rules with synthetic series: a healthy hour, and the cause of each alert.

use std::collections::{BTreeMap, BTreeSet};

use libtest_mimic::{Failed, Trial};
use opgen::metrics::ALERTS;
use serde_json::{Value, json};

use super::{manifest, promtool};
use crate::operator::example::{Example, SHOP, WEBAPP};

const IPPOOL: Example = Example { name: "ippool", definition: "ippools.whereabouts.cni.cncf.io" };

pub(super) fn cases() -> Vec<Trial> {
    vec![
        Trial::test("monitoring::promtool_accepts_the_rules_of_every_example", accepted),
        Trial::test("monitoring::no_alert_fires_in_a_healthy_hour", healthy_hour),
        Trial::test("monitoring::each_alert_fires_for_its_cause_alone_and_not_before", causes),
    ]
}

/// The labels of the operator's series.
const TARGET: &str = "job=\"webapp-metrics\",namespace=\"webapp-system\"";

/// An hour of a healthy operator with two replicas, two values a minute, in promtool's notation: `a+bxn` is `a` and `n` more
/// values, each greater by `b`. The second replica takes over after half an hour, objects are rolled out, a few passes fail
/// because of an outage, a watch expires every ten minutes, another cluster does not answer for some minutes, and the API server
/// throttles once.
const HEALTHY: [(&str, &str); 16] = [
    ("leader_election_master_status{$,pod=\"a\",name=\"webapp.opgen.dev\"}", "1+0x57 0+0x62"),
    ("leader_election_master_status{$,pod=\"b\",name=\"webapp.opgen.dev\"}", "0+0x59 1+0x60"),
    ("opgen_oldest_unconverged_seconds{$,pod=\"a\",controller=\"webapp\"}", "0+0x19 0+30x20 0+0x79"),
    ("opgen_errors_total{$,pod=\"a\",controller=\"webapp\",reason=\"other\"}", "0+0x120"),
    ("opgen_errors_total{$,pod=\"a\",controller=\"webapp\",reason=\"Unexpected\"}", "_x20 1+1x3 4+0x96"),
    ("opgen_fights_total{$,pod=\"a\",controller=\"webapp\"}", "0+0x120"),
    ("opgen_panics_total{$,pod=\"a\",closure=\"provisioner\"}", "0+0x120"),
    ("opgen_watch_restarts_total{$,pod=\"a\",resource=\"configmaps\"}", "0+0x19 1+0x19 2+0x19 3+0x19 4+0x19 5+0x20"),
    ("opgen_watches{$,pod=\"a\",resource=\"configmaps\",state=\"following\"}", "1+0x120"),
    ("opgen_watches{$,pod=\"a\",resource=\"configmaps\",state=\"failing\"}", "0+0x39 1+0x1 0+0x78"),
    ("opgen_watches{$,pod=\"a\",resource=\"ingresses.networking.k8s.io\",state=\"missing\"}", "1+0x120"),
    ("opgen_remote_cluster_reachable{$,pod=\"a\",kubeconfig=\"teams/blue\"}", "1+0x59 0+0x10 1+0x49"),
    ("workqueue_depth{$,pod=\"a\",name=\"webapp\",controller=\"webapp\",priority=\"-100\"}", "900-50x18 0+0x101"),
    ("workqueue_depth{$,pod=\"a\",name=\"webapp\",controller=\"webapp\",priority=\"100\"}", "3+0x120"),
    ("workqueue_longest_running_processor_seconds{$,pod=\"a\",name=\"webapp\",controller=\"webapp\"}", "0+0x59 2+0x60"),
    ("opgen_throttled_total{$,pod=\"a\"}", "0+0x59 3+0x60"),
];

/// What differs from a healthy hour.
struct Cause {
    alert: &'static str,
    /// The series that have other values; no value removes all of the metric.
    series: &'static str,
    values: &'static str,
    /// Minutes after which no alert fires yet.
    quiet: u32,
    /// Minutes after which the alert fires, and no other one.
    fires: u32,
}

const CAUSES: [Cause; 13] = [
    cause("OpgenNoLeader", "leader_election_master_status{$,pod=\"a\",name=\"webapp.opgen.dev\"}", "0+0x120", 4, 6),
    cause("OpgenNoLeader", "leader_election_master_status", "", 4, 6),
    cause(
        "OpgenObjectStuck",
        "opgen_oldest_unconverged_seconds{$,pod=\"a\",controller=\"webapp\"}",
        "0+30x120",
        15,
        16,
    ),
    cause(
        "OpgenErrorsPersist",
        "opgen_errors_total{$,pod=\"a\",controller=\"webapp\",reason=\"Gone\"}",
        "0+1x120",
        30,
        32,
    ),
    // As often as an exponential backoff repeats a pass at last.
    cause(
        "OpgenErrorsPersist",
        "opgen_errors_total{$,pod=\"a\",controller=\"webapp\",reason=\"Gone\"}",
        "0+0x1 1+0x33 2+0x33 3+0x33",
        30,
        35,
    ),
    cause("OpgenFighting", "opgen_fights_total{$,pod=\"a\",controller=\"webapp\"}", "0+1x120", 10, 12),
    cause("OpgenPanics", "opgen_panics_total{$,pod=\"a\",closure=\"provisioner\"}", "0+0x10 1+0x109", 5, 6),
    cause("OpgenWatchRestarts", "opgen_watch_restarts_total{$,pod=\"a\",resource=\"configmaps\"}", "0+0.4x120", 26, 29),
    cause(
        "OpgenWatchFailing",
        "opgen_watches{$,pod=\"a\",resource=\"configmaps\",state=\"forbidden\"}",
        "1+0x120",
        9,
        11,
    ),
    cause(
        "OpgenRemoteClusterUnreachable",
        "opgen_remote_cluster_reachable{$,pod=\"a\",kubeconfig=\"teams/green\"}",
        "0+0x120",
        9,
        11,
    ),
    cause(
        "OpgenQueueBacklog",
        "workqueue_depth{$,pod=\"a\",name=\"webapp\",controller=\"webapp\",priority=\"-100\"}",
        "0+20x120",
        17,
        18,
    ),
    cause(
        "OpgenLongRunningPass",
        "workqueue_longest_running_processor_seconds{$,pod=\"a\",name=\"webapp\",controller=\"webapp\"}",
        "0+30x120",
        10,
        11,
    ),
    cause("OpgenCallsThrottled", "opgen_throttled_total{$,pod=\"a\"}", "0+1x120", 14, 17),
];

const fn cause(alert: &'static str, series: &'static str, values: &'static str, quiet: u32, fires: u32) -> Cause {
    Cause { alert, series, values, quiet, fires }
}

fn accepted() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    for example in [WEBAPP, SHOP, IPPOOL] {
        promtool::write(folder.path(), "rules.json", &manifest::rules(&example));
        promtool::succeed(folder.path(), &["check", "rules", "--lint=all", "--lint-fatal", "rules.json"], None);
    }
    Ok(())
}

fn healthy_hour() -> Result<(), Failed> {
    let minutes: Vec<_> = (0..=60).map(|minute| (minute, None)).collect();
    test_rules(&[test("a healthy hour", BTreeMap::from(HEALTHY), &minutes)])
}

fn causes() -> Result<(), Failed> {
    let listed: BTreeSet<_> = ALERTS.iter().map(|alert| alert.name).collect();
    assert_eq!(CAUSES.iter().map(|cause| cause.alert).collect::<BTreeSet<_>>(), listed, "each alert has a cause");
    let tests: Vec<_> = CAUSES.iter().map(test_of).collect();
    test_rules(&tests)
}

fn test_of(cause: &Cause) -> Value {
    let mut series = BTreeMap::from(HEALTHY);
    if cause.values.is_empty() {
        series.retain(|name, _| !name.starts_with(cause.series));
    } else {
        series.insert(cause.series, cause.values);
    }
    test(cause.alert, series, &[(cause.quiet, None), (cause.fires, Some(cause.alert))])
}

/// A test of promtool: after so many minutes one alert fires, or none.
fn test(name: &str, series: BTreeMap<&str, &str>, expected: &[(u32, Option<&str>)]) -> Value {
    let series: Vec<_> =
        series.iter().map(|(name, values)| json!({"series": name.replace('$', TARGET), "values": values})).collect();
    let firing = "count by (alertname) (ALERTS{alertstate=\"firing\",operator=\"webapp\",namespace=\"webapp-system\"})";
    let one = |alert: &str| json!({"labels": format!("{{alertname=\"{alert}\"}}"), "value": 1});
    let expected: Vec<_> = expected
        .iter()
        .map(|(minute, alert)| {
            let samples: Vec<_> = alert.iter().map(|alert| one(alert)).collect();
            json!({"expr": firing, "eval_time": format!("{minute}m"), "exp_samples": samples})
        })
        .collect();
    json!({"name": name, "interval": "30s", "input_series": series, "promql_expr_test": expected})
}

fn test_rules(tests: &[Value]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    promtool::write(folder.path(), "rules.json", &manifest::rules(&WEBAPP));
    let file = json!({"rule_files": ["rules.json"], "evaluation_interval": "30s", "tests": tests});
    promtool::write(folder.path(), "test.json", &file);
    promtool::succeed(folder.path(), &["test", "rules", "test.json"], None);
    Ok(())
}

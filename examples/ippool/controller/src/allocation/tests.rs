//! Tests which allocations are orphans (frameworks I6–I9, D2.7).

use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use super::*;
use crate::{network_status::ANNOTATION, pod::facts};

fn pod(status: Value) -> Value {
    json!({"metadata": {"name": "web", "namespace": "default"}, "status": status})
}

fn running(network: Option<&str>) -> Value {
    let mut pod = pod(json!({"phase": "Running"}));
    if let Some(network) = network {
        pod["metadata"]["annotations"] = json!({ANNOTATION: network});
    }
    pod
}

fn use_of(pod: Value, ip: &str, interface: &str, options: &Options) -> Use {
    let pod: Pod = serde_json::from_value(pod).unwrap();
    judge(Some(&facts(&pod)), ip.parse().ok(), interface, options)
}

fn judged(pod: Value, options: &Options) -> Use {
    use_of(pod, "10.0.0.5", "", options)
}

fn on(network: &str) -> Use {
    judged(running(Some(network)), &Options::default())
}

fn disrupted(status: &str, reason: &str) -> Value {
    let condition = json!({"type": "DisruptionTarget", "status": status, "reason": reason});
    pod(json!({"phase": "Running", "conditions": [condition]}))
}

fn terminating() -> Value {
    let mut pod = running(None);
    pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    pod
}

#[test]
fn ippool_i6_pod_that_is_missing_leaves_an_orphan() {
    assert_eq!(judge(None, None, "", &Options::default()), Use::Orphaned);
}

#[test]
fn ippool_i6_options_decide_over_disrupted_and_terminating_pods() {
    let options = Options::default();
    let other = Options { cleanup_terminating: true, cleanup_disrupted: false, ..Options::default() };
    let evicted = disrupted("True", "DeletionByTaintManager");
    assert_eq!((judged(evicted.clone(), &options), judged(evicted, &other)), (Use::Orphaned, Use::Held));
    assert_eq!((judged(terminating(), &options), judged(terminating(), &other)), (Use::Held, Use::Orphaned));
}

#[test]
fn ippool_i6_pod_that_has_yet_to_start_keeps_its_address_whatever_its_network_says() {
    let mut pending = running(Some("[]"));
    pending["status"]["phase"] = json!("Pending");
    assert_eq!(judged(pending.clone(), &Options::default()), Use::Pending);
    // The first rule that matches applies.
    pending["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let options = Options { cleanup_terminating: true, ..Options::default() };
    assert_eq!(judged(pending, &options), Use::Orphaned);
}

#[test]
fn ippool_i6_network_is_verified_only_if_wanted_and_only_for_an_address() {
    let elsewhere = running(Some(r#"[{"interface":"net1","ips":["10.0.0.6"]}]"#));
    let trusting = Options { verify_network_status: false, ..Options::default() };
    assert_eq!(judged(elsewhere.clone(), &Options::default()), Use::Orphaned);
    assert_eq!(judged(elsewhere.clone(), &trusting), Use::Held);
    assert_eq!(use_of(elsewhere, "no address", "", &Options::default()), Use::Held);
}

#[test]
fn ippool_i7_pod_is_what_stands_around_the_first_slash() {
    assert_eq!(pod_of("default/web"), Some(("default", "web")));
    assert_eq!(pod_of("a/b/c"), Some(("a", "b/c")), "no Pod has that name, so it is an orphan");
    for malformed in ["", "web", "/web", "default/", "/"] {
        assert_eq!(pod_of(malformed), None, "{malformed:?}");
    }
}

#[test]
fn ippool_i8_other_disruptions_leave_no_orphan() {
    for (status, reason) in [("True", "PreemptionByScheduler"), ("False", "DeletionByTaintManager")] {
        assert_eq!(judged(disrupted(status, reason), &Options::default()), Use::Held, "{status} {reason}");
    }
}

#[test]
fn ippool_i9_network_status_that_says_nothing_frees_nothing() {
    assert_eq!(judged(running(None), &Options::default()), Use::Held);
    for malformed in ["{", "null", "{}", r#"[{"ips": "10.0.0.6"}]"#, "text"] {
        assert_eq!(on(malformed), Use::Held, "{malformed}");
    }
}

#[test]
fn ippool_i9_addresses_are_compared_as_such_and_without_the_default_network() {
    assert_eq!(on("[]"), Use::Orphaned);
    assert_eq!(on(r#"[{"default":true,"ips":["10.0.0.5"]}]"#), Use::Orphaned);
    assert_eq!(on(r#"[{"default":true,"ips":["10.0.0.1"]},{"ips":["10.0.0.5"]}]"#), Use::Held);
    assert_eq!(on(r#"[{"ips":["::ffff:10.0.0.5"]}]"#), Use::Held);
    let long = running(Some(r#"[{"ips":["fd00:0:0:0:0:0:0:1"]}]"#));
    assert_eq!(use_of(long, "fd00::1", "", &Options::default()), Use::Held);
}

#[test]
fn ippool_i9_empty_annotation_says_that_there_are_no_addresses() {
    // whereabouts counted it as in use at first.
    assert_eq!((on(""), on("  ")), (Use::Orphaned, Use::Orphaned));
}

#[test]
fn ippool_i9_address_on_another_interface_is_another_one() {
    let network = r#"[{"interface":"net1","ips":["10.0.0.5"]}]"#;
    for (interface, expected) in [("net1", Use::Held), ("net2", Use::Orphaned), ("", Use::Held)] {
        assert_eq!(use_of(running(Some(network)), "10.0.0.5", interface, &Options::default()), expected, "{interface}");
    }
    let unnamed = running(Some(r#"[{"ips":["10.0.0.5"]}]"#));
    assert_eq!(use_of(unnamed, "10.0.0.5", "net2", &Options::default()), Use::Held);
}

#[test]
fn ippool_i6_pods_that_have_ended_or_are_lost_leave_orphans() {
    for status in [
        json!({"phase": "Succeeded"}),
        json!({"phase": "Failed"}),
        json!({"phase": "Running", "reason": "NodeLost"}),
        json!({"phase": "Unknown", "reason": "NodeLost"}),
    ] {
        assert_eq!(judged(pod(status.clone()), &Options::default()), Use::Orphaned, "{status}");
    }
    assert_eq!(judged(pod(json!({"phase": "Unknown"})), &Options::default()), Use::Held);
}

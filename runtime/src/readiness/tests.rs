#![allow(clippy::unwrap_used)]

use super::*;
use serde_json::json;

fn read(group: &'static str, kind: &'static str, spec: Value, status: Value) -> Readiness {
    let plural = format!("{}s", kind.to_lowercase()).into();
    let kind = Kind { group: group.into(), version: "v1".into(), kind: kind.into(), plural, namespaced: true };
    readiness(&kind, 2, &spec, &status)
}

fn not_ready(why: &str) -> Readiness {
    Readiness::NotReady(why.to_owned())
}

fn held_up(by: &str) -> Readiness {
    Readiness::HeldUp(by.to_owned())
}

#[test]
fn an_object_whose_controller_is_behind_is_not_ready() {
    let status = json!({"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]});
    assert_eq!(read("x.io", "Thing", Value::Null, status), not_ready("its controller has not seen the latest change"));
}

#[test]
fn a_deployment_is_ready_when_its_replicas_are_updated_and_available() {
    let cases = [
        (json!({}), not_ready("its controller has not seen it yet")),
        (json!({"observedGeneration": 2}), not_ready("0 of 3 replicas are updated")),
        (
            json!({"observedGeneration": 2, "replicas": 4, "updatedReplicas": 3, "availableReplicas": 4}),
            not_ready("1 old replicas are still to go"),
        ),
        (
            json!({"observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 1}),
            not_ready("1 of 3 replicas are available"),
        ),
        (
            json!({"observedGeneration": 2, "conditions": [{"type": "Progressing", "reason": "ProgressDeadlineExceeded"}]}),
            held_up("its progress deadline is exceeded"),
        ),
        (
            json!({"observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3}),
            Readiness::Ready,
        ),
    ];
    for (status, wanted) in cases {
        assert_eq!(read("apps", "Deployment", json!({"replicas": 3}), status.clone()), wanted, "{status}");
    }
}

#[test]
fn a_deployment_of_no_replicas_is_ready_once_seen() {
    let status = json!({"observedGeneration": 2});
    assert_eq!(read("apps", "Deployment", json!({"replicas": 0}), status), Readiness::Ready);
}

#[test]
fn a_stateful_set_waits_for_its_revision() {
    let mut status =
        json!({"observedGeneration": 2, "readyReplicas": 1, "currentRevision": "a", "updateRevision": "b"});
    assert_eq!(read("apps", "StatefulSet", json!({}), status.clone()), not_ready("0 of 1 replicas are updated"));
    status["currentRevision"] = json!("b");
    assert_eq!(read("apps", "StatefulSet", json!({}), status), Readiness::Ready);
}

#[test]
fn a_daemon_set_that_is_updated_by_hand_does_not_wait_for_it() {
    let status = json!({"observedGeneration": 2, "desiredNumberScheduled": 2, "numberAvailable": 2});
    assert_ne!(read("apps", "DaemonSet", json!({}), status.clone()), Readiness::Ready);
    let by_hand = json!({"updateStrategy": {"type": "OnDelete"}});
    assert_eq!(read("apps", "DaemonSet", by_hand, status), Readiness::Ready);
}

#[test]
fn kinds_of_the_core_have_their_own_rules() {
    let condition = |type_: &str, status: &str| json!({"conditions": [{"type": type_, "status": status}]});
    let cases = [
        ("", "Pod", json!({}), condition("Ready", "True"), Readiness::Ready),
        ("", "Pod", json!({}), json!({"phase": "Succeeded"}), Readiness::Ready),
        ("", "Pod", json!({}), json!({"phase": "Pending"}), not_ready("it is not Ready yet")),
        (
            "",
            "PersistentVolumeClaim",
            json!({}),
            json!({"phase": "Pending"}),
            not_ready("it is Pending, not yet Bound"),
        ),
        ("", "Service", json!({"type": "ClusterIP"}), json!({"loadBalancer": {}}), Readiness::Ready),
        ("", "Service", json!({"type": "LoadBalancer"}), json!({}), not_ready("it has no load balancer address yet")),
        ("batch", "Job", json!({}), condition("Failed", "True"), held_up("it has failed")),
        ("batch", "Job", json!({}), condition("Complete", "True"), Readiness::Ready),
        ("", "ConfigMap", Value::Null, Value::Null, Readiness::Ready),
        ("policy", "PodDisruptionBudget", json!({}), condition("DisruptionAllowed", "False"), Readiness::Ready),
    ];
    for (group, kind, spec, status, wanted) in cases {
        assert_eq!(read(group, kind, spec, status.clone()), wanted, "{kind} {status}");
    }
}

#[test]
fn condition_k7_stalled_and_reconciling_count_before_ready() {
    let with = |type_: &str| {
        let ready = json!({"type": "Ready", "status": "True"});
        json!({"conditions": [ready, {"type": type_, "status": "True", "reason": "Why"}]})
    };
    assert_eq!(read("x.io", "Thing", Value::Null, with("Stalled")), held_up("it is stalled (Why)"));
    assert_eq!(read("x.io", "Thing", Value::Null, with("Reconciling")), not_ready("it is being reconciled (Why)"));
    assert_eq!(read("x.io", "Thing", Value::Null, with("Other")), Readiness::Ready);
}

//! Tests the readiness rules of built-in kinds and of status conditions.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::readiness::verdict::Readiness;
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
    let late = not_ready("its controller has not observed the latest change");
    assert_eq!(read("x.io", "Thing", Value::Null, status), late);
}

#[test]
fn a_deployment_is_ready_when_its_replicas_are_updated_and_available() {
    let cases = [
        (json!({}), not_ready("its controller has not observed it yet")),
        (json!({"observedGeneration": 2}), not_ready("0 of 3 replicas are updated")),
        (
            json!({"observedGeneration": 2, "replicas": 4, "updatedReplicas": 3, "availableReplicas": 4}),
            not_ready("1 old replicas are pending termination"),
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
fn a_stateful_set_with_a_partition_waits_for_those_above_it() {
    let spec = json!({"replicas": 5, "updateStrategy": {"rollingUpdate": {"partition": 3}}});
    let status = |updated: i64| {
        json!({"observedGeneration": 2, "replicas": 5, "readyReplicas": 5, "updatedReplicas": updated,
               "currentRevision": "a", "updateRevision": "b"})
    };
    assert_eq!(read("apps", "StatefulSet", spec.clone(), status(1)), not_ready("1 of 2 replicas are updated"));
    assert_eq!(read("apps", "StatefulSet", spec, status(2)), Readiness::Ready);
}

#[test]
fn what_is_scaled_down_waits_for_what_goes() {
    let status = json!({"observedGeneration": 2, "replicas": 3, "readyReplicas": 3, "availableReplicas": 3});
    let wanted = not_ready("2 surplus replicas are pending termination");
    for kind in ["StatefulSet", "ReplicaSet"] {
        assert_eq!(read("apps", kind, json!({"replicas": 1}), status.clone()), wanted, "{kind}");
    }
    assert_eq!(read("", "ReplicationController", json!({"replicas": 1}), status), wanted);
}

#[test]
fn seconds_of_being_ready_are_waited_for() {
    let status = json!({"observedGeneration": 2, "replicas": 1, "readyReplicas": 1, "availableReplicas": 0});
    for kind in ["StatefulSet", "ReplicaSet"] {
        let spec = json!({"minReadySeconds": 30});
        assert_eq!(read("apps", kind, spec, status.clone()), not_ready("0 of 1 replicas are available"), "{kind}");
    }
    assert_eq!(read("apps", "StatefulSet", json!({}), status), Readiness::Ready);
}

#[test]
fn a_workload_whose_pods_cannot_be_made_says_why_in_words_that_stay() {
    let message = |name: &str, used: i64| {
        format!(
            "pods \"{name}\" is forbidden: exceeded quota: small, requested: pods=1, used: pods={used}, limited: pods=2"
        )
    };
    let status = |message: String| {
        json!({"observedGeneration": 2, "replicas": 2, "conditions": [
            {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message},
            {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"},
        ]})
    };
    let wanted = held_up(
        "its Pods cannot be created (FailedCreate): pods … is forbidden: exceeded quota: small, requested: … used: … limited: …",
    );
    let looks = [message("web-7d8f9c6b5-x2klm", 2), message("web-7d8f9c6b5-", 1), message("web-5c7b9d4f68-zzz9q", 0)];
    for message in looks {
        for (group, kind) in [("apps", "Deployment"), ("apps", "ReplicaSet"), ("", "ReplicationController")] {
            assert_eq!(read(group, kind, json!({"replicas": 3}), status(message.clone())), wanted, "{kind}");
        }
    }
    let mut done = status(String::new());
    for field in ["replicas", "updatedReplicas", "availableReplicas"] {
        done[field] = json!(3);
    }
    assert_eq!(read("apps", "ReplicaSet", json!({"replicas": 3}), done), Readiness::Ready);
}

#[test]
fn a_paused_deployment_is_held_up_as_long_as_it_is_not_done() {
    let spec = json!({"paused": true});
    let status = |updated: i64| json!({"observedGeneration": 2, "replicas": 1, "updatedReplicas": updated, "availableReplicas": 1});
    assert_eq!(read("apps", "Deployment", spec.clone(), status(0)), held_up("its rollout is paused"));
    assert_eq!(read("apps", "Deployment", spec, status(1)), Readiness::Ready);
}

fn with_condition(type_: &str, status: &str) -> Value {
    json!({"conditions": [{"type": type_, "status": status}]})
}

fn because(type_: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"conditions": [{"type": type_, "status": status, "reason": reason, "message": message}]})
}

#[test]
fn a_job_is_ready_when_it_is_complete_and_held_up_when_it_has_failed() {
    let cases = [
        (json!({}), json!({"active": 1}), not_ready("it is not Complete yet")),
        (json!({}), with_condition("Complete", "True"), Readiness::Ready),
        (
            json!({}),
            because("Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit"),
            held_up("it has failed (BackoffLimitExceeded): Job has reached the specified backoff limit"),
        ),
        (
            json!({}),
            because("FailureTarget", "True", "PodFailurePolicy", "Container a for pod b/migrate-x8k2p failed"),
            held_up("it has failed (PodFailurePolicy): Container a for pod … failed"),
        ),
        (json!({"suspend": true}), with_condition("Suspended", "True"), held_up("it is suspended")),
    ];
    for (spec, status, wanted) in cases {
        assert_eq!(read("batch", "Job", spec, status.clone()), wanted, "{status}");
    }
}

#[test]
fn a_pod_is_held_up_by_what_its_containers_are_stuck_in() {
    let waiting = |name: &str, reason: &str| json!({"name": name, "state": {"waiting": {"reason": reason}}});
    let with = |containers: Value| {
        let ready = json!({"type": "Ready", "status": "False", "reason": "ContainersNotReady"});
        json!({"phase": "Running", "conditions": [ready], "containerStatuses": containers})
    };
    let cases = [
        (json!([waiting("web", "ContainerCreating")]), not_ready("it is not Ready (ContainersNotReady)")),
        (json!([waiting("web", "CrashLoopBackOff")]), held_up("container web is in CrashLoopBackOff")),
        (json!([waiting("web", "ErrImagePull")]), held_up("container web is in ImagePullBackOff")),
        (
            json!([waiting("web", "InvalidImageName"), waiting("log", "CreateContainerConfigError")]),
            held_up("container log is in CreateContainerConfigError, container web is in InvalidImageName"),
        ),
        (
            json!([{"name": "web", "ready": false, "restartCount": 4, "state": {"running": {}},
                    "lastState": {"terminated": {"exitCode": 1}}}]),
            held_up("container web is in CrashLoopBackOff"),
        ),
        (
            json!([{"name": "web", "ready": false, "restartCount": 1, "state": {"running": {}},
                    "lastState": {"terminated": {"exitCode": 1}}}]),
            not_ready("it is not Ready (ContainersNotReady)"),
        ),
    ];
    for (containers, wanted) in cases {
        assert_eq!(read("", "Pod", json!({}), with(containers.clone())), wanted, "{containers}");
    }
    let unscheduled = because("PodScheduled", "False", "Unschedulable", "0/3 nodes are available: 3 Insufficient cpu.");
    assert_eq!(read("", "Pod", json!({}), unscheduled), held_up("no node can run it (Unschedulable)"));
    let evicted = json!({"phase": "Failed", "reason": "Evicted", "message": "The node had condition: [DiskPressure]."});
    let wanted = held_up("it has failed (Evicted): The node had condition: [DiskPressure].");
    assert_eq!(read("", "Pod", json!({}), evicted), wanted);
}

#[test]
fn kinds_have_their_own_rules() {
    let phase = |phase: &str| json!({"phase": phase});
    let none = json!({});
    let cases = [
        ("", "Pod", none.clone(), with_condition("Ready", "True"), Readiness::Ready),
        ("", "Pod", none.clone(), phase("Succeeded"), Readiness::Ready),
        ("", "Pod", none.clone(), phase("Pending"), not_ready("it is not Ready yet")),
        ("", "PersistentVolumeClaim", none.clone(), phase("Pending"), not_ready("it is Pending, not yet Bound")),
        ("", "PersistentVolumeClaim", none.clone(), phase("Bound"), Readiness::Ready),
        ("", "PersistentVolumeClaim", none.clone(), phase("Lost"), held_up("it is Lost")),
        ("", "PersistentVolume", none.clone(), none.clone(), not_ready("it is new, not yet Available")),
        ("", "PersistentVolume", none.clone(), phase("Available"), Readiness::Ready),
        ("", "PersistentVolume", none.clone(), phase("Released"), held_up("it is Released")),
        ("", "Service", json!({"type": "ClusterIP"}), json!({"loadBalancer": {}}), Readiness::Ready),
        (
            "",
            "Service",
            json!({"type": "LoadBalancer"}),
            none.clone(),
            not_ready("it has no load balancer address yet"),
        ),
        (
            "",
            "Service",
            json!({"type": "LoadBalancer"}),
            json!({"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}),
            Readiness::Ready,
        ),
        ("", "ConfigMap", Value::Null, Value::Null, Readiness::Ready),
        ("", "Namespace", none.clone(), phase("Active"), Readiness::Ready),
        ("batch", "CronJob", none.clone(), none.clone(), Readiness::Ready),
        ("networking.k8s.io", "Ingress", none.clone(), json!({"loadBalancer": {}}), Readiness::Ready),
        ("networking.k8s.io", "NetworkPolicy", none.clone(), Value::Null, Readiness::Ready),
        (
            "autoscaling",
            "HorizontalPodAutoscaler",
            none.clone(),
            with_condition("ScalingActive", "False"),
            Readiness::Ready,
        ),
        ("policy", "PodDisruptionBudget", none.clone(), Value::Null, Readiness::Ready),
        (
            "policy",
            "PodDisruptionBudget",
            none.clone(),
            json!({"observedGeneration": 1}),
            not_ready("its controller has not observed the latest change"),
        ),
        (
            "policy",
            "PodDisruptionBudget",
            none.clone(),
            json!({"observedGeneration": 2, "currentHealthy": 0, "desiredHealthy": 1}),
            Readiness::Ready,
        ),
        (
            "apiregistration.k8s.io",
            "APIService",
            none.clone(),
            because("Available", "False", "MissingEndpoints", "no endpoints"),
            not_ready("it is not Available (MissingEndpoints)"),
        ),
        ("apiregistration.k8s.io", "APIService", none.clone(), none.clone(), not_ready("it is not Available yet")),
    ];
    for (group, kind, spec, status, wanted) in cases {
        assert_eq!(read(group, kind, spec, status.clone()), wanted, "{kind} {status}");
    }
}

#[test]
fn definitions_and_signing_requests_say_who_stands_in_their_way() {
    let (group, kind) = ("apiextensions.k8s.io", "CustomResourceDefinition");
    assert_eq!(read(group, kind, json!({}), json!({})), not_ready("it is not Established yet"));
    assert_eq!(read(group, kind, json!({}), with_condition("Established", "True")), Readiness::Ready);
    let conflict = because("NamesAccepted", "False", "ListKindConflict", "\"ThingList\" is already in use");
    let wanted = held_up("its names are not accepted (ListKindConflict): \"ThingList\" is already in use");
    assert_eq!(read(group, kind, json!({}), conflict), wanted);

    let (group, kind) = ("certificates.k8s.io", "CertificateSigningRequest");
    assert_eq!(read(group, kind, json!({}), json!({})), not_ready("it is not approved yet"));
    assert_eq!(
        read(group, kind, json!({}), with_condition("Approved", "True")),
        not_ready("it has no certificate yet")
    );
    let mut issued = with_condition("Approved", "True");
    issued["certificate"] = json!("LS0t");
    assert_eq!(read(group, kind, json!({}), issued), Readiness::Ready);
    let denied = because("Denied", "True", "Untrusted", "no");
    assert_eq!(read(group, kind, json!({}), denied), held_up("it is denied (Untrusted): no"));
    let failed = because("Failed", "True", "SignerError", "no");
    assert_eq!(read(group, kind, json!({}), failed), held_up("it has failed (SignerError): no"));
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
    let stalled = because("Stalled", "True", "NoQuota", "the zone has no room");
    assert_eq!(read("x.io", "Thing", Value::Null, stalled), held_up("it is stalled (NoQuota): the zone has no room"));
}

#[test]
fn ready_counts_before_available_and_either_alone() {
    let both = json!({"conditions": [{"type": "Available", "status": "True"}, {"type": "Ready", "status": "False"}]});
    assert_eq!(read("x.io", "Thing", Value::Null, both), not_ready("it is not Ready"));
    let unknown = with_condition("Available", "Unknown");
    assert_eq!(read("x.io", "Thing", Value::Null, unknown), not_ready("it is not Available"));
    assert_eq!(read("x.io", "Thing", Value::Null, json!({})), Readiness::Ready);
}

#[test]
fn a_condition_of_an_earlier_generation_says_nothing() {
    let of = |type_: &str, generation: i64| json!({"conditions": [{"type": type_, "status": "True", "reason": "Why", "observedGeneration": generation}]});
    let behind = not_ready("its controller has not observed the latest change");
    assert_eq!(read("x.io", "Thing", Value::Null, of("Ready", 1)), behind);
    assert_eq!(read("x.io", "Thing", Value::Null, of("Ready", 2)), Readiness::Ready);
    assert_eq!(read("x.io", "Thing", Value::Null, of("Stalled", 1)), Readiness::Ready);
    assert_eq!(read("x.io", "Thing", Value::Null, of("Stalled", 2)), held_up("it is stalled (Why)"));
}

#[test]
fn a_message_keeps_its_words_and_loses_counts_and_generated_names() {
    let cases = [
        ("", ""),
        ("the zone has no room", "the zone has no room"),
        ("webhook \"v1.policy.example.com\" denied it", "webhook \"v1.policy.example.com\" denied it"),
        ("3 of 5 replicas of web-6b7d9f5c84-kx2zp wait", "… of … replicas of … wait"),
        ("used: pods=12, limited: pods=10", "used: … limited: …"),
        ("a  b\n c", "a b c"),
    ];
    for (message, wanted) in cases {
        assert_eq!(condition::stable_text(message), wanted);
    }
    assert_eq!(condition::stable_text(&"word ".repeat(100)).split(' ').count(), 40);
}

#[test]
fn a_release_of_flux_is_held_up_while_its_last_work_has_failed() {
    let read = |status| read("helm.toolkit.fluxcd.io", "HelmRelease", Value::Null, status);
    let with = |observed: i64, conditions: Value| json!({"observedGeneration": observed, "conditions": conditions});
    let ready = |status: &str, observed: i64| {
        json!({
            "type": "Ready", "status": status, "reason": "InstallFailed", "message": "no such image",
            "observedGeneration": observed,
        })
    };
    let reconciling = json!({"type": "Reconciling", "status": "True", "reason": "ProgressingWithRetry"});
    let late = not_ready("its controller has not observed the latest change");
    let failed = held_up("it is not Ready (InstallFailed): no such image");
    for (status, expected) in [
        (Value::Null, not_ready("it is not Ready yet")),
        (with(2, json!([ready("Unknown", 2)])), not_ready("it is not Ready (InstallFailed)")),
        (with(2, json!([ready("False", 2), reconciling])), failed.clone()),
        // It waits for its source.
        (with(1, json!([ready("False", 2)])), failed),
        (with(1, json!([ready("False", 1)])), late.clone()),
        (with(1, json!([{"type": "Ready", "status": "True"}])), late),
        (with(2, json!([ready("True", 2)])), Readiness::Ready),
    ] {
        assert_eq!(read(status.clone()), expected, "{status}");
    }
    let registry = self::read("source.toolkit.fluxcd.io", "HelmRepository", json!({"type": "oci"}), Value::Null);
    assert_eq!(registry, Readiness::Ready, "it has no status");
}

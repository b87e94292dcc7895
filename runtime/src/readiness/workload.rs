//! Computes the readiness of workloads: Deployment, StatefulSet, DaemonSet, ReplicaSet and Job.

use super::{
    condition::{find_condition, of_condition, with_details},
    verdict::{Readiness, held_up, not_observed, waiting},
};
use serde_json::Value;

/// Returns an integer field; 0 if it is missing.
fn count(value: &Value, name: &str) -> i64 {
    value[name].as_i64().unwrap_or(0)
}

fn desired_replicas(spec: &Value) -> i64 {
    spec["replicas"].as_i64().unwrap_or(1)
}

/// Returns ready once the number in the status field `field` reaches the desired number of replicas. `label` names the counted replicas in
/// the message: `1 of 3 replicas are updated`.
fn replica_progress(generation: i64, spec: &Value, status: &Value, field: &str, label: &str) -> Readiness {
    if let Some(not_observed) = not_observed(generation, status) {
        return not_observed;
    }
    let desired = desired_replicas(spec);
    match count(status, field) {
        actual if actual < desired => waiting(format!("{actual} of {desired} replicas are {label}")),
        _ => Readiness::Ready,
    }
}

/// Replaces a readiness other than ready by held up if the condition `ReplicaFailure` is true: no Pods can be created, for example because
/// of a quota, so that the workload makes no progress.
fn with_replica_failure(progress: Readiness, status: &Value) -> Readiness {
    let failure = find_condition(status, "ReplicaFailure").filter(|condition| condition["status"] == "True");
    match (progress, failure) {
        (Readiness::NotReady(_) | Readiness::HeldUp(_), Some(failure)) => {
            held_up(with_details("its Pods cannot be created", failure))
        }
        (progress, _) => progress,
    }
}

/// Returns the readiness of a Deployment: ready once its rollout is complete.
pub(super) fn deployment(generation: i64, spec: &Value, status: &Value) -> Readiness {
    with_replica_failure(rollout(generation, spec, status), status)
}

/// Returns the progress of a Deployment's rollout, by the rules of `kubectl rollout status`: all replicas are updated, no old ones remain,
/// and all are available. It is held up if its progress deadline is exceeded, or if it is paused before it is complete.
fn rollout(generation: i64, spec: &Value, status: &Value) -> Readiness {
    let progress = find_condition(status, "Progressing");
    if progress.is_some_and(|condition| condition["reason"] == "ProgressDeadlineExceeded") {
        return held_up("its progress deadline is exceeded");
    }
    let desired = desired_replicas(spec);
    let progress = match replica_progress(generation, spec, status, "updatedReplicas", "updated") {
        Readiness::Ready if count(status, "replicas") > count(status, "updatedReplicas") => {
            let old = count(status, "replicas") - count(status, "updatedReplicas");
            waiting(format!("{old} old replicas are pending termination"))
        }
        Readiness::Ready if count(status, "availableReplicas") < desired => {
            waiting(format!("{} of {desired} replicas are available", count(status, "availableReplicas")))
        }
        other => other,
    };
    match progress {
        Readiness::NotReady(_) if spec["paused"] == true => held_up("its rollout is paused"),
        other => other,
    }
}

/// Returns the readiness of a ReplicaSet or a ReplicationController: ready once all replicas are available and surplus ones are gone.
pub(super) fn replica_set(generation: i64, spec: &Value, status: &Value) -> Readiness {
    // With `minReadySeconds` a Pod is available some seconds after it is ready.
    let progress = match replica_progress(generation, spec, status, "availableReplicas", "available") {
        Readiness::Ready if count(status, "replicas") > desired_replicas(spec) => {
            let surplus = count(status, "replicas") - desired_replicas(spec);
            waiting(format!("{surplus} surplus replicas are pending termination"))
        }
        other => other,
    };
    with_replica_failure(progress, status)
}

/// Returns the readiness of a StatefulSet: ready once all replicas are ready (with `minReadySeconds`, available), surplus ones are gone
/// and, unless the strategy is `OnDelete`, the replicas from the partition on are updated.
pub(super) fn stateful_set(generation: i64, spec: &Value, status: &Value) -> Readiness {
    let desired = desired_replicas(spec);
    let progress = if count(spec, "minReadySeconds") > 0 {
        replica_progress(generation, spec, status, "availableReplicas", "available")
    } else {
        replica_progress(generation, spec, status, "readyReplicas", "ready")
    };
    if progress != Readiness::Ready {
        return progress;
    }
    if count(status, "replicas") > desired {
        return waiting(format!("{} surplus replicas are pending termination", count(status, "replicas") - desired));
    }
    let strategy = &spec["updateStrategy"];
    // With `OnDelete` the user decides when Pods are updated.
    if strategy["type"] == "OnDelete" || status["currentRevision"] == status["updateRevision"] {
        return Readiness::Ready;
    }
    // The number of replicas that the rollout updates.
    let target = match count(&strategy["rollingUpdate"], "partition") {
        0 => desired,
        // Pods with an ordinal below the partition keep the old revision.
        partition => (desired - partition).max(0),
    };
    match count(status, "updatedReplicas") {
        // A rollout of all replicas is complete only when `currentRevision` is the new revision, which was checked above.
        updated if updated < target || target == desired => {
            waiting(format!("{updated} of {target} replicas are updated"))
        }
        _ => Readiness::Ready,
    }
}

/// Returns the readiness of a DaemonSet: ready once every scheduled Pod is available and, unless the strategy is `OnDelete`, updated.
pub(super) fn daemon_set(generation: i64, spec: &Value, status: &Value) -> Readiness {
    if let Some(not_observed) = not_observed(generation, status) {
        return not_observed;
    }
    let desired = count(status, "desiredNumberScheduled");
    // With `OnDelete` the user decides when Pods are updated.
    let waits_for_update = spec["updateStrategy"]["type"] != "OnDelete";
    for (field, label, is_required) in
        [("updatedNumberScheduled", "updated", waits_for_update), ("numberAvailable", "available", true)]
    {
        if is_required && count(status, field) < desired {
            return waiting(format!("{} of {desired} pods are {label}", count(status, field)));
        }
    }
    Readiness::Ready
}

/// Returns the readiness of a Job: ready once it is complete, and held up if it has failed or is suspended.
pub(super) fn job(spec: &Value, status: &Value) -> Readiness {
    let is_true = |type_| find_condition(status, type_).filter(|condition| condition["status"] == "True");
    // `FailureTarget` is set before `Failed`, while the last Pods end.
    if let Some(failed) = is_true("Failed").or_else(|| is_true("FailureTarget")) {
        return held_up(with_details("it has failed", failed));
    }
    match of_condition(status, "Complete") {
        Readiness::Ready => Readiness::Ready,
        _ if spec["suspend"] == true => held_up("it is suspended"),
        other => other,
    }
}

//! Readiness of what runs Pods.

use super::{
    condition::{find, of_condition, said},
    verdict::{Readiness, held_up, unseen, waiting},
};
use serde_json::Value;

fn count(value: &Value, name: &str) -> i64 {
    value[name].as_i64().unwrap_or(0)
}

fn wanted(spec: &Value) -> i64 {
    spec["replicas"].as_i64().unwrap_or(1)
}

fn replicas(generation: i64, spec: &Value, status: &Value, field: &str, word: &str) -> Readiness {
    if let Some(unseen) = unseen(generation, status) {
        return unseen;
    }
    let wanted = wanted(spec);
    match count(status, field) {
        are if are < wanted => waiting(format!("{are} of {wanted} replicas are {word}")),
        _ => Readiness::Ready,
    }
}

/// What keeps Pods from being made, where that is what is waited for.
fn unless_failing(progress: Readiness, status: &Value) -> Readiness {
    let failure = find(status, "ReplicaFailure").filter(|condition| condition["status"] == "True");
    match (progress, failure) {
        (Readiness::NotReady(_) | Readiness::HeldUp(_), Some(failure)) => {
            held_up(said("its Pods cannot be made", failure))
        }
        (progress, _) => progress,
    }
}

pub(super) fn deployment(generation: i64, spec: &Value, status: &Value) -> Readiness {
    unless_failing(rollout(generation, spec, status), status)
}

fn rollout(generation: i64, spec: &Value, status: &Value) -> Readiness {
    let progress = find(status, "Progressing");
    if progress.is_some_and(|condition| condition["reason"] == "ProgressDeadlineExceeded") {
        return held_up("its progress deadline is exceeded");
    }
    let wanted = wanted(spec);
    let progress = match replicas(generation, spec, status, "updatedReplicas", "updated") {
        Readiness::Ready if count(status, "replicas") > count(status, "updatedReplicas") => {
            let old = count(status, "replicas") - count(status, "updatedReplicas");
            waiting(format!("{old} old replicas are still to go"))
        }
        Readiness::Ready if count(status, "availableReplicas") < wanted => {
            waiting(format!("{} of {wanted} replicas are available", count(status, "availableReplicas")))
        }
        other => other,
    };
    match progress {
        Readiness::NotReady(_) if spec["paused"] == true => held_up("its rollout is paused"),
        other => other,
    }
}

pub(super) fn replica_set(generation: i64, spec: &Value, status: &Value) -> Readiness {
    // Some seconds of being ready may be asked for; that counts as available.
    let progress = match replicas(generation, spec, status, "availableReplicas", "available") {
        Readiness::Ready if count(status, "replicas") > wanted(spec) => {
            waiting(format!("{} replicas too many are still to go", count(status, "replicas") - wanted(spec)))
        }
        other => other,
    };
    unless_failing(progress, status)
}

pub(super) fn stateful_set(generation: i64, spec: &Value, status: &Value) -> Readiness {
    let wanted = wanted(spec);
    let available = if count(spec, "minReadySeconds") > 0 {
        replicas(generation, spec, status, "availableReplicas", "available")
    } else {
        replicas(generation, spec, status, "readyReplicas", "ready")
    };
    if available != Readiness::Ready {
        return available;
    }
    if count(status, "replicas") > wanted {
        return waiting(format!("{} replicas too many are still to go", count(status, "replicas") - wanted));
    }
    let strategy = &spec["updateStrategy"];
    // Somebody else decides when these are updated.
    if strategy["type"] == "OnDelete" || status["currentRevision"] == status["updateRevision"] {
        return Readiness::Ready;
    }
    let to_update = match count(&strategy["rollingUpdate"], "partition") {
        0 => wanted,
        // Those below the partition stay as they are.
        partition => (wanted - partition).max(0),
    };
    match count(status, "updatedReplicas") {
        updated if updated < to_update || to_update == wanted => {
            waiting(format!("{updated} of {to_update} replicas are updated"))
        }
        _ => Readiness::Ready,
    }
}

pub(super) fn daemon_set(generation: i64, spec: &Value, status: &Value) -> Readiness {
    if let Some(unseen) = unseen(generation, status) {
        return unseen;
    }
    let wanted = count(status, "desiredNumberScheduled");
    // Somebody else decides when these are updated.
    let waits = spec["updateStrategy"]["type"] != "OnDelete";
    for (field, word, counts) in [("updatedNumberScheduled", "updated", waits), ("numberAvailable", "available", true)]
    {
        if counts && count(status, field) < wanted {
            return waiting(format!("{} of {wanted} pods are {word}", count(status, field)));
        }
    }
    Readiness::Ready
}

pub(super) fn job(spec: &Value, status: &Value) -> Readiness {
    let is_true = |type_| find(status, type_).filter(|condition| condition["status"] == "True");
    // The second comes first, while the last Pods end.
    if let Some(failed) = is_true("Failed").or_else(|| is_true("FailureTarget")) {
        return held_up(said("it has failed", failed));
    }
    match of_condition(status, "Complete") {
        Readiness::Ready => Readiness::Ready,
        _ if spec["suspend"] == true => held_up("it is suspended"),
        other => other,
    }
}

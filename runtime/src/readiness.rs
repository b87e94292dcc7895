//! Whether an object has become what its spec asks for.
//!
//! The rules are kstatus': a table for the built-in kinds whose status has a form of its own, and for every other kind its
//! conditions. A kind without status is ready once it is there.

use crate::kind::Kind;
use serde_json::Value;

/// Whether an object is ready, and if not, what it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// As its spec asks for.
    Ready,
    /// On its way; the text says how far it is, and is the same for the same state.
    NotReady(String),
    /// Not on its way: something else has to happen first, and the text says what.
    HeldUp(String),
}

/// Reads the readiness of an object from its parts; absent parts are null, and a kind that
/// doesn't count generations has 0.
pub fn readiness(kind: &Kind, generation: i64, spec: &Value, status: &Value) -> Readiness {
    if let Some(observed) = status["observedGeneration"].as_i64()
        && observed < generation
    {
        return waiting("its controller has not seen the latest change");
    }
    match (kind.group.as_ref(), kind.kind.as_ref()) {
        ("apps", "Deployment") => deployment(generation, spec, status),
        ("apps", "StatefulSet") => stateful_set(generation, spec, status),
        ("apps", "DaemonSet") => daemon_set(generation, spec, status),
        ("apps", "ReplicaSet") | ("", "ReplicationController") => {
            replicas(generation, spec, status, "readyReplicas", "ready")
        }
        ("", "Pod") => pod(status),
        ("", "PersistentVolumeClaim") => phase(status, "Bound"),
        ("", "Service") => service(spec, status),
        ("batch", "Job") => job(status),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => condition(status, "Established"),
        // Their conditions tell of limits reached, not of work undone.
        ("autoscaling", _) | ("policy", _) | ("", "Namespace" | "ResourceQuota") => Readiness::Ready,
        _ => conditions(status),
    }
}

/// Whether the readiness of a kind can be seen from its metadata alone: it has no status that counts.
pub(crate) fn is_ready_once_there(kind: &Kind) -> bool {
    matches!(
        (kind.group.as_ref(), kind.kind.as_ref()),
        ("", "ConfigMap" | "Secret" | "ServiceAccount" | "Endpoints" | "LimitRange" | "PodTemplate" | "Namespace")
            | ("rbac.authorization.k8s.io" | "scheduling.k8s.io" | "node.k8s.io" | "discovery.k8s.io", _)
            | ("networking.k8s.io", "NetworkPolicy" | "IngressClass")
            | ("storage.k8s.io", "StorageClass" | "CSIDriver")
            | ("coordination.k8s.io", _)
    )
}

fn waiting(what: impl Into<String>) -> Readiness {
    Readiness::NotReady(what.into())
}

fn held_up(by: impl Into<String>) -> Readiness {
    Readiness::HeldUp(by.into())
}

fn count(value: &Value, name: &str) -> i64 {
    value[name].as_i64().unwrap_or(0)
}

fn seen(generation: i64, status: &Value) -> Option<Readiness> {
    let unseen = generation > 0 && status["observedGeneration"].is_null();
    unseen.then(|| waiting("its controller has not seen it yet"))
}

fn replicas(generation: i64, spec: &Value, status: &Value, field: &str, word: &str) -> Readiness {
    if let Some(unseen) = seen(generation, status) {
        return unseen;
    }
    let wanted = spec["replicas"].as_i64().unwrap_or(1);
    match count(status, field) {
        are if are < wanted => waiting(format!("{are} of {wanted} replicas are {word}")),
        _ => Readiness::Ready,
    }
}

fn deployment(generation: i64, spec: &Value, status: &Value) -> Readiness {
    let progress = find(status, "Progressing");
    if progress.is_some_and(|condition| condition["reason"] == "ProgressDeadlineExceeded") {
        return held_up("its progress deadline is exceeded");
    }
    let wanted = spec["replicas"].as_i64().unwrap_or(1);
    match replicas(generation, spec, status, "updatedReplicas", "updated") {
        Readiness::Ready if count(status, "replicas") > count(status, "updatedReplicas") => {
            let old = count(status, "replicas") - count(status, "updatedReplicas");
            waiting(format!("{old} old replicas are still to go"))
        }
        Readiness::Ready if count(status, "availableReplicas") < wanted => {
            waiting(format!("{} of {wanted} replicas are available", count(status, "availableReplicas")))
        }
        other => other,
    }
}

fn stateful_set(generation: i64, spec: &Value, status: &Value) -> Readiness {
    match replicas(generation, spec, status, "readyReplicas", "ready") {
        Readiness::Ready if spec["updateStrategy"]["type"] == "OnDelete" => Readiness::Ready,
        Readiness::Ready
            if spec["updateStrategy"]["rollingUpdate"]["partition"].as_i64().unwrap_or(0) == 0
                && status["currentRevision"] != status["updateRevision"] =>
        {
            let wanted = spec["replicas"].as_i64().unwrap_or(1);
            waiting(format!("{} of {wanted} replicas are updated", count(status, "updatedReplicas")))
        }
        other => other,
    }
}

fn daemon_set(generation: i64, spec: &Value, status: &Value) -> Readiness {
    if let Some(unseen) = seen(generation, status) {
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

fn pod(status: &Value) -> Readiness {
    if status["phase"] == "Succeeded" { Readiness::Ready } else { condition(status, "Ready") }
}

fn phase(status: &Value, wanted: &str) -> Readiness {
    match status["phase"].as_str() {
        Some(phase) if phase == wanted => Readiness::Ready,
        phase => waiting(format!("it is {}, not yet {wanted}", phase.unwrap_or("new"))),
    }
}

fn service(spec: &Value, status: &Value) -> Readiness {
    let addresses = status["loadBalancer"]["ingress"].as_array().map_or(0, Vec::len);
    if spec["type"] == "LoadBalancer" && addresses == 0 {
        return waiting("it has no load balancer address yet");
    }
    Readiness::Ready
}

fn job(status: &Value) -> Readiness {
    if find(status, "Failed").is_some_and(|condition| condition["status"] == "True") {
        return held_up("it has failed");
    }
    condition(status, "Complete")
}

fn find<'a>(status: &'a Value, type_: &str) -> Option<&'a Value> {
    status["conditions"].as_array()?.iter().find(|condition| condition["type"] == type_)
}

fn condition(status: &Value, type_: &str) -> Readiness {
    match find(status, type_) {
        Some(condition) if condition["status"] == "True" => Readiness::Ready,
        Some(condition) => match condition["reason"].as_str() {
            Some(reason) if !reason.is_empty() => waiting(format!("it is not {type_} ({reason})")),
            _ => waiting(format!("it is not {type_}")),
        },
        None => waiting(format!("it is not {type_} yet")),
    }
}

/// The rule for kinds without a rule of their own (frameworks K7).
fn conditions(status: &Value) -> Readiness {
    let true_reason = |type_| {
        let condition = find(status, type_).filter(|condition| condition["status"] == "True")?;
        Some(condition["reason"].as_str().unwrap_or(type_))
    };
    if let Some(reason) = true_reason("Stalled") {
        return held_up(format!("it is stalled ({reason})"));
    }
    if let Some(reason) = true_reason("Reconciling") {
        return waiting(format!("it is being reconciled ({reason})"));
    }
    match find(status, "Ready").or_else(|| find(status, "Available")) {
        Some(held) if held["status"] == "True" => Readiness::Ready,
        Some(held) => condition(status, held["type"].as_str().unwrap_or("Ready")),
        None => Readiness::Ready,
    }
}

#[cfg(test)]
mod tests;

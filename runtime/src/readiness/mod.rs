//! Whether an object has become what its spec asks for.
//!
//! The rules are kstatus': a table for the built-in kinds whose status has a form of its own, and for every other kind its
//! conditions. A kind without status is ready once it is there. Two rules differ, since nodes wait for each other: a Job is
//! ready when it is complete, not when it has begun; a PodDisruptionBudget once it is there, not when its Pods, which may
//! come after it, are healthy.

mod condition;
pub(crate) mod pod;
mod verdict;
mod workload;

pub use verdict::Readiness;
use verdict::{held_up, waiting};

use crate::kind::Kind;
use condition::{conditions, find, of_condition, said};
use serde_json::Value;

/// Reads the readiness of an object from its parts; absent parts are null, and a kind that
/// doesn't count generations has 0.
pub fn readiness(kind: &Kind, generation: i64, spec: &Value, status: &Value) -> Readiness {
    if let Some(observed) = status["observedGeneration"].as_i64()
        && observed < generation
    {
        return waiting("its controller has not seen the latest change");
    }
    match (kind.group.as_ref(), kind.kind.as_ref()) {
        ("apps", "Deployment") => workload::deployment(generation, spec, status),
        ("apps", "StatefulSet") => workload::stateful_set(generation, spec, status),
        ("apps", "DaemonSet") => workload::daemon_set(generation, spec, status),
        ("apps", "ReplicaSet") | ("", "ReplicationController") => workload::replica_set(generation, spec, status),
        ("batch", "Job") => workload::job(spec, status),
        ("", "Pod") => pod::pod(status),
        ("", "PersistentVolumeClaim") => phase(status, &["Bound"]),
        ("", "PersistentVolume") => phase(status, &["Available", "Bound"]),
        ("", "Service") => service(spec, status),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition(status),
        ("apiregistration.k8s.io", "APIService") => of_condition(status, "Available"),
        ("certificates.k8s.io", "CertificateSigningRequest") => signing_request(status),
        // Their conditions tell of limits reached, not of work undone.
        ("autoscaling", _) | ("policy", _) | ("", "Namespace" | "ResourceQuota") => Readiness::Ready,
        _ => conditions(generation, status),
    }
}

/// The readiness of an object of a managed kind: without a word of its controller it is not ready yet (unikorn REF11).
pub(crate) fn managed_readiness(kind: &Kind, generation: i64, spec: &Value, status: &Value) -> Readiness {
    match find(status, "Available") {
        Some(_) => readiness(kind, generation, spec, status),
        None => of_condition(status, "Available"),
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

fn phase(status: &Value, wanted: &[&str]) -> Readiness {
    match status["phase"].as_str() {
        Some(phase) if wanted.contains(&phase) => Readiness::Ready,
        // No volume leaves these by itself.
        Some(phase @ ("Lost" | "Failed" | "Released")) => held_up(format!("it is {phase}")),
        phase => waiting(format!("it is {}, not yet {}", phase.unwrap_or("new"), wanted[0])),
    }
}

fn service(spec: &Value, status: &Value) -> Readiness {
    let addresses = status["loadBalancer"]["ingress"].as_array().map_or(0, Vec::len);
    if spec["type"] == "LoadBalancer" && addresses == 0 {
        return waiting("it has no load balancer address yet");
    }
    Readiness::Ready
}

fn definition(status: &Value) -> Readiness {
    match find(status, "NamesAccepted") {
        Some(refused) if refused["status"] == "False" => held_up(said("its names are not accepted", refused)),
        _ => of_condition(status, "Established"),
    }
}

fn signing_request(status: &Value) -> Readiness {
    let is_true = |type_| find(status, type_).filter(|condition| condition["status"] == "True");
    if let Some(denied) = is_true("Denied") {
        return held_up(said("it is denied", denied));
    }
    if let Some(failed) = is_true("Failed") {
        return held_up(said("it has failed", failed));
    }
    match status["certificate"].as_str() {
        Some(certificate) if !certificate.is_empty() => Readiness::Ready,
        _ if is_true("Approved").is_some() => waiting("it has no certificate yet"),
        _ => waiting("it is not approved yet"),
    }
}

#[cfg(test)]
mod tests;

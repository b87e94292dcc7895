//! Computes whether an object is ready from its spec and its status, by the rules of kstatus.
//!
//! Built-in kinds whose status has its own form have a rule in a table; every other kind is ready by its conditions. A kind
//! without status is ready once it is created. Two rules differ from kstatus, since nodes wait for each other: a Job is ready
//! when it is complete, not when it has started; a PodDisruptionBudget is ready once it is created, because its Pods may come
//! after it.

mod argo_cd;
mod condition;
mod helm;
pub(crate) mod pod;
mod verdict;
mod workload;

pub(crate) use argo_cd::ALLOW_DEGRADED;
pub(crate) use helm::DEGRADED;
pub use verdict::Readiness;
use verdict::{held_up, waiting};

use crate::kind::Kind;
use condition::{conditions, find_condition, flux, of_condition, with_details};
use serde_json::Value;

/// Returns the readiness of an object from its spec and its status, by the rule of its kind, or by its conditions for other kinds. An
/// absent spec or status is null, and `generation` is 0 for a kind without generations.
pub fn readiness(kind: &Kind, generation: i64, spec: &Value, status: &Value) -> Readiness {
    // Flux may set `observedGeneration` only in conditions, so its kinds skip the check below.
    if matches!(
        kind.group.as_ref(),
        "helm.toolkit.fluxcd.io" | "kustomize.toolkit.fluxcd.io" | "source.toolkit.fluxcd.io"
    ) {
        return flux(kind, generation, spec, status);
    }
    if let Some(observed) = status["observedGeneration"].as_i64()
        && observed < generation
    {
        return waiting("its controller has not observed the latest change");
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
        ("argoproj.io", "Application") => argo_cd::application(spec, status),
        ("cd.opgen.dev", "HelmDeployment") => helm::deployment(generation, status),
        // Their conditions report limits, not progress.
        ("autoscaling", _) | ("policy", _) | ("", "Namespace" | "ResourceQuota") => Readiness::Ready,
        _ => conditions(generation, status),
    }
}

/// Returns the readiness of a kind that an operator built with this crate manages. Unlike [`readiness`], it is not ready until
/// its status has the condition `Available`.
pub(crate) fn managed_readiness(kind: &Kind, generation: i64, spec: &Value, status: &Value) -> Readiness {
    match find_condition(status, "Available") {
        Some(_) => readiness(kind, generation, spec, status),
        None => waiting("it is not Available yet"),
    }
}

/// Returns whether objects of the kind are ready once they exist, because no field of their status affects readiness. The operator then
/// watches only their metadata.
pub(crate) fn is_ready_once_created(kind: &Kind) -> bool {
    matches!(
        (kind.group.as_ref(), kind.kind.as_ref()),
        ("", "ConfigMap" | "Secret" | "ServiceAccount" | "Endpoints" | "LimitRange" | "PodTemplate" | "Namespace")
            | ("rbac.authorization.k8s.io" | "scheduling.k8s.io" | "node.k8s.io" | "discovery.k8s.io", _)
            | ("networking.k8s.io", "NetworkPolicy" | "IngressClass")
            | ("storage.k8s.io", "StorageClass" | "CSIDriver")
            | ("coordination.k8s.io", _)
    )
}

/// Returns the readiness of a volume or a claim by `status.phase`: ready in one of `ready_phases`, held up in a phase that it does not
/// leave by itself, else not ready.
fn phase(status: &Value, ready_phases: &[&str]) -> Readiness {
    match status["phase"].as_str() {
        Some(phase) if ready_phases.contains(&phase) => Readiness::Ready,
        Some(phase @ ("Lost" | "Failed" | "Released")) => held_up(format!("it is {phase}")),
        phase => waiting(format!("it is {}, not yet {}", phase.unwrap_or("new"), ready_phases[0])),
    }
}

/// Returns ready unless a Service of type `LoadBalancer` has no address yet.
fn service(spec: &Value, status: &Value) -> Readiness {
    let addresses = status["loadBalancer"]["ingress"].as_array().map_or(0, Vec::len);
    if spec["type"] == "LoadBalancer" && addresses == 0 {
        return waiting("it has no load balancer address yet");
    }
    Readiness::Ready
}

/// Returns the readiness of a CustomResourceDefinition: ready once the API server serves it (`Established`), and held up if its names
/// conflict with those of another definition.
fn definition(status: &Value) -> Readiness {
    match find_condition(status, "NamesAccepted") {
        Some(condition) if condition["status"] == "False" => {
            held_up(with_details("its names are not accepted", condition))
        }
        _ => of_condition(status, "Established"),
    }
}

/// Returns the readiness of a CertificateSigningRequest: ready once the certificate is issued, and held up if the request was denied or has
/// failed.
fn signing_request(status: &Value) -> Readiness {
    let is_true = |type_| find_condition(status, type_).filter(|condition| condition["status"] == "True");
    if let Some(denied) = is_true("Denied") {
        return held_up(with_details("it is denied", denied));
    }
    if let Some(failed) = is_true("Failed") {
        return held_up(with_details("it has failed", failed));
    }
    match status["certificate"].as_str() {
        Some(certificate) if !certificate.is_empty() => Readiness::Ready,
        _ if is_true("Approved").is_some() => waiting("it has no certificate yet"),
        _ => waiting("it is not approved yet"),
    }
}

#[cfg(test)]
mod tests;

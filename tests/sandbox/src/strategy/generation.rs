//! Increments `metadata.generation` when the desired state changes.

use serde_json::Value;

use crate::{kind::Kind, object};

/// Whether new objects of a built-in kind have generation 1.
fn is_counting(group: &str, plural: &str) -> bool {
    matches!(
        (group, plural),
        ("", "pods" | "podtemplates" | "replicationcontrollers")
            | (
                "admissionregistration.k8s.io",
                "mutatingadmissionpolicies"
                    | "mutatingadmissionpolicybindings"
                    | "mutatingwebhookconfigurations"
                    | "validatingadmissionpolicies"
                    | "validatingadmissionpolicybindings"
                    | "validatingwebhookconfigurations"
            )
            | ("apiextensions.k8s.io", "customresourcedefinitions")
            | ("apps", "daemonsets" | "deployments" | "replicasets" | "statefulsets")
            | ("batch", "cronjobs" | "jobs")
            | ("discovery.k8s.io", "endpointslices")
            | ("flowcontrol.apiserver.k8s.io", "flowschemas" | "prioritylevelconfigurations")
            | ("networking.k8s.io", "ingressclasses" | "ingresses" | "networkpolicies")
            | ("policy", "poddisruptionbudgets")
            | ("resource.k8s.io", "deviceclasses" | "resourceslices")
            | ("scheduling.k8s.io", "priorityclasses")
            | ("storage.k8s.io", "csidrivers")
    )
}

/// Sets the generation of a new object.
pub(super) fn begin(kind: &Kind, object: &mut Value) {
    // A CSIDriver gets a generation with its first change.
    if counts(kind) && !kind.is("storage.k8s.io", "csidrivers") {
        object::metadata_mut(object).insert("generation".into(), 1.into());
    }
}

/// Increments the generation if the desired state changed.
pub(super) fn count(kind: &Kind, new: &mut Value, old: &Value) {
    if !counts(kind) || kind.is("scheduling.k8s.io", "priorityclasses") {
        return;
    }
    let beside = |key: &str| object::at(new, &["metadata", key]) != object::at(old, &["metadata", key]);
    let changed = wanted(kind, new) != wanted(kind, old)
        || kind.is("apps", "deployments") && beside("annotations")
        || kind.is("discovery.k8s.io", "endpointslices") && beside("labels");
    let held = object::number(old, &["metadata", "generation"]).unwrap_or(0);
    if changed {
        object::metadata_mut(new).insert("generation".into(), (held + 1).into());
    }
}

fn counts(kind: &Kind) -> bool {
    kind.custom().is_some() || is_counting(&kind.group, &kind.plural)
}

/// Returns the fields of the desired state: all except metadata, and except a status with a subresource of its own.
fn wanted<'a>(kind: &Kind, object: &'a Value) -> Vec<(&'a String, &'a Value)> {
    let own = |key: &str| key != "metadata" && !(key == "status" && kind.has_status());
    object.as_object().into_iter().flatten().filter(|(key, _)| own(key)).collect()
}

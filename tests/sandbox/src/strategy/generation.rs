//! Increments `metadata.generation` when the desired state changes.

use serde_json::Value;

use crate::{kind::Kind, object};

/// Returns whether kube-apiserver sets `metadata.generation` on the objects of a built-in kind.
fn has_builtin_generation(group: &str, plural: &str) -> bool {
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

/// Sets the generation of a new object to 1, if the kind has generations.
pub(super) fn set_initial(kind: &Kind, object: &mut Value) {
    // A CSIDriver gets a generation with its first change.
    if has_generation(kind) && !kind.is("storage.k8s.io", "csidrivers") {
        object::metadata_mut(object).insert("generation".into(), 1.into());
    }
}

/// Increments the generation if the desired state changed: any field except for metadata and status. For Deployments the annotations,
/// and for EndpointSlices the labels, are part of the desired state, too.
pub(super) fn increment_if_changed(kind: &Kind, new: &mut Value, old: &Value) {
    // A PriorityClass keeps its first generation.
    if !has_generation(kind) || kind.is("scheduling.k8s.io", "priorityclasses") {
        return;
    }
    let metadata_changed = |key: &str| object::at(new, &["metadata", key]) != object::at(old, &["metadata", key]);
    let changed = desired_state(kind, new) != desired_state(kind, old)
        || kind.is("apps", "deployments") && metadata_changed("annotations")
        || kind.is("discovery.k8s.io", "endpointslices") && metadata_changed("labels");
    let old_generation = object::number(old, &["metadata", "generation"]).unwrap_or(0);
    if changed {
        object::metadata_mut(new).insert("generation".into(), (old_generation + 1).into());
    }
}

/// Returns whether the objects of the kind have a generation.
fn has_generation(kind: &Kind) -> bool {
    kind.custom().is_some() || has_builtin_generation(&kind.group, &kind.plural)
}

/// Returns the names and values of the fields of the desired state: all except the metadata and a status that is a
/// subresource.
fn desired_state<'a>(kind: &Kind, object: &'a Value) -> Vec<(&'a String, &'a Value)> {
    let is_desired = |key: &str| key != "metadata" && !(key == "status" && kind.has_status());
    object.as_object().into_iter().flatten().filter(|(key, _)| is_desired(key)).collect()
}

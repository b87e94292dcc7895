//! `metadata.generation`: which kinds count the states of what they want, and what counts as a new one.

use serde_json::Value;

use crate::{kind::Kind, object};

/// Kinds of the table whose new objects are of generation 1.
const COUNTING: [(&str, &str); 27] = [
    ("", "pods"),
    ("", "podtemplates"),
    ("", "replicationcontrollers"),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apps", "daemonsets"),
    ("apps", "deployments"),
    ("apps", "replicasets"),
    ("apps", "statefulsets"),
    ("batch", "cronjobs"),
    ("batch", "jobs"),
    ("discovery.k8s.io", "endpointslices"),
    ("flowcontrol.apiserver.k8s.io", "flowschemas"),
    ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"),
    ("networking.k8s.io", "ingressclasses"),
    ("networking.k8s.io", "ingresses"),
    ("networking.k8s.io", "networkpolicies"),
    ("policy", "poddisruptionbudgets"),
    ("resource.k8s.io", "deviceclasses"),
    ("resource.k8s.io", "resourceslices"),
    ("scheduling.k8s.io", "priorityclasses"),
    ("storage.k8s.io", "csidrivers"),
];

/// A new object is of the first generation.
pub(super) fn begin(kind: &Kind, object: &mut Value) {
    // A CSIDriver is only counted from its first change on.
    if counts(kind) && !kind.is("storage.k8s.io", "csidrivers") {
        object::metadata_mut(object).insert("generation".into(), 1.into());
    }
}

/// A change of what is wanted is a new generation.
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
    kind.custom().is_some() || COUNTING.iter().any(|(group, plural)| kind.is(group, plural))
}

/// Everything but metadata, and but the status where it is written on a path of its own.
fn wanted<'a>(kind: &Kind, object: &'a Value) -> Vec<(&'a String, &'a Value)> {
    let own = |key: &str| key != "metadata" && !(key == "status" && kind.has_status());
    object.as_object().into_iter().flatten().filter(|(key, _)| own(key)).collect()
}

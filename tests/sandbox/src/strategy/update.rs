//! Defines the per-kind rules for creates by update and for updates without a resourceVersion.

use crate::kind::Kind;

/// The kinds of which an update creates a missing object.
const CREATING: [(&str, &str); 11] = [
    ("", "endpoints"),
    ("", "events"),
    ("", "limitranges"),
    ("", "services"),
    ("coordination.k8s.io", "leases"),
    ("events.k8s.io", "events"),
    ("node.k8s.io", "runtimeclasses"),
    ("rbac.authorization.k8s.io", "clusterroles"),
    ("rbac.authorization.k8s.io", "clusterrolebindings"),
    ("rbac.authorization.k8s.io", "rolebindings"),
    ("rbac.authorization.k8s.io", "roles"),
];

/// The built-in kinds of which an update must contain a resourceVersion.
const CONDITIONAL: [(&str, &str); 15] = [
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apiregistration.k8s.io", "apiservices"),
    ("coordination.k8s.io", "leases"),
    ("node.k8s.io", "runtimeclasses"),
    ("policy", "poddisruptionbudgets"),
    ("storage.k8s.io", "csidrivers"),
    ("storage.k8s.io", "csinodes"),
    ("storage.k8s.io", "csistoragecapacities"),
    ("storage.k8s.io", "volumeattachments"),
];

/// The kinds that validate the metadata of an update only by the common rules.
const COMMON_METADATA_RULES_ONLY: [(&str, &str); 7] = [
    ("", "events"),
    ("", "limitranges"),
    ("", "persistentvolumes"),
    ("discovery.k8s.io", "endpointslices"),
    ("policy", "poddisruptionbudgets"),
    ("storage.k8s.io", "csinodes"),
    ("storage.k8s.io", "volumeattachments"),
];

/// Returns whether the validation of the kind itself repeats the checks of metadata that each update gets, so that an update
/// reports each error about metadata twice.
pub(crate) fn revalidates_metadata(kind: &Kind) -> bool {
    let excluded_groups = ["admissionregistration.k8s.io", "flowcontrol.apiserver.k8s.io"];
    !excluded_groups.contains(&kind.group.as_str())
        && !COMMON_METADATA_RULES_ONLY.iter().any(|(group, plural)| kind.is(group, plural))
}

/// Returns whether an update of the kind creates a missing object (upstream: `AllowCreateOnUpdate`).
pub(crate) fn creates_on_update(kind: &Kind) -> bool {
    CREATING.iter().any(|(group, plural)| kind.is(group, plural))
}

/// Returns whether an update of the kind may omit the resourceVersion (upstream: `AllowUnconditionalUpdate`).
pub(crate) fn updates_unconditionally(kind: &Kind) -> bool {
    kind.custom().is_none() && !CONDITIONAL.iter().any(|(group, plural)| kind.is(group, plural))
}

/// Returns whether the first update of an object of the kind is stored even if the client changes nothing. That is so for
/// PersistentVolumeClaims: a new claim is stored without the phase `Pending`, which each read shows.
pub(crate) fn is_completed_by_an_update(kind: &Kind) -> bool {
    kind.is("", "persistentvolumeclaims")
}

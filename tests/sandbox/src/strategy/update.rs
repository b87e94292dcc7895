//! Per-kind rules for creates by update and for updates without a resourceVersion.

use crate::kind::Kind;

/// Kinds whose update creates an object that isn't there.
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

/// Kinds whose update must name the version that it is made from.
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

/// Kinds that judge the metadata of an update by the rules for all kinds alone.
const ONCE: [(&str, &str); 7] = [
    ("", "events"),
    ("", "limitranges"),
    ("", "persistentvolumes"),
    ("discovery.k8s.io", "endpointslices"),
    ("policy", "poddisruptionbudgets"),
    ("storage.k8s.io", "csinodes"),
    ("storage.k8s.io", "volumeattachments"),
];

/// Whether the kind's own rules repeat those for the metadata of all kinds.
pub(crate) fn revalidates_metadata(kind: &Kind) -> bool {
    let group = ["admissionregistration.k8s.io", "flowcontrol.apiserver.k8s.io"].contains(&kind.group.as_str());
    !group && !ONCE.iter().any(|(group, plural)| kind.is(group, plural))
}

/// Whether an update of the kind creates what isn't there.
pub(crate) fn creates_on_update(kind: &Kind) -> bool {
    CREATING.iter().any(|(group, plural)| kind.is(group, plural))
}

/// Whether an update of the kind may leave out the version.
pub(crate) fn updates_unconditionally(kind: &Kind) -> bool {
    kind.custom().is_none() && !CONDITIONAL.iter().any(|(group, plural)| kind.is(group, plural))
}

/// Whether a new object of the kind lacks in the store what every reader sees: `Pending`, the phase of a claim. Its first
/// update puts it there, and so is a new version even if it changes nothing.
pub(crate) fn is_completed_by_an_update(kind: &Kind) -> bool {
    kind.is("", "persistentvolumeclaims")
}

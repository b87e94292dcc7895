//! Determines the fields that the server resets when an object or a subresource is written, so that the writing manager doesn't own them.

use super::Set;
use crate::{kind::Origin, request::ResourceRequest};

/// Returns the fields that the request doesn't write, because its strategy resets them, as `api_version` names them
/// (upstream: `GetResetFields`).
pub(super) fn reset_fields(request: ResourceRequest<'_>, api_version: &str) -> Set {
    let kind = request.kind;
    if !kind.has_status() {
        return Set::default();
    }
    match (&kind.origin, request.subresource) {
        // A custom kind resets fields of its own version only, except for its status.
        (Origin::Custom(_), None) if kind.api_version() != api_version => Set::default(),
        (Origin::Custom(_), Some("status")) => Set::from_paths(&[&["metadata"], &["spec"]]),
        (Origin::Builtin, None) if kind.is("certificates.k8s.io", "certificatesigningrequests") => {
            Set::from_paths(&[&["spec"], &["status"]])
        }
        (_, None | Some("finalize")) => Set::from_paths(&[&["status"]]),
        (Origin::Builtin, Some("status")) => fields_reset_by_status(&kind.group, &kind.plural),
        (Origin::Builtin, Some("approval")) => Set::from_paths(&[&["spec"], &["status", "certificate"]]),
        _ => Set::default(),
    }
}

/// Returns the fields of a built-in kind that a write of the status resets.
fn fields_reset_by_status(group: &str, plural: &str) -> Set {
    match (group, plural) {
        ("", "pods") => {
            Set::from_paths(&[&["spec"], &["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]])
        }
        ("apps", "deployments") => Set::from_paths(&[&["spec"], &["metadata", "labels"]]),
        ("certificates.k8s.io", "certificatesigningrequests") => {
            Set::from_paths(&[&["spec"], &["status", "conditions"]])
        }
        ("networking.k8s.io", "servicecidrs")
        | ("storage.k8s.io", "volumeattachments")
        | ("admissionregistration.k8s.io", "validatingadmissionpolicies")
        | ("flowcontrol.apiserver.k8s.io" | "resource.k8s.io" | "storagemigration.k8s.io", _) => {
            Set::from_paths(&[&["metadata"], &["spec"]])
        }
        _ => Set::from_paths(&[&["spec"]]),
    }
}

//! Determines the fields that the server resets in a write, so that the writing manager doesn't own them.

use super::Set;
use crate::{kind::Origin, request::ResourceRequest};

/// Returns the fields whose values in the request the server discards, such as the status in a write of the object
/// itself (upstream: `GetResetFields`). The writing manager does not own them. `api_version` is the version whose
/// schema names the fields.
pub(super) fn reset_fields(request: ResourceRequest<'_>, api_version: &str) -> Set {
    let kind = request.kind;
    if !kind.has_status() {
        return Set::default();
    }
    match (&kind.origin, request.subresource) {
        // A custom resource has reset fields in the version of the request only; the status subresource has them in all.
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

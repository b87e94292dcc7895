//! Fields that a subresource does not write and whose ownership a write through it does not change.

use super::Set;
use crate::{kind::Origin, request::ResourceRequest};

/// Returns the fields that the strategy resets for the path of the request, as `api_version` names them.
pub(super) fn ignored(request: ResourceRequest<'_>, api_version: &str) -> Set {
    let kind = request.kind;
    if !kind.has_status() {
        return Set::default();
    }
    match (&kind.origin, request.subresource) {
        // A custom kind resets fields of its own version only, except for its status.
        (Origin::Custom(_), None) if kind.api_version() != api_version => Set::default(),
        (Origin::Custom(_), Some("status")) => Set::of(&[&["metadata"], &["spec"]]),
        (Origin::Builtin, None) if kind.is("certificates.k8s.io", "certificatesigningrequests") => {
            Set::of(&[&["spec"], &["status"]])
        }
        (_, None | Some("finalize")) => Set::of(&[&["status"]]),
        (Origin::Builtin, Some("status")) => by_status(&kind.group, &kind.plural),
        (Origin::Builtin, Some("approval")) => Set::of(&[&["spec"], &["status", "certificate"]]),
        _ => Set::default(),
    }
}

fn by_status(group: &str, plural: &str) -> Set {
    match (group, plural) {
        ("", "pods") => Set::of(&[&["spec"], &["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]]),
        ("apps", "deployments") => Set::of(&[&["spec"], &["metadata", "labels"]]),
        ("certificates.k8s.io", "certificatesigningrequests") => Set::of(&[&["spec"], &["status", "conditions"]]),
        ("networking.k8s.io", "servicecidrs")
        | ("storage.k8s.io", "volumeattachments")
        | ("admissionregistration.k8s.io", "validatingadmissionpolicies")
        | ("flowcontrol.apiserver.k8s.io" | "resource.k8s.io" | "storagemigration.k8s.io", _) => {
            Set::of(&[&["metadata"], &["spec"]])
        }
        _ => Set::of(&[&["spec"]]),
    }
}

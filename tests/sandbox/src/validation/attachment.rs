//! Validates the spec and the status of VolumeAttachments.

use super::{
    claim,
    field::{Causes, Field},
    name::{self, NameRule},
};

/// The maximum length of the name of a CSI driver, in bytes.
const MAX_DRIVER_NAME_LENGTH: usize = 63;

/// Validates the spec of a new VolumeAttachment: the attacher, one source and the node (upstream:
/// `validateVolumeAttachmentSpec`).
pub(super) fn validate_attachment_spec(spec: &Field<'_>, causes: &mut Causes) {
    validate_attacher(&spec.child("attacher"), causes);
    let source = spec.child("source");
    let (persistent_volume, inline) = (source.child("persistentVolumeName"), source.child("inlineVolumeSpec"));
    match (persistent_volume.is_set(), inline.is_set()) {
        (false, false) => source.required(causes, EXACTLY_ONE),
        (true, true) => return source.forbidden(causes, EXACTLY_ONE),
        (true, false) => persistent_volume.require(causes, "must specify non empty persistentVolumeName"),
        (false, true) => claim::validate_inline_volume(&inline, causes),
    }
    spec.child("nodeName").matches_rule(causes, NameRule::Subdomain);
    if persistent_volume.is_set() {
        persistent_volume.matches_rule(causes, NameRule::Subdomain);
    }
}

/// The message for a source with no volume or with two.
const EXACTLY_ONE: &str = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";

/// Validates the name of the CSI driver: a DNS subdomain whose letters may be uppercase (upstream: `validateAttacher`).
fn validate_attacher(attacher: &Field<'_>, causes: &mut Causes) {
    attacher.require(causes, "");
    if attacher.text().len() > MAX_DRIVER_NAME_LENGTH {
        attacher.too_long(causes, MAX_DRIVER_NAME_LENGTH);
    }
    if let (false, Some(detail)) =
        (attacher.is_empty(), name::violation(NameRule::Subdomain, &attacher.text().to_lowercase()))
    {
        attacher.invalid(causes, &detail);
    }
}

/// Validates that the error codes in the status of a VolumeAttachment are not negative.
pub(super) fn validate_attachment_status(status: &Field<'_>, causes: &mut Causes) {
    for error in ["attachError", "detachError"] {
        status.nested(&[error, "errorCode"]).in_range(causes, 0, i64::from(i32::MAX));
    }
}

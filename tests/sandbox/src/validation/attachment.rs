//! Validates VolumeAttachments.

use super::{
    at::{At, Causes},
    claim,
    name::{self, NameRule},
};

/// The longest name of a CSI driver, in bytes.
const LONGEST: usize = 63;

pub(super) fn attachment(spec: &At<'_>, causes: &mut Causes) {
    attacher(&spec.child("attacher"), causes);
    let source = spec.child("source");
    let (named, inline) = (source.child("persistentVolumeName"), source.child("inlineVolumeSpec"));
    match (named.is_set(), inline.is_set()) {
        (false, false) => source.required(causes, EXACTLY_ONE),
        (true, true) => return source.forbidden(causes, EXACTLY_ONE),
        (true, false) => named.demand(causes, "must specify non empty persistentVolumeName"),
        (false, true) => claim::inline_volume(&inline, causes),
    }
    spec.child("nodeName").matches(causes, NameRule::Subdomain);
    if named.is_set() {
        named.matches(causes, NameRule::Subdomain);
    }
}

const EXACTLY_ONE: &str = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";

/// The driver's name, in letters of any size.
fn attacher(attacher: &At<'_>, causes: &mut Causes) {
    attacher.demand(causes, "");
    if attacher.text().len() > LONGEST {
        attacher.too_long(causes, LONGEST);
    }
    if let (false, Some(why)) = (attacher.is_empty(), name::fault(NameRule::Subdomain, &attacher.text().to_lowercase()))
    {
        attacher.invalid(causes, &why);
    }
}

pub(super) fn status(status: &At<'_>, causes: &mut Causes) {
    for error in ["attachError", "detachError"] {
        status.at(&[error, "errorCode"]).within(causes, 0, i64::from(i32::MAX));
    }
}

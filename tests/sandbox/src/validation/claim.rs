//! Validates PersistentVolumes and PersistentVolumeClaims.

use serde_json::{Map, Value};

use super::{
    field::{Causes, Field},
    name::NameRule,
    selector,
};
use crate::quantity::Quantity;

/// The access modes of volumes, as the message about an unknown mode lists them.
const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/// Validates the spec of a PersistentVolumeClaim (upstream: `ValidatePersistentVolumeClaimSpec`).
pub(super) fn validate_claim(spec: &Field<'_>, causes: &mut Causes) {
    validate_access_modes(&spec.child("accessModes"), "at least 1 access mode is required", causes);
    selector::validate_label_selector(&spec.child("selector"), causes);
    let resources = spec.child("resources");
    // As upstream, errors refer to `resources[storage]` instead of `resources.requests[storage]`.
    let storage =
        Field { path: resources.key("storage").path, value: resources.nested(&["requests", "storage"]).value };
    match Quantity::parse(storage.text()) {
        Ok(amount) if amount.is_positive() => {}
        Ok(_) => storage.invalid(causes, "must be greater than zero"),
        Err(_) => storage.required(causes, ""),
    }
    spec.child("storageClassName").optional_name(causes, NameRule::Subdomain);
    spec.child("volumeMode").optional_enum(causes, &["Block", "Filesystem"]);
}

/// Validates that a list of access modes is not empty, has known modes only, and combines `ReadWriteOncePod` with no other mode. `detail`
/// is the message for an empty list.
fn validate_access_modes(modes: &Field<'_>, detail: &str, causes: &mut Causes) {
    if modes.is_empty() {
        modes.required(causes, detail);
    }
    let mut has_exclusive_mode = false;
    for mode in modes.items() {
        if !MODES.contains(&mode.text()) {
            // As upstream, the path in the error has no index.
            Field { path: modes.path.clone(), value: mode.value }.unsupported(causes, &MODES);
        }
        has_exclusive_mode |= mode.text() == "ReadWriteOncePod";
    }
    if has_exclusive_mode && modes.items().count() > 1 {
        modes.forbidden(causes, "may not use ReadWriteOncePod with other access modes");
    }
}

/// Validates that an update of a PersistentVolumeClaim changes no immutable field of its spec. If `bound` is true, the resources may
/// change.
pub(super) fn validate_claim_update(new: &Field<'_>, old: &Field<'_>, bound: bool, causes: &mut Causes) {
    let immutable_fields = |spec: &Field<'_>| -> Map<String, Value> {
        let mut spec = spec.map().cloned().unwrap_or_default();
        spec.remove("volumeAttributesClassName");
        if bound {
            spec.remove("resources");
        }
        spec
    };
    // The volume and the class can be set once, by a user or by the controller.
    let (mut new_fields, old_fields) = (immutable_fields(new), immutable_fields(old));
    for key in ["volumeName", "storageClassName"] {
        if !old_fields.contains_key(key) {
            new_fields.remove(key);
        }
    }
    if new_fields != old_fields {
        let detail =
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        new.forbidden(causes, detail);
    }
}

/// Validates `inlineVolumeSpec` of a VolumeAttachment, which describes a CSI volume without a PersistentVolume: no capacity, a CSI driver,
/// and access modes.
pub(super) fn validate_inline_volume(spec: &Field<'_>, causes: &mut Causes) {
    let (capacity, driver) = (spec.child("capacity"), spec.child("csi"));
    if capacity.is_set() {
        capacity.forbidden(causes, "may not be specified in the context of inline volumes");
    }
    if !driver.is_set() {
        driver.required(causes, "has to be specified in the context of inline volumes");
    }
    validate_access_modes(&spec.child("accessModes"), "", causes);
}

/// Validates the spec of a PersistentVolume: access modes, capacity, and a volume source (upstream:
/// `ValidatePersistentVolumeSpec`).
pub(super) fn validate_volume(spec: &Field<'_>, causes: &mut Causes) {
    validate_access_modes(&spec.child("accessModes"), "", causes);
    let capacity = spec.child("capacity");
    capacity.require(causes, "");
    if capacity.entries().count() != 1 || capacity.child("storage").is_empty() {
        capacity.unsupported(causes, &["storage"]);
    }
    spec.child("persistentVolumeReclaimPolicy").optional_enum(causes, &["Delete", "Recycle", "Retain"]);
    // Every field that is not in this list is a volume source, such as `csi` or `nfs`.
    const NOT_SOURCES: [&str; 9] = [
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    ];
    if spec.entries().all(|(key, _)| NOT_SOURCES.contains(&key.as_str())) {
        spec.required(causes, "must specify a volume type");
    }
    spec.child("storageClassName").optional_name(causes, NameRule::Subdomain);
    spec.child("volumeMode").optional_enum(causes, &["Block", "Filesystem"]);
}

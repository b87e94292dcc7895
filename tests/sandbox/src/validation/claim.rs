//! Validates PersistentVolumes and PersistentVolumeClaims.

use serde_json::{Map, Value};

use super::{
    at::{At, Causes},
    name::NameRule,
    selector,
};
use crate::quantity::Quantity;

const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

pub(super) fn claim(spec: &At<'_>, causes: &mut Causes) {
    access(&spec.child("accessModes"), "at least 1 access mode is required", causes);
    selector::selector(&spec.child("selector"), causes);
    let resources = spec.child("resources");
    let storage = At { path: resources.key("storage").path, value: resources.at(&["requests", "storage"]).value };
    match Quantity::parse(storage.text()) {
        Ok(amount) if amount.is_positive() => {}
        Ok(_) => storage.invalid(causes, "must be greater than zero"),
        Err(_) => storage.required(causes, ""),
    }
    spec.child("storageClassName").if_named(causes, NameRule::Subdomain);
    spec.child("volumeMode").if_one_of(causes, &["Block", "Filesystem"]);
}

fn access(modes: &At<'_>, detail: &str, causes: &mut Causes) {
    if modes.is_empty() {
        modes.required(causes, detail);
    }
    let mut alone = false;
    for mode in modes.items() {
        if !MODES.contains(&mode.text()) {
            At { path: modes.path.clone(), value: mode.value }.unsupported(causes, &MODES);
        }
        alone |= mode.text() == "ReadWriteOncePod";
    }
    if alone && modes.items().count() > 1 {
        modes.forbidden(causes, "may not use ReadWriteOncePod with other access modes");
    }
}

/// An unbound claim keeps what it asks for; a bound one may ask for more room.
pub(super) fn claim_update(new: &At<'_>, old: &At<'_>, bound: bool, causes: &mut Causes) {
    let free = |spec: &At<'_>| -> Map<String, Value> {
        let mut spec = spec.map().cloned().unwrap_or_default();
        spec.remove("volumeAttributesClassName");
        if bound {
            spec.remove("resources");
        }
        spec
    };
    // The volume and the class are chosen once, by whoever comes first.
    let (mut is, was) = (free(new), free(old));
    for chosen in ["volumeName", "storageClassName"] {
        if !was.contains_key(chosen) {
            is.remove(chosen);
        }
    }
    if is != was {
        let why =
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        new.forbidden(causes, why);
    }
}

/// The volume of an attachment that names no PersistentVolume.
pub(super) fn inline_volume(spec: &At<'_>, causes: &mut Causes) {
    let (capacity, driver) = (spec.child("capacity"), spec.child("csi"));
    if capacity.is_set() {
        capacity.forbidden(causes, "may not be specified in the context of inline volumes");
    }
    if !driver.is_set() {
        driver.required(causes, "has to be specified in the context of inline volumes");
    }
    access(&spec.child("accessModes"), "", causes);
}

pub(super) fn volume(spec: &At<'_>, causes: &mut Causes) {
    access(&spec.child("accessModes"), "", causes);
    let capacity = spec.child("capacity");
    capacity.demand(causes, "");
    if capacity.entries().count() != 1 || capacity.child("storage").is_empty() {
        capacity.unsupported(causes, &["storage"]);
    }
    spec.child("persistentVolumeReclaimPolicy").if_one_of(causes, &["Delete", "Recycle", "Retain"]);
    const BESIDE: [&str; 9] = [
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
    if spec.entries().all(|(key, _)| BESIDE.contains(&key.as_str())) {
        spec.required(causes, "must specify a volume type");
    }
    spec.child("storageClassName").if_named(causes, NameRule::Subdomain);
    spec.child("volumeMode").if_one_of(causes, &["Block", "Filesystem"]);
}

//! Prints the table cells of PersistentVolumes, PersistentVolumeClaims, StorageClasses and CSI objects, and of ConfigMaps and Secrets.

use jiff::Timestamp;
use serde_json::Value;

use super::format::{Cells, UNSET, items, length, row_with_age, scalar_text, text_or};
use crate::object::{at, is_deleting, text};

/// Returns the function that prints the table row of a kind; `None` if this module has none for the kind.
pub(super) fn printer_for(group: &str, plural: &str) -> Option<Cells> {
    Some(match (group, plural) {
        ("", "configmaps") => |object, now| {
            row_with_age(object, now, [(length(object, &["data"]) + length(object, &["binaryData"])).into()])
        },
        ("", "secrets") => {
            |object, now| row_with_age(object, now, [text(object, &["type"]).into(), length(object, &["data"]).into()])
        }
        ("", "persistentvolumeclaims") => claim,
        ("", "persistentvolumes") => volume,
        ("storage.k8s.io", "storageclasses") => storage_class,
        ("storage.k8s.io", "csinodes") => {
            |object, now| row_with_age(object, now, [length(object, &["spec", "drivers"]).into()])
        }
        ("storage.k8s.io", "csidrivers") => csi_driver,
        ("storage.k8s.io", "volumeattachments") => volume_attachment,
        ("storage.k8s.io", "volumeattributesclasses") => {
            |object, now| row_with_age(object, now, [text(object, &["driverName"]).into()])
        }
        _ => return None,
    })
}

/// The access modes with their short names, in the order in which they are printed.
const ACCESS_MODES: [(&str, &str); 4] =
    [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")];

/// Formats the access modes at a path as `RWO,ROX`, each mode once (`GetAccessModesAsString` of Kubernetes).
fn access_modes(object: &Value, path: &[&str]) -> String {
    let modes = items(object, path);
    let listed = ACCESS_MODES.iter().filter(|(mode, _)| modes.iter().any(|listed| listed == mode));
    listed.map(|(_, short)| *short).collect::<Vec<_>>().join(",")
}

/// Returns the phase of a claim or volume; `Terminating` if it is being deleted.
fn phase(object: &Value) -> Value {
    if is_deleting(object) { "Terminating".into() } else { text(object, &["status", "phase"]).into() }
}

/// Prints the row of a PersistentVolumeClaim; capacity and access modes are empty until it is bound.
fn claim(object: &Value, now: Timestamp) -> Vec<Value> {
    let volume = text(object, &["spec", "volumeName"]);
    let is_bound = !volume.is_empty();
    let capacity = if is_bound { scalar_text(object, &["status", "capacity", "storage"], "") } else { String::new() };
    let modes = if is_bound { access_modes(object, &["status", "accessModes"]) } else { String::new() };
    let class = text(object, &["spec", "storageClassName"]);
    let cells = [
        phase(object),
        volume.into(),
        capacity.into(),
        modes.into(),
        class.into(),
        text_or(object, &["spec", "volumeAttributesClassName"], UNSET),
    ];
    let mut row = row_with_age(object, now, cells);
    row.push(text_or(object, &["spec", "volumeMode"], UNSET));
    row
}

/// Prints the row of a PersistentVolume.
fn volume(object: &Value, now: Timestamp) -> Vec<Value> {
    let claim_key = at(object, &["spec", "claimRef"]);
    let claim_key = claim_key.map(|claim| format!("{}/{}", text(claim, &["namespace"]), text(claim, &["name"])));
    let cells = [
        scalar_text(object, &["spec", "capacity", "storage"], "0").into(),
        access_modes(object, &["spec", "accessModes"]).into(),
        text(object, &["spec", "persistentVolumeReclaimPolicy"]).into(),
        phase(object),
        claim_key.unwrap_or_default().into(),
        text(object, &["spec", "storageClassName"]).into(),
        text_or(object, &["spec", "volumeAttributesClassName"], UNSET),
        text(object, &["status", "reason"]).into(),
    ];
    let mut row = row_with_age(object, now, cells);
    row.push(text_or(object, &["spec", "volumeMode"], UNSET));
    row
}

/// Prints the row of a StorageClass; the default class is marked at its name.
fn storage_class(object: &Value, now: Timestamp) -> Vec<Value> {
    let allows_expansion = object["allowVolumeExpansion"] == true;
    let cells = [
        text(object, &["provisioner"]).into(),
        text_or(object, &["reclaimPolicy"], "Delete"),
        text_or(object, &["volumeBindingMode"], "Immediate"),
        allows_expansion.into(),
    ];
    let mut row = row_with_age(object, now, cells);
    let is_default = "storageclass.kubernetes.io/is-default-class";
    if text(object, &["metadata", "annotations", is_default]) == "true" {
        row[0] = format!("{} (default)", crate::object::name(object)).into();
    }
    row
}

/// Prints the row of a CSIDriver.
fn csi_driver(object: &Value, now: Timestamp) -> Vec<Value> {
    let flag = |field, default: bool| at(object, &["spec", field]).and_then(Value::as_bool).unwrap_or(default).into();
    // Joins the texts of a list. `item_path` is the path of the text in an item; it is empty if the items are texts.
    let list = |path: &[&str], item_path: &[&str]| {
        let texts: Vec<&str> = items(object, path)
            .iter()
            .map(|item| if item_path.is_empty() { item.as_str().unwrap_or_default() } else { text(item, item_path) })
            .collect();
        if texts.is_empty() { UNSET.to_owned() } else { texts.join(",") }
    };
    let cells = [
        flag("attachRequired", true),
        flag("podInfoOnMount", false),
        flag("storageCapacity", false),
        list(&["spec", "tokenRequests"], &["audience"]).into(),
        flag("requiresRepublish", false),
        list(&["spec", "volumeLifecycleModes"], &[]).into(),
    ];
    row_with_age(object, now, cells)
}

/// Prints the row of a VolumeAttachment.
fn volume_attachment(object: &Value, now: Timestamp) -> Vec<Value> {
    let cells = [
        text(object, &["spec", "attacher"]).into(),
        text(object, &["spec", "source", "persistentVolumeName"]).into(),
        text(object, &["spec", "nodeName"]).into(),
        (object["status"]["attached"] == true).into(),
    ];
    row_with_age(object, now, cells)
}

//! Prints the table cells of volumes, claims and storage classes.

use jiff::Timestamp;
use serde_json::Value;

use super::format::{Cells, UNSET, aged, items, length, or, plain};
use crate::object::{at, is_deleting, text};

pub(super) fn of(group: &str, plural: &str) -> Option<Cells> {
    Some(match (group, plural) {
        ("", "configmaps") => {
            |object, now| aged(object, now, [(length(object, &["data"]) + length(object, &["binaryData"])).into()])
        }
        ("", "secrets") => {
            |object, now| aged(object, now, [text(object, &["type"]).into(), length(object, &["data"]).into()])
        }
        ("", "persistentvolumeclaims") => claim,
        ("", "persistentvolumes") => volume,
        ("storage.k8s.io", "storageclasses") => class,
        ("storage.k8s.io", "csinodes") => {
            |object, now| aged(object, now, [length(object, &["spec", "drivers"]).into()])
        }
        ("storage.k8s.io", "csidrivers") => driver,
        ("storage.k8s.io", "volumeattachments") => attachment,
        ("storage.k8s.io", "volumeattributesclasses") => {
            |object, now| aged(object, now, [text(object, &["driverName"]).into()])
        }
        _ => return None,
    })
}

/// Formats access modes as `RWO,ROX`.
fn modes(object: &Value, path: &[&str]) -> String {
    let short = |mode: &Value| match mode.as_str().unwrap_or_default() {
        "ReadWriteOnce" => "RWO",
        "ReadOnlyMany" => "ROX",
        "ReadWriteMany" => "RWX",
        "ReadWriteOncePod" => "RWOP",
        _ => "",
    };
    items(object, path).iter().map(short).collect::<Vec<_>>().join(",")
}

fn phase(object: &Value) -> Value {
    if is_deleting(object) { "Terminating".into() } else { text(object, &["status", "phase"]).into() }
}

fn claim(object: &Value, now: Timestamp) -> Vec<Value> {
    let volume = text(object, &["spec", "volumeName"]);
    let bound = !volume.is_empty();
    let capacity = if bound { plain(object, &["status", "capacity", "storage"], "") } else { String::new() };
    let access = if bound { modes(object, &["status", "accessModes"]) } else { String::new() };
    let class = text(object, &["spec", "storageClassName"]);
    let cells = [
        phase(object),
        volume.into(),
        capacity.into(),
        access.into(),
        class.into(),
        or(object, &["spec", "volumeAttributesClassName"], UNSET),
    ];
    let mut row = aged(object, now, cells);
    row.push(or(object, &["spec", "volumeMode"], UNSET));
    row
}

fn volume(object: &Value, now: Timestamp) -> Vec<Value> {
    let claimed = at(object, &["spec", "claimRef"]);
    let claimed = claimed.map(|claim| format!("{}/{}", text(claim, &["namespace"]), text(claim, &["name"])));
    let cells = [
        plain(object, &["spec", "capacity", "storage"], "0").into(),
        modes(object, &["spec", "accessModes"]).into(),
        text(object, &["spec", "persistentVolumeReclaimPolicy"]).into(),
        phase(object),
        claimed.unwrap_or_default().into(),
        text(object, &["spec", "storageClassName"]).into(),
        or(object, &["spec", "volumeAttributesClassName"], UNSET),
        text(object, &["status", "reason"]).into(),
    ];
    let mut row = aged(object, now, cells);
    row.push(or(object, &["spec", "volumeMode"], UNSET));
    row
}

fn class(object: &Value, now: Timestamp) -> Vec<Value> {
    let expands = object["allowVolumeExpansion"] == true;
    let cells = [
        text(object, &["provisioner"]).into(),
        or(object, &["reclaimPolicy"], "Delete"),
        or(object, &["volumeBindingMode"], "Immediate"),
        expands.into(),
    ];
    let mut row = aged(object, now, cells);
    let is_default = "storageclass.kubernetes.io/is-default-class";
    if text(object, &["metadata", "annotations", is_default]) == "true" {
        row[0] = format!("{} (default)", crate::object::name(object)).into();
    }
    row
}

fn driver(object: &Value, now: Timestamp) -> Vec<Value> {
    let truth =
        |field, otherwise: bool| at(object, &["spec", field]).and_then(Value::as_bool).unwrap_or(otherwise).into();
    let list = |path: &[&str], of: &[&str]| {
        let words: Vec<&str> = items(object, path)
            .iter()
            .map(|item| if of.is_empty() { item.as_str().unwrap_or_default() } else { text(item, of) })
            .collect();
        if words.is_empty() { UNSET.to_owned() } else { words.join(",") }
    };
    let cells = [
        truth("attachRequired", true),
        truth("podInfoOnMount", false),
        truth("storageCapacity", false),
        list(&["spec", "tokenRequests"], &["audience"]).into(),
        truth("requiresRepublish", false),
        list(&["spec", "volumeLifecycleModes"], &[]).into(),
    ];
    aged(object, now, cells)
}

fn attachment(object: &Value, now: Timestamp) -> Vec<Value> {
    let cells = [
        text(object, &["spec", "attacher"]).into(),
        text(object, &["spec", "source", "persistentVolumeName"]).into(),
        text(object, &["spec", "nodeName"]).into(),
        (object["status"]["attached"] == true).into(),
    ];
    aged(object, now, cells)
}

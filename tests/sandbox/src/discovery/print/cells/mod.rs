//! Prints the table cells of built-in kinds, like `pkg/printers/internalversion` of kube-apiserver.

pub(super) use format::Cells;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::object::{name, text};

mod cluster;
mod events;
mod format;
mod network;
mod nodes;
mod pods;
mod policy;
mod rights;
mod storage;
mod workloads;

/// Returns the function that prints the table row of a built-in kind; for a kind without its own, the row has the name and the creation
/// time.
pub(super) fn printer_for(group: &str, plural: &str) -> Cells {
    [
        workloads::printer_for,
        network::printer_for,
        storage::printer_for,
        policy::printer_for,
        rights::printer_for,
        cluster::printer_for,
    ]
    .iter()
    .find_map(|printer_for| printer_for(group, plural))
    .unwrap_or(name_and_creation)
}

/// Returns the condition `Completed` for the table row of a completed Pod, so that clients can hide the row; `None` for other objects.
pub(super) fn conditions(object: &Value) -> Option<Value> {
    let phase = text(object, &["status", "phase"]);
    let message = match phase {
        "Succeeded" => "The pod has completed successfully.",
        "Failed" => "The pod failed.",
        _ => return None,
    };
    let is_pod = text(object, &["kind"]) == "Pod";
    is_pod.then(|| json!([{"type": "Completed", "status": "True", "reason": phase, "message": message}]))
}

/// Prints the row of a kind without a printer.
fn name_and_creation(object: &Value, _: Timestamp) -> Vec<Value> {
    vec![name(object).into(), text(object, &["metadata", "creationTimestamp"]).into()]
}

//! Separates writes of the status from writes of the object.

use serde_json::{Map, Value, json};

use super::{default::set_defaults, pod};
use crate::{kind::Kind, object, request::ResourceRequest};

/// The metadata that a status write of some kinds keeps, in addition to the metadata that no write changes.
const KEPT_METADATA: [&str; 4] = ["labels", "annotations", "finalizers", "ownerReferences"];

/// Resets the status of a new object to its initial value, except that of a Node, whose kubelet creates it with a
/// status.
pub(super) fn reset_status(request: ResourceRequest<'_>, object: &mut Value) {
    let kind = request.kind;
    // A kubelet creates its Node with a status.
    if !kind.has_status() || kind.is("", "nodes") {
        return;
    }
    let status = match &kind.origin {
        _ if kind.custom().is_some() => None,
        _ if kind.is("", "pods") => Some(pod::initial_status(object)),
        _ => empty_status(kind),
    };
    if let Value::Object(fields) = object {
        object::set(fields, "status", status);
    }
    if kind.is("", "persistentvolumes") {
        let now = request.server.environment.time();
        object::map_at(object, &["status"]).insert("lastPhaseTransitionTime".into(), now.into());
    }
}

/// Returns the status that an object without fields gets by defaulting; `None` if it gets none.
fn empty_status(kind: &Kind) -> Option<Value> {
    let mut object = json!({});
    crate::schema::default(kind.schema(), &mut object);
    set_defaults(kind, &mut object);
    object.get_mut("status").map(Value::take)
}

/// Keeps the status in a write of the object.
pub(super) fn keep_status(kind: &Kind, new: &mut Map<String, Value>, old: &Map<String, Value>) {
    if kind.has_status() {
        object::set(new, "status", old.get("status").cloned());
    }
}

/// Keeps everything except the status and some metadata in a write of the status.
pub(super) fn keep_all_but_status(kind: &Kind, new: &mut Value, old: &Value) {
    let (Value::Object(fields), Value::Object(old_fields)) = (&mut *new, old) else { return };
    let mut status = fields.remove("status");
    let written = fields.remove("metadata").unwrap_or_default();
    if kind.is("", "pods")
        && let Some(status) = &mut status
    {
        pod::keep_qos_class(status, old);
    }
    fields.clone_from(old_fields);
    object::set(fields, "status", status);
    let Some(Value::Object(metadata)) = fields.get_mut("metadata") else { return };
    for key in ["resourceVersion", "managedFields"] {
        object::set(metadata, key, written.get(key).cloned());
    }
    for key in KEPT_METADATA.iter().filter(|part| !metadata_kept_by_status_write(kind).contains(part)) {
        object::set(metadata, key, written.get(*key).cloned());
    }
}

/// Returns the metadata that a status write of the kind doesn't change.
fn metadata_kept_by_status_write(kind: &Kind) -> &'static [&'static str] {
    let keeping_all = [
        ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
        ("networking.k8s.io", "servicecidrs"),
        ("resource.k8s.io", "resourceclaims"),
        ("storage.k8s.io", "volumeattachments"),
    ];
    match kind {
        _ if kind.custom().is_some() || keeping_all.iter().any(|(group, plural)| kind.is(group, plural)) => {
            &KEPT_METADATA
        }
        _ if kind.is("apps", "deployments") => &["labels"],
        _ if kind.is("", "pods") => &["ownerReferences"],
        _ => &[],
    }
}

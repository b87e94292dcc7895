//! Separates writes of the status from writes of the object.

use serde_json::{Map, Value, json};

use super::{default::set_defaults, pod};
use crate::{kind::Kind, object, request::ResourceRequest};

/// The metadata that a status write of some kinds keeps, in addition to the metadata that no write changes.
const KEPT_METADATA: [&str; 4] = ["labels", "annotations", "finalizers", "ownerReferences"];

/// Resets the status of a new object to the initial status of its kind, so that a create can't set it. Does nothing for a
/// kind without the status subresource.
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

/// Returns the status that an object without fields gets from the defaults of its kind; `None` if they set no status.
fn empty_status(kind: &Kind) -> Option<Value> {
    let mut object = json!({});
    crate::schema::default(kind.schema(), &mut object);
    set_defaults(kind, &mut object);
    object.get_mut("status").map(Value::take)
}

/// Restores the old status in a write of the object itself, if the kind has the status subresource.
pub(super) fn keep_status(kind: &Kind, new: &mut Map<String, Value>, old: &Map<String, Value>) {
    if kind.has_status() {
        object::set(new, "status", old.get("status").cloned());
    }
}

/// Restores the old values of all fields in a write of the status subresource, except for the status itself and the metadata
/// that such a write may change.
pub(super) fn keep_all_but_status(kind: &Kind, new: &mut Value, old: &Value) {
    let (Value::Object(fields), Value::Object(old_fields)) = (&mut *new, old) else { return };
    let mut status = fields.remove("status");
    let written_metadata = fields.remove("metadata").unwrap_or_default();
    if kind.is("", "pods")
        && let Some(status) = &mut status
    {
        pod::keep_qos_class(status, old);
    }
    fields.clone_from(old_fields);
    object::set(fields, "status", status);
    let Some(Value::Object(metadata)) = fields.get_mut("metadata") else { return };
    for key in ["resourceVersion", "managedFields"] {
        object::set(metadata, key, written_metadata.get(key).cloned());
    }
    for key in KEPT_METADATA.iter().filter(|key| !metadata_kept_by_status_write(kind).contains(key)) {
        object::set(metadata, key, written_metadata.get(*key).cloned());
    }
}

/// Returns the fields of [`KEPT_METADATA`] that a write of the status subresource of the kind doesn't change.
fn metadata_kept_by_status_write(kind: &Kind) -> &'static [&'static str] {
    let kinds_that_keep_all = [
        ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
        ("networking.k8s.io", "servicecidrs"),
        ("resource.k8s.io", "resourceclaims"),
        ("storage.k8s.io", "volumeattachments"),
    ];
    match kind {
        _ if kind.custom().is_some() || kinds_that_keep_all.iter().any(|(group, plural)| kind.is(group, plural)) => {
            &KEPT_METADATA
        }
        _ if kind.is("apps", "deployments") => &["labels"],
        _ if kind.is("", "pods") => &["ownerReferences"],
        _ => &[],
    }
}

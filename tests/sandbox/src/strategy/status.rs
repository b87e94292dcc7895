//! Separates writes of the status from writes of the object.

use serde_json::{Map, Value, json};

use super::{default::default, pod};
use crate::{kind::Kind, object, request::ResourceRequest};

/// The metadata that a status write may not change, in addition to the metadata that no write changes.
const ALL: [&str; 4] = ["labels", "annotations", "finalizers", "ownerReferences"];

/// Resets the status of a new object to its initial value.
pub(super) fn begin(request: ResourceRequest<'_>, object: &mut Value) {
    let kind = request.kind;
    // A kubelet creates its Node with a status.
    if !kind.has_status() || kind.is("", "nodes") {
        return;
    }
    let status = match &kind.origin {
        _ if kind.custom().is_some() => None,
        _ if kind.is("", "pods") => Some(pod::first_status(object)),
        _ => empty(kind),
    };
    if let Value::Object(fields) = object {
        object::set(fields, "status", status);
    }
    if kind.is("", "persistentvolumes") {
        let now = request.server.environment.time();
        object::map_at(object, &["status"]).insert("lastPhaseTransitionTime".into(), now.into());
    }
}

/// Returns the status of an object without fields.
fn empty(kind: &Kind) -> Option<Value> {
    let mut bare = json!({});
    crate::schema::default(kind.schema(), &mut bare);
    default(kind, &mut bare);
    bare.get_mut("status").map(Value::take)
}

/// Keeps the status in a write of the object.
pub(super) fn keep(kind: &Kind, new: &mut Map<String, Value>, old: &Map<String, Value>) {
    if kind.has_status() {
        object::set(new, "status", old.get("status").cloned());
    }
}

/// Keeps everything except the status and some metadata in a write of the status.
pub(super) fn only(kind: &Kind, new: &mut Value, old: &Value) {
    let (Value::Object(fields), Value::Object(held)) = (&mut *new, old) else { return };
    let mut status = fields.remove("status");
    let written = fields.remove("metadata").unwrap_or_default();
    if kind.is("", "pods")
        && let Some(status) = &mut status
    {
        pod::keep_quality(status, old);
    }
    fields.clone_from(held);
    object::set(fields, "status", status);
    let Some(Value::Object(metadata)) = fields.get_mut("metadata") else { return };
    for own in ["resourceVersion", "managedFields"] {
        object::set(metadata, own, written.get(own).cloned());
    }
    for free in ALL.iter().filter(|part| !kept_by_status(kind).contains(part)) {
        object::set(metadata, free, written.get(*free).cloned());
    }
}

/// Returns the metadata that a status write of the kind does not change.
fn kept_by_status(kind: &Kind) -> &'static [&'static str] {
    let all = [
        ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
        ("networking.k8s.io", "servicecidrs"),
        ("resource.k8s.io", "resourceclaims"),
        ("storage.k8s.io", "volumeattachments"),
    ];
    match kind {
        _ if kind.custom().is_some() || all.iter().any(|(group, plural)| kind.is(group, plural)) => &ALL,
        _ if kind.is("apps", "deployments") => &["labels"],
        _ if kind.is("", "pods") => &["ownerReferences"],
        _ => &[],
    }
}

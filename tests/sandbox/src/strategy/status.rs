//! Separates writes of the status from writes of the object.

use serde_json::{Map, Value, json};

use super::{default::default, pod};
use crate::{kind::Kind, object, request::ResourceRequest};

/// What a write of a status may not change of the metadata, beside what no write may.
const ALL: [&str; 4] = ["labels", "annotations", "finalizers", "ownerReferences"];

/// A new object has only the status that the server gives it.
pub(super) fn begin(request: ResourceRequest<'_>, object: &mut Value) {
    let kind = request.kind;
    // A kubelet creates its Node with the status that it has.
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

/// The status of an object that says nothing.
fn empty(kind: &Kind) -> Option<Value> {
    let mut bare = json!({});
    crate::schema::default(kind.schema(), &mut bare);
    default(kind, &mut bare);
    bare.get_mut("status").map(Value::take)
}

/// A write of the object keeps its status.
pub(super) fn keep(kind: &Kind, new: &mut Map<String, Value>, old: &Map<String, Value>) {
    if kind.has_status() {
        object::set(new, "status", old.get("status").cloned());
    }
}

/// A write of the status keeps everything else, but for some metadata of some kinds.
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

/// The metadata that a write of the kind's status leaves alone.
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

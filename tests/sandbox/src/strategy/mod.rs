//! What the server itself says about an object, kind by kind: metadata, status, generation, times of grace.

use serde_json::Value;

use crate::{
    failure::Failure,
    kind::{Kind, definition},
    object,
    sandbox::Server,
    verb::Asked,
};

/// How many letters a generated name gets.
const SUFFIX: usize = 5;

/// Gives a name to an object that has only the beginning of one.
pub(crate) fn generate_name(server: &Server, object: &mut Value) {
    let begin = object::text(object, &["metadata", "generateName"]);
    if object::name(object).is_empty() && !begin.is_empty() {
        // A name is at most 63 letters long where it may be a label.
        let begin: String = begin.chars().take(63 - SUFFIX).collect();
        let name = format!("{begin}{}", server.environment.suffix(SUFFIX));
        object::metadata_mut(object).insert("name".into(), name.into());
    }
}

/// The metadata that a new object gets.
pub(crate) fn fill_metadata(server: &Server, object: &mut Value) {
    let (uid, time) = (server.environment.uid(), server.environment.time());
    let metadata = object::metadata_mut(object);
    for given in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion", "generation"] {
        metadata.remove(given);
    }
    metadata.insert("uid".into(), uid.into());
    metadata.insert("creationTimestamp".into(), time.into());
}

/// The metadata that no write changes.
pub(crate) fn keep_metadata(new: &mut Value, old: &Value) {
    let metadata = object::metadata_mut(new);
    for kept in [
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "generateName",
        "selfLink",
    ] {
        match object::at(old, &["metadata", kept]) {
            Some(value) => metadata.insert(kept.into(), value.clone()),
            None => metadata.remove(kept),
        };
    }
    if let Some(version) = object::version(old) {
        metadata.insert("resourceVersion".into(), version.into());
    }
}

/// A new object has no status yet, and its first generation.
pub(crate) fn prepare_create(asked: Asked<'_>, object: &mut Value) -> Result<(), Failure> {
    if let Value::Object(map) = object
        && asked.kind.has_status()
    {
        map.remove("status");
    }
    if has_generation(asked.kind) {
        object::metadata_mut(object).insert("generation".into(), 1.into());
    }
    if definition::is(asked.kind) {
        definition::prepare_create(object);
    }
    Ok(())
}

/// A write of the object leaves its status alone, and one of the status the rest; a new spec is a new generation.
pub(crate) fn prepare_update(asked: Asked<'_>, new: &mut Value, old: &Value) -> Result<(), Failure> {
    let (Value::Object(fields), Value::Object(held)) = (&mut *new, old) else { return Ok(()) };
    if asked.subresource == Some("status") {
        let status = fields.get("status").cloned();
        let version = fields.get("metadata").and_then(|metadata| metadata.get("resourceVersion")).cloned();
        let managed = fields.get("metadata").and_then(|metadata| metadata.get("managedFields")).cloned();
        fields.clone_from(held);
        set(fields, "status", status);
        if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
            set(metadata, "resourceVersion", version);
            set(metadata, "managedFields", managed);
        }
        return Ok(());
    }
    if asked.kind.has_status() {
        set(fields, "status", held.get("status").cloned());
    }
    if definition::is(asked.kind) {
        definition::prepare_update(new);
    }
    let (Value::Object(fields), Value::Object(held)) = (&mut *new, old) else { return Ok(()) };
    if has_generation(asked.kind) {
        // A custom kind without a status of its own path has one field more of that name.
        let parts = if asked.kind.custom().is_some() { &["metadata"][..] } else { &["metadata", "status"] };
        let content = |object: &serde_json::Map<String, Value>| {
            let mut content = object.clone();
            parts.iter().for_each(|part| drop(content.remove(*part)));
            content
        };
        if content(fields) != content(held) {
            let generation = object::number(old, &["metadata", "generation"]).unwrap_or(0) + 1;
            object::metadata_mut(new).insert("generation".into(), generation.into());
        }
    }
    Ok(())
}

/// Whether objects of the kind count their specs.
fn has_generation(kind: &Kind) -> bool {
    kind.custom().is_some() || kind.group == "apps" || kind.schema().field("spec").is_some() && kind.has_status()
}

/// The time of grace that a deletion gives.
pub(crate) fn grace_period(kind: &Kind, object: &Value, wanted: Option<i64>) -> i64 {
    if !kind.is("", "pods") {
        return 0;
    }
    // A Pod that was never bound to a node has nobody to wait for.
    let unbound = object::text(object, &["spec", "nodeName"]).is_empty();
    let ended = matches!(object::text(object, &["status", "phase"]), "Succeeded" | "Failed");
    let own = object::number(object, &["spec", "terminationGracePeriodSeconds"]).unwrap_or(30);
    if unbound || ended { 0 } else { wanted.unwrap_or(own) }
}

/// Whether something besides finalizers keeps a deleted object: a namespace has finalizers in its spec.
pub(crate) fn holds_deleted(kind: &Kind, object: &Value) -> bool {
    let finalizers = object::at(object, &["spec", "finalizers"]).and_then(Value::as_array);
    kind.is("", "namespaces") && finalizers.is_some_and(|finalizers| !finalizers.is_empty())
}

/// Whether a deletion is answered with the object that is gone, not with a `Status`.
pub(crate) fn answers_deleted_object(kind: &Kind) -> bool {
    const OBJECTS: [&str; 4] = ["pods", "services", "serviceaccounts", "persistentvolumeclaims"];
    kind.group.is_empty() && OBJECTS.contains(&kind.plural.as_str())
}

fn set(map: &mut serde_json::Map<String, Value>, key: &str, value: Option<Value>) {
    match value {
        Some(value) => map.insert(key.to_owned(), value),
        None => map.remove(key),
    };
}

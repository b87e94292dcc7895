//! What the server itself says about an object, kind by kind: defaults, metadata, status, generation.

use serde_json::{Map, Value};

pub(crate) use metadata::{fill_metadata, generate_name, keep_metadata};
pub(crate) use update::{creates_on_update, is_completed_by_an_update, judges_metadata_again, updates_unconditionally};
pub(crate) use warning::warnings;

use crate::{
    failure::Failure,
    kind::{Kind, Origin, definition},
    object,
    verb::Asked,
};

pub(crate) mod daemon_set;
mod defaults;
mod generation;
mod job;
mod metadata;
mod namespace;
mod pod;
mod secret;
pub(crate) mod service;
pub(crate) mod service_address;
mod signing_request;
mod special;
mod status;
mod update;
mod warning;
pub(crate) mod written;

/// Fills in what a built-in kind's own code does on reading, after the defaults of the schema.
/// Of a custom object that is the form of its metadata.
pub(crate) fn default(kind: &Kind, object: &mut Value) {
    match kind.origin {
        Origin::Custom(_) => written::metadata(object),
        Origin::Builtin => {
            if let Some(definition) = kind.definition() {
                written::definition(definition, object);
            }
        }
    }
}

/// A new object has no status yet, and its first generation.
pub(crate) fn prepare_create(asked: Asked<'_>, object: &mut Value) -> Result<(), Failure> {
    let kind = asked.kind;
    written::forget_empty(kind, object);
    status::begin(asked, object);
    generation::begin(kind, object);
    match kind.plural.as_str() {
        _ if kind.custom().is_some() => {}
        "certificatesigningrequests" => signing_request::begin(object, &asked.call.user),
        "daemonsets" => daemon_set::begin(object),
        "jobs" => job::select_pods(object),
        // Admission may have given it an account.
        "pods" => pod::default_spec(object::map_at(object, &["spec"])),
        "namespaces" => namespace::prepare_create(object),
        "services" => service_address::allocate(asked.server, object),
        _ => {}
    }
    if definition::is(asked.kind) {
        definition::prepare_create(object);
    }
    Ok(())
}

/// A write of the object leaves its status alone, and one of the status the rest; a new spec is a new generation.
pub(crate) fn prepare_update(asked: Asked<'_>, new: &mut Value, old: &Value) -> Result<(), Failure> {
    let kind = asked.kind;
    crate::verb::keep_rest(asked, new, old);
    written::forget_empty(kind, new);
    if asked.subresource == Some("status") {
        status::only(kind, new, old);
        return Ok(());
    }
    if let (Value::Object(fields), Value::Object(held)) = (&mut *new, old) {
        status::keep(kind, fields, held);
    }
    if definition::is(kind) {
        definition::prepare_update(new);
    }
    match kind.plural.as_str() {
        _ if kind.custom().is_some() => {}
        "certificatesigningrequests" => signing_request::keep(new, old),
        "daemonsets" => daemon_set::count(new, old),
        "namespaces" if asked.subresource != Some("finalize") => {
            let held = object::at(old, &["spec", "finalizers"]).cloned();
            set(object::map_at(new, &["spec"]), "finalizers", held);
        }
        "services" => {
            service::prepare_update(new, old);
            service_address::allocate(asked.server, new);
        }
        _ => {}
    }
    generation::count(kind, new, old);
    Ok(())
}

/// The labels of the template of a workload.
fn template_labels(workload: &Map<String, Value>) -> Option<Value> {
    let labels = workload.get("spec")?.pointer("/template/metadata/labels")?;
    labels.as_object().is_some_and(|labels| !labels.is_empty()).then(|| labels.clone())
}

/// An object without labels takes these.
fn default_labels(object: &mut Map<String, Value>, labels: Value) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.entry("labels").or_insert(labels);
    }
}

fn set(map: &mut Map<String, Value>, key: &str, value: Option<Value>) {
    match value {
        Some(value) => map.insert(key.to_owned(), value),
        None => map.remove(key),
    };
}

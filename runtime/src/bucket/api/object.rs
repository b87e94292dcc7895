//! Reads and writes the fields that all objects have.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Returns the text at a path; empty if there is none.
pub(super) fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    at(value, path).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the value at a path; `None` also for null.
pub(super) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, name| value.get(name)).filter(|value| !value.is_null())
}

/// Returns the value as a map. A value of another type is first replaced by an empty map.
pub(super) fn map_mut(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("the value is a map"),
    }
}

/// Returns the metadata, which is created if the object has none.
pub(super) fn metadata_mut(object: &mut Value) -> &mut Map<String, Value> {
    map_mut(map_mut(object).entry("metadata").or_insert(Value::Null))
}

/// Sets a field, or removes it if there is no value.
pub(super) fn set(map: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    match value {
        Some(value) => drop(map.insert(name.to_owned(), value)),
        None => drop(map.remove(name)),
    }
}

/// Returns the name; empty if there is none.
pub(super) fn name(object: &Value) -> &str {
    text(object, &["metadata", "name"])
}

/// Returns the uid; empty if there is none.
pub(super) fn uid(object: &Value) -> &str {
    text(object, &["metadata", "uid"])
}

/// Returns the resourceVersion; `None` if there is none.
pub(super) fn resource_version(object: &Value) -> Option<&str> {
    Some(text(object, &["metadata", "resourceVersion"])).filter(|version| !version.is_empty())
}

/// Sets the resourceVersion.
pub(super) fn set_resource_version(object: &mut Value, revision: u64) {
    metadata_mut(object).insert("resourceVersion".to_owned(), revision.to_string().into());
}

/// Returns the generation; `None` if there is none.
pub(super) fn generation(object: &Value) -> Option<u64> {
    at(object, &["metadata", "generation"])?.as_u64()
}

/// Returns the finalizers.
pub(super) fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    let finalizers = at(object, &["metadata", "finalizers"]).and_then(Value::as_array);
    finalizers.into_iter().flatten().filter_map(Value::as_str)
}

/// Returns whether the object has finalizers.
pub(super) fn has_finalizers(object: &Value) -> bool {
    finalizers(object).next().is_some()
}

/// Returns the labels of an object as a JSON object; empty if it has none.
pub(super) fn labels_of(object: &Value) -> String {
    let labels =
        at(object, &["metadata", "labels"]).filter(|labels| labels.as_object().is_some_and(|map| !map.is_empty()));
    labels.map(Value::to_string).unwrap_or_default()
}

/// Returns whether the object has a deletion timestamp.
pub(super) fn is_deleting(object: &Value) -> bool {
    at(object, &["metadata", "deletionTimestamp"]).is_some()
}

/// Sets the deletion timestamp to `now` and increments the generation, if the object has one. Does not change an object that already has a
/// deletion timestamp.
pub(super) fn mark_deleted(object: &mut Value, now: &str) {
    if is_deleting(object) {
        return;
    }
    let generation = generation(object);
    let metadata = metadata_mut(object);
    metadata.insert("deletionTimestamp".to_owned(), now.into());
    metadata.insert("deletionGracePeriodSeconds".to_owned(), 0.into());
    if let Some(generation) = generation {
        metadata.insert("generation".to_owned(), (generation + 1).into());
    }
}

/// Returns whether two objects are equal, apart from the `ignored` fields of the metadata.
pub(super) fn is_equal_ignoring(one: &Value, other: &Value, ignored: &[&str]) -> bool {
    let content = |object: &Value| {
        let mut object = object.clone();
        let metadata = metadata_mut(&mut object);
        ignored.iter().for_each(|name| drop(metadata.remove(*name)));
        object
    };
    content(one) == content(other)
}

/// Returns whether two objects have the same desired state: all fields except the type, the metadata and, if `has_status` is true, the
/// status.
pub(super) fn has_same_desired_state(one: &Value, other: &Value, has_status: bool) -> bool {
    desired_state(one, has_status) == desired_state(other, has_status)
}

/// Returns the fields of the desired state: all except `apiVersion`, `kind`, `metadata` and, if `has_status` is true, `status`.
/// `has_status` is whether the kind has a status subresource.
pub(super) fn desired_state(object: &Value, has_status: bool) -> BTreeMap<&str, &Value> {
    let is_desired =
        |name: &str| !(matches!(name, "apiVersion" | "kind" | "metadata") || has_status && name == "status");
    let fields = object.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value));
    fields.filter(|(name, _)| is_desired(name)).collect()
}

/// Returns the object as `PartialObjectMetadata`.
pub(super) fn partial_metadata(object: &Value) -> Value {
    let metadata = object.get("metadata").cloned().unwrap_or_default();
    serde_json::json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
}

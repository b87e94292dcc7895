//! Mends: what `kube` and `schemars` derive, as the API server takes it.

mod branch;
mod format;
mod plain;

use crate::manifest::crd::{keyword::OPEN, mend::plain::plain};
use serde_json::{Map, Value, json};

use super::super::finding::Findings;
use super::schema::{children_mut, field};

/// Mends `schema` and everything below it. What can't be mended is left to the linter.
pub(crate) fn mend(schema: &mut Value, path: &str, found: &mut Findings) {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Some(object) = schema.as_object_mut() else { return };
    if path.is_empty() {
        described(object);
    }
    plain(object);
    keyed_by_number(object);
    tuple_of_one_type(object);
    open_map(object);
    branch::mend(object, path, found);
    format::mend(object);
    open_value(object);
    if path == field("", "status") {
        conditions(object);
    }
    for (path, child) in children_mut(object, path) {
        mend(child, &path, found);
    }
}

/// A map with numbers as keys is a map: JSON knows no other keys than strings.
fn keyed_by_number(object: &mut Map<String, Value>) {
    let closed = object.get("additionalProperties").is_none_or(|value| !value.is_object());
    let Some(Value::Object(patterns)) = object.get_mut("patternProperties") else { return };
    let pattern = patterns.keys().next().cloned().unwrap_or_default();
    if closed && patterns.len() == 1 && [r"^\d+$", r"^-?\d+$"].contains(&pattern.as_str()) {
        let values = patterns.remove(&pattern);
        object.remove("patternProperties");
        object.insert("additionalProperties".into(), values.unwrap_or_default());
    }
}

/// A tuple of one type is a list of a fixed length.
fn tuple_of_one_type(object: &mut Map<String, Value>) {
    let Some(Value::Array(items)) = object.get("items") else { return };
    if let Some(first) = items.first().cloned().filter(|first| items.iter().all(|item| item == first)) {
        object.insert("items".into(), first);
    }
}

/// Under `additionalProperties: true` the API server keeps scalars and empties objects; a map of anything is an open object.
fn open_map(object: &mut Map<String, Value>) {
    let any = |value: &Value| *value == true || value.as_object().is_some_and(Map::is_empty);
    if object.get("additionalProperties").is_some_and(any) {
        object.remove("additionalProperties");
        object.insert(OPEN.into(), json!(true));
    }
}

/// A schema that says nothing about the value takes any value.
fn open_value(object: &mut Map<String, Value>) {
    let silent = |key: &String| {
        matches!(key.as_str(), "description" | "title" | "nullable" | "default" | "example" | "externalDocs")
    };
    if object.keys().all(silent) {
        object.insert(OPEN.into(), json!(true));
    }
}

/// `kube` describes the kind by how it was made; the spec's description says what it is.
fn described(root: &mut Map<String, Value>) {
    let made = |text: &Value| text.as_str().is_some_and(|text| text.starts_with("Auto-generated derived type for "));
    if root.get("description").is_some_and(made) {
        root.remove("description");
        if let Some(text) = root.get("properties").and_then(|fields| fields["spec"].get("description")).cloned() {
            root.insert("description".into(), text);
        }
    }
}

/// Conditions are a map by their type: the operator applies its own and leaves those of others.
fn conditions(status: &mut Map<String, Value>) {
    let Some(conditions) = status.get_mut("properties").and_then(|fields| fields.get_mut("conditions")) else { return };
    let required = conditions["items"]["required"].as_array().is_some_and(|keys| keys.contains(&json!("type")));
    if required && conditions["x-kubernetes-list-type"].is_null() {
        conditions["x-kubernetes-list-type"] = json!("map");
        conditions["x-kubernetes-list-map-keys"] = json!(["type"]);
    }
}

#[cfg(test)]
mod tests;

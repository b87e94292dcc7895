//! Fixes schemas that `kube` and `schemars` derive in a form that the API server refuses or misreads.

mod branch;
mod format;
mod normalize;

use crate::manifest::crd::fix::normalize::normalize;
use opgen_schema::keyword::PRESERVE_UNKNOWN_FIELDS;
use serde_json::{Map, Value, json};

use super::super::lint::Findings;
use super::schema::{children_mut, field};

/// Fixes `schema` and all schemas below it. The linter reports what can't be fixed.
pub(crate) fn fix_schema(schema: &mut Value, path: &str, findings: &mut Findings) {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Some(object) = schema.as_object_mut() else { return };
    if path.is_empty() {
        copy_spec_description(object);
    }
    normalize(object);
    fix_numeric_keys(object);
    fix_tuple(object);
    fix_untyped_map(object);
    branch::fix_branches(object, path, findings);
    format::fix_format(object);
    fix_untyped_value(object);
    if path == field("", "status") {
        fix_conditions(object);
    }
    for (path, child) in children_mut(object, path) {
        fix_schema(child, &path, findings);
    }
}

/// Replaces a `patternProperties` of digits by `additionalProperties`: a map with numbers as keys has string keys in JSON.
fn fix_numeric_keys(object: &mut Map<String, Value>) {
    let closed = object.get("additionalProperties").is_none_or(|value| !value.is_object());
    let Some(Value::Object(patterns)) = object.get_mut("patternProperties") else { return };
    let pattern = patterns.keys().next().cloned().unwrap_or_default();
    if closed && patterns.len() == 1 && [r"^\d+$", r"^-?\d+$"].contains(&pattern.as_str()) {
        let values = patterns.remove(&pattern);
        object.remove("patternProperties");
        object.insert("additionalProperties".into(), values.unwrap_or_default());
    }
}

/// Turns a tuple whose items have one type into a list; its length is fixed by `minItems` and `maxItems`.
fn fix_tuple(object: &mut Map<String, Value>) {
    let Some(Value::Array(items)) = object.get("items") else { return };
    if let Some(first) = items.first().cloned().filter(|first| items.iter().all(|item| item == first)) {
        object.insert("items".into(), first);
    }
}

/// Turns a map of untyped values into an open object: with `additionalProperties: true` the API server would keep scalars and
/// prune the fields of objects.
fn fix_untyped_map(object: &mut Map<String, Value>) {
    let is_any = |value: &Value| *value == true || value.as_object().is_some_and(Map::is_empty);
    if object.get("additionalProperties").is_some_and(is_any) {
        object.remove("additionalProperties");
        object.insert(PRESERVE_UNKNOWN_FIELDS.into(), json!(true));
    }
}

/// Opens a schema that has no rule for its value, so that the API server keeps any value.
fn fix_untyped_value(object: &mut Map<String, Value>) {
    let is_documentation = |key: &String| {
        matches!(key.as_str(), "description" | "title" | "nullable" | "default" | "example" | "externalDocs")
    };
    if object.keys().all(is_documentation) {
        object.insert(PRESERVE_UNKNOWN_FIELDS.into(), json!(true));
    }
}

/// Replaces the description that `kube` generates for the kind by the description of its spec.
fn copy_spec_description(root: &mut Map<String, Value>) {
    let is_generated =
        |text: &Value| text.as_str().is_some_and(|text| text.starts_with("Auto-generated derived type for "));
    if root.get("description").is_some_and(is_generated) {
        root.remove("description");
        if let Some(text) = root.get("properties").and_then(|fields| fields["spec"].get("description")).cloned() {
            root.insert("description".into(), text);
        }
    }
}

/// Makes conditions a list map with the key `type`, so that an apply of the operator keeps the conditions of others.
fn fix_conditions(status: &mut Map<String, Value>) {
    let Some(conditions) = status.get_mut("properties").and_then(|fields| fields.get_mut("conditions")) else { return };
    let required = conditions["items"]["required"].as_array().is_some_and(|keys| keys.contains(&json!("type")));
    if required && conditions["x-kubernetes-list-type"].is_null() {
        conditions["x-kubernetes-list-type"] = json!("map");
        conditions["x-kubernetes-list-map-keys"] = json!(["type"]);
    }
}

#[cfg(test)]
mod tests;

//! Fixes schemas that `kube` and `schemars` derive in a form that the API server refuses or misreads.

mod branch;
mod format;
mod normalize;

use crate::manifest::crd::fix::normalize::normalize;
use opgen_schema::keyword::PRESERVE_UNKNOWN_FIELDS;
use serde_json::{Map, Value, json};

use super::super::lint::Findings;
use super::schema::{children_mut, field};

/// Rewrites the parts of `schema`, and of all schemas below it, that the API server would refuse or misread. The linter later reports the
/// violations that can't be fixed.
pub(crate) fn fix_schema(schema: &mut Value, path: &str, findings: &mut Findings) {
    // `schemars` derives the schema `true` for a type that accepts any value.
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

/// Replaces `patternProperties` with the only pattern "digits" by `additionalProperties`. `schemars` derives the pattern for a map with
/// integers as keys, which are strings in JSON, and the API server doesn't support `patternProperties`.
fn fix_numeric_keys(object: &mut Map<String, Value>) {
    let has_no_other_values = object.get("additionalProperties").is_none_or(|value| !value.is_object());
    let Some(Value::Object(patterns)) = object.get_mut("patternProperties") else { return };
    let pattern = patterns.keys().next().cloned().unwrap_or_default();
    if has_no_other_values && patterns.len() == 1 && [r"^\d+$", r"^-?\d+$"].contains(&pattern.as_str()) {
        let values = patterns.remove(&pattern);
        object.remove("patternProperties");
        object.insert("additionalProperties".into(), values.unwrap_or_default());
    }
}

/// Replaces the list of item schemas that `schemars` derives for a tuple by a single item schema if all items have the same schema. The
/// derived `minItems` and `maxItems` still fix the length.
fn fix_tuple(object: &mut Map<String, Value>) {
    let Some(Value::Array(items)) = object.get("items") else { return };
    if let Some(first) = items.first().cloned().filter(|first| items.iter().all(|item| item == first)) {
        object.insert("items".into(), first);
    }
}

/// Turns a map of untyped values into an object with `x-kubernetes-preserve-unknown-fields`. With `additionalProperties: true` the API
/// server would keep values that are scalars, and prune the fields of values that are objects.
fn fix_untyped_map(object: &mut Map<String, Value>) {
    let is_any = |value: &Value| *value == true || value.as_object().is_some_and(Map::is_empty);
    if object.get("additionalProperties").is_some_and(is_any) {
        object.remove("additionalProperties");
        object.insert(PRESERVE_UNKNOWN_FIELDS.into(), json!(true));
    }
}

/// Adds `x-kubernetes-preserve-unknown-fields` to a schema without a rule for its value, so that the API server keeps any value.
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

/// Makes `status.conditions` a list map with the key `type`, so that a server-side apply of the operator keeps the conditions of other
/// clients. Does nothing if the list has a type, or if its items don't require `type`, as a list map does.
fn fix_conditions(status: &mut Map<String, Value>) {
    let Some(conditions) = status.get_mut("properties").and_then(|fields| fields.get_mut("conditions")) else { return };
    let requires_type = conditions["items"]["required"].as_array().is_some_and(|keys| keys.contains(&json!("type")));
    if requires_type && conditions["x-kubernetes-list-type"].is_null() {
        conditions["x-kubernetes-list-type"] = json!("map");
        conditions["x-kubernetes-list-map-keys"] = json!(["type"]);
    }
}

#[cfg(test)]
mod tests;

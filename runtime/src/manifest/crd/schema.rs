//! Returns the schemas of the fields, list items and map values directly below an OpenAPI schema, each with its path.

pub(crate) use opgen_schema::{entries, flag, list, text};
use serde_json::{Map, Value};

/// The keywords that hold schemas which validate values but define no fields.
pub(crate) const BRANCH_KEYWORDS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Returns the schemas of the fields, items and map values directly below `schema`, with their paths.
pub(crate) fn children<'a>(schema: &'a Value, path: &str) -> Vec<(String, &'a Value)> {
    let mut children: Vec<_> = entries(schema, "properties").map(|(name, value)| (field(path, name), value)).collect();
    if schema["items"].is_object() {
        children.push((items(path), &schema["items"]));
    }
    if schema["additionalProperties"].is_object() {
        children.push((values(path), &schema["additionalProperties"]));
    }
    children
}

/// Returns mutable references to the schemas of the fields, items and map values directly below `schema`, with their paths. Unlike
/// [`children`], it also returns items with a boolean as their schema.
pub(crate) fn children_mut<'a>(schema: &'a mut Map<String, Value>, path: &str) -> Vec<(String, &'a mut Value)> {
    let mut children = Vec::new();
    for (key, value) in schema {
        match (key.as_str(), value) {
            ("properties", Value::Object(fields)) => {
                children.extend(fields.iter_mut().map(|(name, value)| (field(path, name), value)));
            }
            ("items", value @ (Value::Object(_) | Value::Bool(_))) => children.push((items(path), value)),
            ("additionalProperties", value @ Value::Object(_)) => children.push((values(path), value)),
            _ => {}
        }
    }
    children
}

/// Returns the path of the field `name` below `path`.
pub(crate) fn field(path: &str, name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if plain { format!("{path}.{name}") } else { format!("{path}[{name:?}]") }
}

/// Returns the path of the items below `path`.
pub(crate) fn items(path: &str) -> String {
    format!("{path}[*]")
}

/// Returns the path of the values of a map below `path`.
pub(crate) fn values(path: &str) -> String {
    format!("{path}.*")
}

/// Returns the path of the branch `index` in the list under the keyword `name` below `path`.
pub(crate) fn branch(path: &str, name: &str, index: usize) -> String {
    format!("{path}<{name}[{index}]>")
}

//! Accessors for the keywords of a JSON schema, and the paths of its fields.

use serde_json::{Map, Value};

/// The keywords that hold schemas which validate values but define no fields.
pub(crate) const JUNCTORS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Returns the string at `key`; empty if there is none.
pub(crate) fn text<'a>(schema: &'a Value, key: &str) -> &'a str {
    schema[key].as_str().unwrap_or_default()
}

/// Whether the value at `key` is true.
pub(crate) fn flag(schema: &Value, key: &str) -> bool {
    schema[key] == true
}

/// Returns the list at `key`; empty if there is none.
pub(crate) fn list<'a>(schema: &'a Value, key: &str) -> &'a [Value] {
    schema[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns the entries of the object at `key`; none if it is not an object.
pub(crate) fn entries<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    schema[key].as_object().into_iter().flatten()
}

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

/// Returns the same schemas as [`children`], mutable.
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

/// Returns the path of the branch `index` of the junctor `name` below `path`.
pub(crate) fn branch(path: &str, name: &str, index: usize) -> String {
    format!("{path}<{name}[{index}]>")
}

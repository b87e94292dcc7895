//! Drops what a schema doesn't know.

use serde_json::Value;

use super::{Others, Schema, Shape};

/// Removes fields that the schema doesn't know, and tells their paths (`spec.containers[0].imagee`), part by part.
pub(crate) fn prune(schema: &Schema, value: &mut Value) -> Vec<String> {
    let mut unknown = Vec::new();
    walk(schema, value, "", &mut unknown);
    unknown
}

fn walk(schema: &Schema, value: &mut Value, path: &str, unknown: &mut Vec<String>) {
    match (&schema.resolve().shape, value) {
        (Shape::Object(fields), Value::Object(map)) => {
            let known_beside = |name: &str| fields.embedded && matches!(name, "apiVersion" | "kind" | "metadata");
            let closed = matches!(fields.others, Others::Unknown);
            map.retain(|name, value| {
                if closed && !fields.known.contains_key(name.as_str()) && !known_beside(name) {
                    unknown.push(below(path, name));
                    return false;
                }
                if let Some(schema) = fields.field(name) {
                    walk(schema, value, &below(path, name), unknown);
                }
                true
            });
        }
        (Shape::List(list), Value::Array(items)) => {
            for (index, item) in items.iter_mut().enumerate() {
                walk(&list.items, item, &format!("{path}[{index}]"), unknown);
            }
        }
        _ => {}
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

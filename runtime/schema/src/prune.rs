//! Prunes fields that a schema does not know.

use std::fmt;

use serde_json::Value;

use crate::shape::{OtherFields, Schema, Shape};

/// Removes the fields that the schema doesn't know, and returns their paths (`spec.containers[0].imagee`).
pub fn prune(schema: &Schema, value: &mut Value) -> Vec<String> {
    let mut unknown = Vec::new();
    walk(schema, value, &Path::Root, &mut unknown);
    unknown
}

fn walk(schema: &Schema, value: &mut Value, path: &Path<'_>, unknown: &mut Vec<String>) {
    match (&schema.resolve().shape, value) {
        (Shape::Object(fields), Value::Object(map)) => {
            let known_beside = |name: &str| fields.embedded && matches!(name, "apiVersion" | "kind" | "metadata");
            let closed = matches!(fields.others, OtherFields::Unknown);
            map.retain(|name, value| {
                if closed && !fields.known.contains_key(name.as_str()) && !known_beside(name) {
                    unknown.push(Path::Field(path, name).to_string());
                    return false;
                }
                if let Some(schema) = fields.field(name) {
                    walk(schema, value, &Path::Field(path, name), unknown);
                }
                true
            });
        }
        (Shape::List(list), Value::Array(items)) => {
            for (index, item) in items.iter_mut().enumerate() {
                walk(&list.items, item, &Path::Item(path, index), unknown);
            }
        }
        _ => {}
    }
}

/// Where a value is; it is only written out for what is unknown there.
enum Path<'a> {
    Root,
    Field(&'a Self, &'a str),
    Item(&'a Self, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Self::Root, name) => f.write_str(name),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

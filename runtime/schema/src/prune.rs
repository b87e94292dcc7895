//! Prunes fields that a schema doesn't know.

use std::fmt;

use serde_json::Value;

use crate::shape::{OtherFields, Schema, Shape};

/// Removes the fields that the schema doesn't know, and returns their paths (`spec.containers[0].imagee`).
pub fn prune(schema: &Schema, value: &mut Value) -> Vec<String> {
    let mut unknown = Vec::new();
    prune_below(schema, value, &Path::Root, &mut unknown);
    unknown
}

/// Removes unknown fields of a value and everything below it, and adds their paths to `unknown`.
fn prune_below(schema: &Schema, value: &mut Value, path: &Path<'_>, unknown: &mut Vec<String>) {
    match (&schema.resolve().shape, value) {
        (Shape::Object(fields), Value::Object(map)) => {
            let is_object_field = |name: &str| fields.embedded && matches!(name, "apiVersion" | "kind" | "metadata");
            let prunes_unknown = matches!(fields.others, OtherFields::Unknown);
            map.retain(|name, value| {
                if prunes_unknown && !fields.known.contains_key(name.as_str()) && !is_object_field(name) {
                    unknown.push(Path::Field(path, name).to_string());
                    return false;
                }
                if let Some(schema) = fields.field(name) {
                    prune_below(schema, value, &Path::Field(path, name), unknown);
                }
                true
            });
        }
        (Shape::List(list), Value::Array(items)) => {
            for (index, item) in items.iter_mut().enumerate() {
                prune_below(&list.items, item, &Path::Item(path, index), unknown);
            }
        }
        _ => {}
    }
}

/// The path of a value. It is formatted for unknown fields only.
enum Path<'a> {
    Root,
    Field(&'a Self, &'a str),
    Item(&'a Self, usize),
}

impl fmt::Display for Path<'_> {
    /// Writes the path with the names of fields and the indexes of items: `spec.containers[0].image`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Self::Root, name) => f.write_str(name),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

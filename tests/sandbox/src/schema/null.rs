//! Nulls and empty collections in an object of a kind of the table: its Go types have neither.

use serde_json::{Map, Value};

use super::{Others, Scalar, Schema, Shape};

/// Drops nulls and empty collections of fields, and makes nulls of items and entries the zero that Go makes of them.
pub(crate) fn settle(schema: &Schema, value: &mut Value) {
    match (&schema.resolve().shape, value) {
        (Shape::Object(fields), Value::Object(map)) => match &fields.others {
            Others::Each(each) => map.values_mut().for_each(|value| settle_entry(each, value)),
            Others::Kept => {}
            Others::Unknown => {
                for (name, value) in &mut *map {
                    if let Some(schema) = fields.known.get(name.as_str()) {
                        settle(schema, value);
                    }
                }
                let required = |name: &str| fields.required.iter().any(|required| **required == *name);
                // No managers is not the same as nothing about them.
                let tells = |name: &str| required(name) || name == "managedFields";
                let said = |name: &str, value: &Value| {
                    let collection = fields.known.get(name).is_some_and(is_collection);
                    !value.is_null() && !(collection && is_empty(value) && !tells(name))
                };
                map.retain(|name, value| said(name, value));
            }
        },
        (Shape::List(list), Value::Array(items)) => items.iter_mut().for_each(|item| settle_entry(&list.items, item)),
        _ => {}
    }
}

/// Whether it is a list or a map of any keys, which Go doesn't write when it is empty.
fn is_collection(schema: &Schema) -> bool {
    match &schema.resolve().shape {
        Shape::List(_) => true,
        Shape::Object(fields) => matches!(fields.others, Others::Each(_)),
        _ => false,
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty)
}

fn settle_entry(schema: &Schema, value: &mut Value) {
    if value.is_null() {
        *value = match &schema.resolve().shape {
            Shape::Scalar(Scalar::Text) => Value::from(""),
            Shape::Scalar(Scalar::Integer | Scalar::Number) => Value::from(0),
            Shape::Scalar(Scalar::Boolean) => Value::from(false),
            Shape::Object(fields) if matches!(fields.others, Others::Unknown) => Value::Object(Map::new()),
            _ => Value::Null,
        };
    }
    settle(schema, value);
}

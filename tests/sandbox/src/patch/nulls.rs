//! Nulls in an object of a kind of the table, whose Go types have none: a null is the zero of its type.

use serde_json::{Map, Value};

use crate::schema::{Others, Scalar, Schema, Shape};

/// Drops nulls of fields, and makes those of items and entries the zero that Go makes of them.
pub(crate) fn settle(schema: &Schema, value: &mut Value) {
    match (&schema.resolve().shape, value) {
        (Shape::Object(fields), Value::Object(map)) => {
            if let Others::Each(each) = &fields.others {
                for value in map.values_mut() {
                    settle_entry(each, value);
                }
                return;
            }
            if matches!(fields.others, Others::Kept) {
                return;
            }
            map.retain(|_, value| !value.is_null());
            for (name, value) in map {
                if let Some(schema) = fields.known.get(name.as_str()) {
                    settle(schema, value);
                }
            }
        }
        (Shape::List(list), Value::Array(items)) => items.iter_mut().for_each(|item| settle_entry(&list.items, item)),
        _ => {}
    }
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

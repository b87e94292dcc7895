//! Sets the defaults of a schema on an object, and normalizes its numbers.

use serde_json::Value;

use crate::shape::{OtherFields, Schema, Shape};

/// Sets the defaults of a schema on absent values. A null that the schema doesn't admit counts as absent.
pub fn default(schema: &Schema, value: &mut Value) {
    match (&schema.resolve().shape, value) {
        (Shape::Object(fields), Value::Object(map)) => {
            for (name, schema) in &fields.known {
                let absent = map.get(&**name).is_none_or(|value| value.is_null() && !schema.nullable);
                if let (true, Some(default)) = (absent, &schema.default) {
                    map.insert(name.to_string(), default.clone());
                }
            }
            map.retain(|name, value| !value.is_null() || fields.field(name).is_none_or(keeps_null));
            for (name, value) in map {
                let each = match &fields.others {
                    OtherFields::Each(schema) => Some(&**schema),
                    OtherFields::Unknown | OtherFields::Kept => None,
                };
                if let Some(schema) = fields.known.get(name.as_str()).or(each) {
                    default(schema, value);
                }
            }
        }
        (Shape::List(list), Value::Array(items)) => {
            for item in items {
                if let (true, false, Some(default)) = (item.is_null(), list.items.nullable, &list.items.default) {
                    *item = default.clone();
                }
                default(&list.items, item);
            }
        }
        _ => {}
    }
}

/// Returns whether a null remains in the object: the schema admits it, or has a default for it. Other nulls are removed.
fn keeps_null(schema: &Schema) -> bool {
    schema.nullable || schema.default.is_some() || matches!(schema.resolve().shape, Shape::Any)
}

/// Converts numbers without a fraction to integers, as Go's JSON encoder writes them.
pub fn whole_numbers_to_integers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            // Below 2^53, a float has every integer exactly.
            let whole = number.as_f64().filter(|whole| number.is_f64() && whole.fract() == 0.0 && whole.abs() < 9e15);
            if let Some(whole) = whole {
                *value = (whole as i64).into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole_numbers_to_integers),
        Value::Object(map) => map.values_mut().for_each(whole_numbers_to_integers),
        _ => {}
    }
}

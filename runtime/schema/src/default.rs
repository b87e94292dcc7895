//! Sets the defaults of a schema on the absent values of an object. A second function converts numbers without a fraction to integers.

use serde_json::Value;

use crate::shape::{Schema, Shape};

/// Sets the defaults of a schema on absent values. A null that the schema doesn't admit counts as absent: it is replaced by the default, or
/// removed from its object if there is none.
pub fn default(schema: &Schema, value: &mut Value) {
    match (&schema.resolve().shape, value) {
        (Shape::Object(fields), Value::Object(map)) => {
            for (name, schema) in &fields.known {
                if let (false, Some(default)) = (map.contains_key(&**name), &schema.default) {
                    map.insert(name.to_string(), default.clone());
                }
            }
            map.retain(|name, value| fields.field(name).is_none_or(|schema| replace_null(schema, value)));
            for (name, value) in map {
                if let Some(schema) = fields.field(name) {
                    default(schema, value);
                }
            }
        }
        (Shape::List(list), Value::Array(items)) => {
            for item in items {
                // Without a default, the null is kept: a list has no absent items.
                replace_null(&list.items, item);
                default(&list.items, item);
            }
        }
        _ => {}
    }
}

/// Replaces a null that the schema doesn't admit by the default. Returns whether the field stays in its object: a null that is not admitted
/// and has no default is removed, unless the schema admits any value.
fn replace_null(schema: &Schema, value: &mut Value) -> bool {
    if !value.is_null() || schema.nullable {
        return true;
    }
    match &schema.default {
        Some(default) => *value = default.clone(),
        None => return matches!(schema.resolve().shape, Shape::Any),
    }
    true
}

/// A number below 2^53: up to it, a float represents every integer exactly.
const EXACT: f64 = 9e15;

/// Converts numbers without a fraction to integers, as Go's JSON encoder writes them.
pub fn whole_numbers_to_integers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let is_whole = |float: &f64| number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT;
            if let Some(whole) = number.as_f64().filter(is_whole) {
                *value = (whole as i64).into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole_numbers_to_integers),
        Value::Object(map) => map.values_mut().for_each(whole_numbers_to_integers),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The rules of `Default` and `PruneNonNullableNullsWithoutDefaults` in kube-apiserver.
    #[test]
    fn a_null_that_is_not_admitted_is_replaced_by_the_default_or_removed() {
        let values = json!({"type": "integer", "default": 1});
        let schema = json!({"type": "object", "properties": {
            "map": {"type": "object", "additionalProperties": values},
            "bare": {"type": "object", "additionalProperties": {"type": "integer"}},
            "list": {"type": "array", "items": values},
            "field": values,
            "removed": {"type": "integer"},
            "nullable": {"type": "integer", "nullable": true, "default": 1},
        }});
        let mut object = json!({
            "map": {"a": null, "b": 2}, "bare": {"a": null, "b": 2}, "list": [null, 2], "field": null, "removed": null,
            "nullable": null,
        });
        default(&crate::structural::parse_level(&schema, None), &mut object);
        assert_eq!(
            object,
            json!({"map": {"a": 1, "b": 2}, "bare": {"b": 2}, "list": [1, 2], "field": 1, "nullable": null})
        );
    }
}

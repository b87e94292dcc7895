//! Fills in what a schema says of absent values.

use serde_json::Value;

use super::{Others, Schema, Shape};

/// Puts the defaults where there is nothing. A null that can't be a value is nothing.
pub(crate) fn default(schema: &Schema, value: &mut Value) {
    match (&schema.resolve().shape, value) {
        (Shape::Object(fields), Value::Object(map)) => {
            for (name, schema) in &fields.known {
                let absent = map.get(&**name).is_none_or(|value| value.is_null() && !schema.nullable);
                if let (true, Some(default)) = (absent, &schema.default) {
                    map.insert(name.to_string(), default.clone());
                }
            }
            for (name, value) in map {
                let each = match &fields.others {
                    Others::Each(schema) => Some(&**schema),
                    Others::Unknown | Others::Kept => None,
                };
                if let Some(schema) = fields.known.get(name.as_str()).or(each) {
                    default(schema, value);
                }
            }
        }
        (Shape::List(list), Value::Array(items)) => items.iter_mut().for_each(|item| default(&list.items, item)),
        _ => {}
    }
}

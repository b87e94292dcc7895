//! Sorts the keys of JSON objects, so that a text depends on the value alone, even if another crate enables the `preserve_order` feature
//! of `serde_json`.

use serde_json::Value;

/// Returns a JSON value with the keys of all objects in it sorted, at any depth.
pub(crate) fn sort_keys(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut entries: Vec<_> = object.into_iter().map(|(key, value)| (key, sort_keys(value))).collect();
            entries.sort_by(|(key, _), (other_key, _)| key.cmp(other_key));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => items.into_iter().map(sort_keys).collect(),
        scalar => scalar,
    }
}

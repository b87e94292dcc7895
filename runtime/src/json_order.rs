//! Sorts the keys of JSON objects, so that a text depends on the value alone, even if another crate enables the `preserve_order` feature
//! of `serde_json`.

use serde_json::Value;

/// Sorts the keys of all objects in the value.
pub(crate) fn sort_keys(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut entries: Vec<_> = object.into_iter().map(|(key, value)| (key, sort_keys(value))).collect();
            entries.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => items.into_iter().map(sort_keys).collect(),
        scalar => scalar,
    }
}

//! Reads keywords of a JSON schema that has not been parsed.

use serde_json::Value;

/// Returns the string at `key`; empty if there is none.
pub fn text<'a>(schema: &'a Value, key: &str) -> &'a str {
    schema[key].as_str().unwrap_or_default()
}

/// Returns whether the value at `key` is true.
pub fn flag(schema: &Value, key: &str) -> bool {
    schema[key] == true
}

/// Returns the list at `key`; empty if there is none.
pub fn list<'a>(schema: &'a Value, key: &str) -> &'a [Value] {
    schema[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns the entries of the object at `key`; none if it is not an object.
pub fn entries<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    schema[key].as_object().into_iter().flatten()
}

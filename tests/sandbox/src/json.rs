//! Defines the type of JSON objects, and appends JSON to a text.

use serde::Serialize;
use serde_json::{Map, Value};

/// The fields of a JSON object.
pub(crate) type JsonObject = Map<String, Value>;

/// Appends the JSON of a value to a text. Serialization cannot fail: callers pass JSON values and strings only.
pub(crate) fn append(text: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    if let Err(error) = serde_json::to_writer(text, value) {
        unreachable!("{error}");
    }
}

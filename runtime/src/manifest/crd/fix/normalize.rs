//! Drops schema keywords without effect, and writes whole numbers as integers.

use serde_json::{Map, Value, json};

/// Removes a null default, empty lists and maps, and `uniqueItems`, which the API server refuses, from one schema. Writes the bounds that
/// are whole numbers as integers.
pub(super) fn normalize(object: &mut Map<String, Value>) {
    object.retain(|key, value| match key.as_str() {
        "default" => !value.is_null(),
        "required" | "enum" => value.as_array().is_none_or(|list| !list.is_empty()),
        "properties" => value.as_object().is_none_or(|fields| !fields.is_empty()),
        "uniqueItems" => false,
        _ => true,
    });
    for key in ["minimum", "maximum", "multipleOf"] {
        if let Some(value) = object.get_mut(key) {
            to_integer(value);
        }
    }
}

/// Replaces a floating-point number by the equal integer, if it has no fraction and is small enough to be exact.
pub(super) fn to_integer(value: &mut Value) {
    // The largest float below which every whole number is exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let Some(number) =
        value.as_f64().filter(|number| value.is_f64() && number.fract() == 0.0 && number.abs() <= EXACT)
    {
        #[allow(clippy::cast_possible_truncation)]
        let integer = number as i64;
        *value = json!(integer);
    }
}

//! Computes the maximum and minimum sizes of values from the bounds in their schema.

use opgen_schema::keyword::INT_OR_STRING;
use serde_json::Value;

use super::super::schema::{entries, flag, list, text};

/// The longest request that the API server takes, in bytes.
const MAX_REQUEST_BYTES: f64 = 3.0 * 1024.0 * 1024.0;

/// The bound of the size of a value, in elements or bytes.
pub(super) struct Bound {
    /// The bound that the schema declares; `None` if it declares none.
    pub(super) limit: Option<f64>,
    /// The largest possible size, with or without a declared bound.
    pub(super) maximum: f64,
    /// The keyword that would bound it.
    pub(super) missing: Option<&'static str>,
}

/// Returns the size bound of a string, list or map: the bound that the schema declares, or else the number of bytes or elements that fit
/// into the longest request. Returns 0 for all other values, whose size affects no cost.
pub(super) fn bound(schema: &Value) -> Bound {
    let schema_type = text(schema, "type");
    // The API server counts two bytes for the brackets, one for the comma of an item, and six for the quotes, the two characters, the
    // colon and the comma of a key.
    let (keyword, maximum) = match schema_type {
        "array" => ("maxItems", (MAX_REQUEST_BYTES - 2.0) / (minimum_bytes(&schema["items"]) + 1.0)),
        "object" if schema["additionalProperties"].is_object() => {
            ("maxProperties", (MAX_REQUEST_BYTES - 2.0) / (minimum_bytes(&schema["additionalProperties"]) + 6.0))
        }
        "string" => return text_bound(schema),
        _ if flag(schema, INT_OR_STRING) => return text_bound(schema),
        _ => return Bound { limit: Some(0.0), maximum: 0.0, missing: None },
    };
    let limit = schema[keyword].as_f64();
    Bound { limit, maximum: limit.unwrap_or_else(|| maximum.floor()), missing: limit.is_none().then_some(keyword) }
}

/// Returns the size bound of a string in bytes, from its `maxLength`, its longest enum value or its format, in this order.
fn text_bound(schema: &Value) -> Bound {
    // A character may take four bytes.
    let declared = schema["maxLength"].as_f64().map(|length| length * 4.0);
    let longest = list(schema, "enum").iter().filter_map(Value::as_str).map(str::len).max();
    let by_format = match text(schema, "format") {
        "date" => Some(12.0),
        "date-time" | "duration" => Some(32.0),
        _ => None,
    };
    #[allow(clippy::cast_precision_loss)]
    let limit = declared.or(longest.map(|length| length as f64)).or(by_format);
    Bound { limit, maximum: limit.unwrap_or(MAX_REQUEST_BYTES - 2.0), missing: limit.is_none().then_some("maxLength") }
}

/// Returns how many values of this schema fit into the longest request, if each has its minimum size.
pub(super) fn max_per_request(schema: &Value) -> f64 {
    (MAX_REQUEST_BYTES / (minimum_bytes(schema) + 1.0)).floor()
}

/// Returns the minimum size in bytes of a value of this schema as JSON, with the numbers of the API server's estimate (`MinSerializedSize`
/// in `apiserver/pkg/cel/common/schemas.go`). An object has at least its required fields without a default.
fn minimum_bytes(schema: &Value) -> f64 {
    if flag(schema, INT_OR_STRING) {
        return 1.0;
    }
    match text(schema, "type") {
        "boolean" => 4.0,
        "integer" | "number" => 1.0,
        "string" => match text(schema, "format") {
            "date" => 12.0,
            "date-time" => 21.0,
            "duration" => 3.0,
            _ => 2.0,
        },
        "object" => {
            let must_be_set = |name: &String, field: &Value| {
                field.get("default").is_none() && list(schema, "required").iter().any(|required| required == name)
            };
            // Four bytes for the quotes, the colon and the comma.
            #[allow(clippy::cast_precision_loss)]
            let field_bytes = |(name, field): (&String, &Value)| {
                if must_be_set(name, field) { name.len() as f64 + minimum_bytes(field) + 4.0 } else { 0.0 }
            };
            2.0 + entries(schema, "properties").map(field_bytes).sum::<f64>()
        }
        _ => 2.0,
    }
}

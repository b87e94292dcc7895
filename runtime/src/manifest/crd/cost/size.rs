//! How big values may get.

use serde_json::Value;

use super::super::schema::{entries, flag, list, text};

/// The longest request that the API server takes, in bytes.
const REQUEST: f64 = 3.0 * 1024.0 * 1024.0;

/// The number of elements, or bytes, of a value.
pub(super) struct Bound {
    /// As the schema bounds it; `None` if it doesn't.
    pub(super) limit: Option<f64>,
    /// The most there can be at all.
    pub(super) most: f64,
    /// The keyword that would bound it.
    pub(super) missing: Option<&'static str>,
}

/// The bound of the length of a text, list or map; other values have none and need none.
pub(super) fn bound(schema: &Value) -> Bound {
    let kind = text(schema, "type");
    let (keyword, most) = match kind {
        "array" => ("maxItems", (REQUEST - 2.0) / (least(&schema["items"]) + 1.0)),
        "object" if schema["additionalProperties"].is_object() => {
            ("maxProperties", (REQUEST - 2.0) / (least(&schema["additionalProperties"]) + 6.0))
        }
        "string" => return text_bound(schema),
        _ if flag(schema, "x-kubernetes-int-or-string") => return text_bound(schema),
        _ => return Bound { limit: Some(0.0), most: 0.0, missing: None },
    };
    let limit = schema[keyword].as_f64();
    Bound { limit, most: limit.unwrap_or_else(|| most.floor()), missing: limit.is_none().then_some(keyword) }
}

fn text_bound(schema: &Value) -> Bound {
    // A character may take four bytes.
    let said = schema["maxLength"].as_f64().map(|length| length * 4.0);
    let longest = list(schema, "enum").iter().filter_map(Value::as_str).map(str::len).max();
    let by_format = match text(schema, "format") {
        "date" => Some(12.0),
        "date-time" | "duration" => Some(32.0),
        _ => None,
    };
    #[allow(clippy::cast_precision_loss)]
    let limit = said.or(longest.map(|length| length as f64)).or(by_format);
    Bound { limit, most: limit.unwrap_or(REQUEST - 2.0), missing: limit.is_none().then_some("maxLength") }
}

/// How often a value of this schema fits into one request.
pub(super) fn most_in_a_request(schema: &Value) -> f64 {
    (REQUEST / (least(schema) + 1.0)).floor()
}

/// The least bytes that a value takes as JSON.
fn least(schema: &Value) -> f64 {
    if flag(schema, "x-kubernetes-int-or-string") {
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
            let required = |name: &String, field: &Value| {
                field.get("default").is_none() && list(schema, "required").iter().any(|other| other == name)
            };
            #[allow(clippy::cast_precision_loss)]
            let field = |(name, field): (&String, &Value)| {
                if required(name, field) { name.len() as f64 + least(field) + 4.0 } else { 0.0 }
            };
            2.0 + entries(schema, "properties").map(field).sum::<f64>()
        }
        _ => 2.0,
    }
}

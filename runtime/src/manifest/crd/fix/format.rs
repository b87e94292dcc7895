//! Replaces or removes each value of the schema keyword `format` that the API server doesn't know, since the server warns about such
//! formats at every apply.

use opgen_schema::is_known_format;
use serde_json::{Map, Value, json};

use super::super::schema::BRANCH_KEYWORDS;

/// The pattern of an IPv4 address as Rust parses it: without leading zeros.
macro_rules! ipv4 {
    () => {
        r"((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
    };
}

/// Formats with values that the API server accepts and no Rust type decodes, each with a pattern that excludes them: IPv4 with
/// leading zeros, the same at the end of IPv6, and base64 with bits after its end.
const FORMAT_PATTERNS: [(&str, &str); 3] = [
    ("ipv4", concat!("^", ipv4!(), "$")),
    ("ipv6", concat!("^[0-9A-Fa-f:]+(:", ipv4!(), ")?$")),
    ("byte", "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$"),
];

/// Replaces or removes a format that the API server doesn't know, in a schema and in its branches, and keeps the bounds or the pattern that
/// the format implies. A format on a list, an object or a boolean stays, and the linter reports it.
pub(crate) fn fix_format(object: &mut Map<String, Value>) {
    let kind = object.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Some(format) = object.get("format").and_then(Value::as_str).map(str::to_owned) {
        if kind == "integer" {
            add_bounds(object, &format);
        }
        // `schemars` derives the format `ip` for `IpAddr`.
        if kind == "string" && format == "ip" && !object.contains_key("anyOf") {
            let branches = ["ipv4", "ipv6"].map(|format| json!({"format": format, "pattern": pattern_for(format)}));
            object.insert("anyOf".into(), json!(branches));
        }
        if let Some(pattern) = pattern_for(&format).filter(|_| kind == "string") {
            object.entry("pattern").or_insert(json!(pattern));
        }
        match supported_format(&kind, &format) {
            Some(format) => drop(object.insert("format".into(), json!(format))),
            None if matches!(kind.as_str(), "array" | "object" | "boolean") => {}
            None => drop(object.remove("format")),
        }
    }
    for keyword in BRANCH_KEYWORDS {
        let branches = object.get_mut(keyword).and_then(Value::as_array_mut).into_iter().flatten();
        branches.filter_map(Value::as_object_mut).for_each(fix_format);
    }
}

/// Returns the pattern that the values of a string format must match besides the format; `None` if there is none.
fn pattern_for(format: &str) -> Option<&'static str> {
    FORMAT_PATTERNS.iter().find(|(name, _)| *name == format).map(|(_, pattern)| *pattern)
}

/// Returns the format known to the API server that corresponds to a format derived by `schemars`; `None` if there is none.
fn supported_format<'a>(kind: &str, format: &'a str) -> Option<&'a str> {
    match (kind, format) {
        ("integer", "int8" | "int16" | "uint8" | "uint16") => Some("int32"),
        ("integer", "int" | "uint" | "uint32" | "uint64") => Some("int64"),
        _ => is_known_format(kind, format).then_some(format),
    }
}

/// Adds the bounds that an unsigned integer format implies, unless the schema has its own.
fn add_bounds(object: &mut Map<String, Value>, format: &str) {
    if format.starts_with('u') {
        object.entry("minimum").or_insert(json!(0));
    }
    if format == "uint32" {
        object.entry("maximum").or_insert(json!(u32::MAX));
    }
}

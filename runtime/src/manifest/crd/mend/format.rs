//! Formats: those that the API server doesn't know cost a warning at every apply.

use serde_json::{Map, Value, json};

use super::super::schema::JUNCTORS;

// Without the dashes, as the API server compares them.
const TEXT: [&str; 26] = [
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8slongname",
    "k8sshortname",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

/// Replaces or drops a format that the API server doesn't know; the bounds it stood for stay.
pub(crate) fn mend(object: &mut Map<String, Value>) {
    let kind = object.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Some(format) = object.get("format").and_then(Value::as_str).map(str::to_owned) {
        if kind == "integer" {
            bounds(object, &format);
        }
        if kind == "string" && format == "ip" && !object.contains_key("anyOf") {
            object.insert("anyOf".into(), json!([{"format": "ipv4"}, {"format": "ipv6"}]));
        }
        match known(&kind, &format) {
            Some(format) => object.insert("format".into(), json!(format)),
            None => object.remove("format"),
        };
    }
    for junctor in JUNCTORS {
        let branches = object.get_mut(junctor).and_then(Value::as_array_mut).into_iter().flatten();
        branches.filter_map(Value::as_object_mut).for_each(mend);
    }
}

fn known<'a>(kind: &str, format: &'a str) -> Option<&'a str> {
    match (kind, format) {
        ("integer", "int8" | "int16" | "uint8" | "uint16") => Some("int32"),
        ("integer", "int" | "uint" | "uint32" | "uint64") => Some("int64"),
        ("integer", "int32" | "int64") | ("number", "float" | "double") => Some(format),
        ("" | "string", format) if TEXT.contains(&format.replace('-', "").as_str()) => Some(format),
        _ => None,
    }
}

fn bounds(object: &mut Map<String, Value>, format: &str) {
    if format.starts_with('u') {
        object.entry("minimum").or_insert(json!(0));
    }
    if format == "uint32" {
        object.entry("maximum").or_insert(json!(u32::MAX));
    }
}

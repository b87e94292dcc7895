//! Formats values as Go does in error messages.

use serde_json::Value;

/// Formats a value as `%v` does: `map[a:1 b:[x y]]`.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(" ")),
        Value::Object(map) => {
            let fields: Vec<_> = map.iter().map(|(key, value)| format!("{key}:{}", shown(value))).collect();
            format!("map[{}]", fields.join(" "))
        }
        other => other.to_string(),
    }
}

/// Formats a value in Go syntax, as `%#v` does.
pub(crate) fn literal(value: &Value) -> String {
    match value {
        Value::Array(_) => format!("[]interface {{}}{{{}}}", value_list(value)),
        Value::Object(_) => format!("map[string]interface {{}}{{{}}}", value_list(value)),
        Value::Null => "interface {}(nil)".to_owned(),
        scalar => scalar.to_string(),
    }
}

fn value_list(value: &Value) -> String {
    let listed: Vec<_> = match value {
        Value::Array(items) => items.iter().map(literal).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| format!("{key:?}:{}", literal(value))).collect(),
        _ => Vec::new(),
    };
    listed.join(", ")
}

/// The name that `encoding/json` uses in messages for the JSON type of a value.
pub(crate) fn sort(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Converts a message of Go's JSON decoder to the message of Go's conversion from a map to a struct for the same value.
pub(crate) fn unconverted(why: &str) -> String {
    if why.starts_with("illegal base64") {
        return format!("error decoding from json: {why}");
    }
    let unmarshal_error =
        why.strip_prefix("json: cannot unmarshal ").and_then(|unmarshal_error| unmarshal_error.split_once(" into "));
    let Some((is, (_, wanted))) = unmarshal_error.and_then(|(is, into)| Some((is, into.rsplit_once("of type ")?)))
    else {
        return why.to_owned();
    };
    let is = match is.split(' ').next().unwrap_or_default() {
        "array" => "slice",
        "object" => "map",
        "number" => "int64",
        other => other,
    };
    match (is, wanted) {
        ("int64", "string") => "cannot convert int64 to string".to_owned(),
        (_, wanted) if wanted.starts_with("map[") => format!("cannot restore map from {is}"),
        (_, wanted) if wanted.starts_with("[]") => format!("cannot restore slice from {is}"),
        (_, "bool" | "int32" | "int64" | "string") => format!("unrecognized type: {wanted}"),
        _ => format!("cannot restore struct from: {is}"),
    }
}

/// Formats an object after a JSON or merge patch: untouched fields in the order in which Go encodes the struct, all
/// other fields by name.
pub(crate) fn patched(new: &Value, old: &Value) -> String {
    let Value::Object(fields) = new else { return new.to_string() };
    let written = fields.iter().map(|(key, value)| {
        let was = old.get(key).unwrap_or(&Value::Null);
        let text = if value == was { untouched(key, value) } else { patched(value, was) };
        format!("{}:{text}", Value::from(key.as_str()))
    });
    format!("{{{}}}", written.collect::<Vec<_>>().join(","))
}

/// The fields of `ObjectMeta` and of its list items, in the order of the Go types.
const METADATA: [&str; 15] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];
const OWNER: [&str; 6] = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
const MANAGER: [&str; 7] = ["manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"];

fn untouched(key: &str, value: &Value) -> String {
    let order: &[&str] = match key {
        "metadata" => &METADATA,
        "ownerReferences" => &OWNER,
        "managedFields" => &MANAGER,
        _ => return value.to_string(),
    };
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|item| untouched(key, item)).collect::<Vec<_>>().join(","))
        }
        Value::Object(fields) => {
            let mut listed: Vec<_> = fields.iter().collect();
            listed.sort_by_key(|(name, _)| order.iter().position(|known| known == name));
            let written = listed
                .into_iter()
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), untouched(name, value)));
            format!("{{{}}}", written.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

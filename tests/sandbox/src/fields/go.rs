//! Formats values as Go does in error messages.

use serde_json::Value;

/// Formats a value as `%v` does: `map[a:1 b:[x y]]`.
pub(crate) fn format_value(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(format_value).collect::<Vec<_>>().join(" ")),
        Value::Object(map) => {
            let fields: Vec<_> = map.iter().map(|(key, value)| format!("{key}:{}", format_value(value))).collect();
            format!("map[{}]", fields.join(" "))
        }
        other => other.to_string(),
    }
}

/// Formats a value in Go syntax, as `%#v` does.
pub(crate) fn format_literal(value: &Value) -> String {
    match value {
        Value::Array(_) => format!("[]interface {{}}{{{}}}", format_elements(value)),
        Value::Object(_) => format!("map[string]interface {{}}{{{}}}", format_elements(value)),
        Value::Null => "interface {}(nil)".to_owned(),
        scalar => scalar.to_string(),
    }
}

/// Formats the elements of a list or a map in Go syntax, separated by commas.
fn format_elements(value: &Value) -> String {
    let listed: Vec<_> = match value {
        Value::Array(items) => items.iter().map(format_literal).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| format!("{key:?}:{}", format_literal(value))).collect(),
        _ => Vec::new(),
    };
    listed.join(", ")
}

/// Returns the name of a JSON type in the messages of `encoding/json`.
pub(crate) fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Converts an error message of Go's JSON decoder, such as `json: cannot unmarshal number into … of type string`, to
/// the message with which apimachinery's conversion of a map to a struct (`DefaultUnstructuredConverter`) rejects the
/// same value, such as `cannot convert int64 to string`. Returns a message of another form unchanged.
pub(crate) fn conversion_error(message: &str) -> String {
    if message.starts_with("illegal base64") {
        return format!("error decoding from json: {message}");
    }
    let types = message.strip_prefix("json: cannot unmarshal ").and_then(|types| types.split_once(" into "));
    let Some((json_type, (_, go_type))) =
        types.and_then(|(json_type, into)| Some((json_type, into.rsplit_once("of type ")?)))
    else {
        return message.to_owned();
    };
    // The JSON type may be followed by the value: `number 1.5`.
    let json_type = match json_type.split(' ').next().unwrap_or_default() {
        "array" => "slice",
        "object" => "map",
        "number" => "int64",
        other => other,
    };
    match (json_type, go_type) {
        ("int64", "string") => "cannot convert int64 to string".to_owned(),
        (_, go_type) if go_type.starts_with("map[") => format!("cannot restore map from {json_type}"),
        (_, go_type) if go_type.starts_with("[]") => format!("cannot restore slice from {json_type}"),
        (_, "bool" | "int32" | "int64" | "string") => format!("unrecognized type: {go_type}"),
        _ => format!("cannot restore struct from: {json_type}"),
    }
}

/// Encodes the object after a JSON patch or a merge patch as error messages quote it: a changed object has its fields
/// sorted by name, and unchanged metadata has the order of its Go type.
pub(crate) fn format_patched(new: &Value, old: &Value) -> String {
    let Value::Object(fields) = new else { return new.to_string() };
    let written = fields.iter().map(|(key, value)| {
        let old_value = old.get(key).unwrap_or(&Value::Null);
        let text = if value == old_value { format_in_type_order(key, value) } else { format_patched(value, old_value) };
        format!("{}:{text}", Value::from(key.as_str()))
    });
    format!("{{{}}}", written.collect::<Vec<_>>().join(","))
}

/// The fields of `ObjectMeta`, in the order of the Go type.
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
/// The fields of `OwnerReference`, in the order of the Go type.
const OWNER: [&str; 6] = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
/// The fields of `ManagedFieldsEntry`, in the order of the Go type.
const MANAGER: [&str; 7] = ["manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"];

/// Encodes the value of the field `key` as JSON. Fields of metadata, owner references and `managedFields` entries come
/// in the order of their Go types.
fn format_in_type_order(key: &str, value: &Value) -> String {
    let order: &[&str] = match key {
        "metadata" => &METADATA,
        "ownerReferences" => &OWNER,
        "managedFields" => &MANAGER,
        _ => return value.to_string(),
    };
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|item| format_in_type_order(key, item)).collect::<Vec<_>>().join(","))
        }
        Value::Object(fields) => {
            let mut listed: Vec<_> = fields.iter().collect();
            listed.sort_by_key(|(name, _)| order.iter().position(|known| known == name));
            let written = listed
                .into_iter()
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), format_in_type_order(name, value)));
            format!("{{{}}}", written.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

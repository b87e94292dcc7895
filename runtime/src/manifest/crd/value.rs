//! Validates a value against a schema as the API server does, without patterns and CEL rules.

use crate::manifest::crd::keyword::{EMBEDDED_RESOURCE, INT_OR_STRING, PRESERVE_UNKNOWN_FIELDS};
use serde_json::Value;

use super::schema::{entries, field, flag, list, text};

/// Returns the validation errors of `value`; empty if it is valid.
pub(crate) fn complaints(value: &Value, schema: &Value) -> Vec<String> {
    let mut complaints = Vec::new();
    check_node(value, schema, schema, "", &mut complaints);
    complaints
}

/// Returns `value` with the defaults of `schema` filled in, as the API server does before it validates an object.
pub(crate) fn defaulted(mut value: Value, schema: &Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for (name, inner) in entries(schema, "properties") {
                if let Some(default) = inner.get("default").filter(|_| !fields.contains_key(name)) {
                    fields.insert(name.clone(), default.clone());
                }
            }
            for (name, field) in fields {
                let inner = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
                *field = defaulted(field.take(), inner);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = defaulted(item.take(), &schema["items"])),
        _ => {}
    }
    value
}

fn is_valid(value: &Value, schema: &Value, outer: &Value) -> bool {
    let mut complaints = Vec::new();
    check_node(value, schema, outer, "", &mut complaints);
    complaints.is_empty()
}

/// Validates one value and all values below it. If `schema` is a branch, `outer` is the schema around it that defines the fields.
fn check_node(value: &Value, schema: &Value, outer: &Value, path: &str, complaints: &mut Vec<String>) {
    let shown_path = if path.is_empty() { "." } else { path };
    if value.is_null() {
        if !flag(outer, "nullable") && !text(outer, "type").is_empty() {
            complaints.push(format!("{shown_path} can't be null"));
        }
        return;
    }
    if !is_of_type(value, schema) {
        let expected = if flag(schema, INT_OR_STRING) { "integer or string" } else { text(schema, "type") };
        complaints.push(format!("{shown_path} is not of type {expected}"));
        return;
    }
    let choices = list(schema, "enum");
    if !choices.is_empty() && !choices.contains(value) {
        complaints.push(format!("{shown_path} is none of {}", Value::from(choices)));
    }
    match value {
        Value::Number(_) => check_number(value, schema, shown_path, complaints),
        Value::String(content) => check_string(content, schema, shown_path, complaints),
        Value::Array(items) => {
            check_length(items.len(), schema, ["minItems", "maxItems"], shown_path, complaints);
            for (index, item) in items.iter().enumerate() {
                if schema["items"].is_object() {
                    check_node(item, &schema["items"], &outer["items"], &format!("{path}[{index}]"), complaints);
                }
            }
        }
        Value::Object(_) => check_object(value, schema, outer, path, complaints),
        _ => {}
    }
    check_branches(value, schema, outer, path, complaints);
}

/// Whether the value has the type of the schema.
fn is_of_type(value: &Value, schema: &Value) -> bool {
    if flag(schema, INT_OR_STRING) {
        return value.is_i64() || value.is_u64() || value.is_string();
    }
    match text(schema, "type") {
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "object" => value.is_object(),
        "string" => value.is_string(),
        _ => true,
    }
}

/// Checks the bounds and the format of a number.
fn check_number(value: &Value, schema: &Value, path: &str, complaints: &mut Vec<String>) {
    let Some(number) = value.as_f64() else { return };
    let bound = |key: &str| schema[key].as_f64();
    if bound("minimum").is_some_and(|minimum| number < minimum || number == minimum && flag(schema, "exclusiveMinimum"))
    {
        complaints.push(format!("{path} is less than {}", schema["minimum"]));
    }
    if bound("maximum").is_some_and(|maximum| number > maximum || number == maximum && flag(schema, "exclusiveMaximum"))
    {
        complaints.push(format!("{path} is more than {}", schema["maximum"]));
    }
    if bound("multipleOf").is_some_and(|step| step > 0.0 && (number / step).fract() != 0.0) {
        complaints.push(format!("{path} is no multiple of {}", schema["multipleOf"]));
    }
    if schema["format"] == "int32" && (number < f64::from(i32::MIN) || number > f64::from(i32::MAX)) {
        complaints.push(format!("{path} doesn't fit into 32 bits"));
    }
}

fn check_string(content: &str, schema: &Value, path: &str, complaints: &mut Vec<String>) {
    check_length(content.chars().count(), schema, ["minLength", "maxLength"], path, complaints);
}

/// Checks the length of a string, list or map against two keywords of the schema.
fn check_length(
    length: usize,
    schema: &Value,
    [minimum, maximum]: [&str; 2],
    path: &str,
    complaints: &mut Vec<String>,
) {
    let length = length as u64;
    if schema[minimum].as_u64().is_some_and(|minimum| length < minimum) {
        complaints.push(format!("{path} is shorter than {}", schema[minimum]));
    }
    if schema[maximum].as_u64().is_some_and(|maximum| length > maximum) {
        complaints.push(format!("{path} is longer than {}", schema[maximum]));
    }
}

/// Checks required fields, the number of fields, unknown fields and the value of each field.
fn check_object(value: &Value, schema: &Value, outer: &Value, path: &str, complaints: &mut Vec<String>) {
    let shown_path = if path.is_empty() { "." } else { path };
    for name in list(schema, "required").iter().filter_map(Value::as_str) {
        if value.get(name).is_none() {
            complaints.push(format!("{} is missing", field(path, name)));
        }
    }
    let fields = value.as_object().into_iter().flatten();
    check_length(fields.clone().count(), schema, ["minProperties", "maxProperties"], shown_path, complaints);
    let open = flag(outer, PRESERVE_UNKNOWN_FIELDS) || flag(outer, EMBEDDED_RESOURCE);
    for (name, inner) in fields {
        let field_path = field(path, name);
        if let Some(known) = schema["properties"].get(name) {
            check_node(inner, known, &outer["properties"][name], &field_path, complaints);
        } else if schema["additionalProperties"].is_object() {
            check_node(inner, &schema["additionalProperties"], &outer["additionalProperties"], &field_path, complaints);
        } else if !open && outer["properties"].get(name).is_none() && !outer["additionalProperties"].is_object() {
            complaints.push(format!("{field_path} is not in the schema"));
        }
    }
}

/// Checks `anyOf`, `oneOf`, `allOf` and `not`.
fn check_branches(value: &Value, schema: &Value, outer: &Value, path: &str, complaints: &mut Vec<String>) {
    let shown_path = if path.is_empty() { "." } else { path };
    let count_valid = |branches: &[Value]| branches.iter().filter(|branch| is_valid(value, branch, outer)).count();
    let (any_of, one_of) = (list(schema, "anyOf"), list(schema, "oneOf"));
    if !any_of.is_empty() && count_valid(any_of) == 0 {
        complaints.push(format!("{shown_path} is none of the variants"));
    }
    if !one_of.is_empty() && count_valid(one_of) != 1 {
        complaints.push(format!("{shown_path} is not exactly one of the variants"));
    }
    for branch in list(schema, "allOf") {
        check_node(value, branch, outer, path, complaints);
    }
    if schema["not"].is_object() && is_valid(value, &schema["not"], outer) {
        complaints.push(format!("{shown_path} is what it must not be"));
    }
}

/// Returns the fields that the smallest valid object has: those that the schema and its first branches require.
pub(crate) fn required(schema: &Value) -> Vec<String> {
    let mut names = required_by(schema);
    names.retain(|name| schema["properties"].get(name).is_some());
    names
}

fn required_by(schema: &Value) -> Vec<String> {
    let mut names: Vec<String> = list(schema, "required").iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let first = [list(schema, "anyOf").first(), list(schema, "oneOf").first()].into_iter().flatten();
    names.extend(first.chain(list(schema, "allOf")).flat_map(required_by));
    names
}

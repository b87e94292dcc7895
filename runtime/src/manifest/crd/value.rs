//! Whether a value is one that a schema takes; what the API server would say about it, without patterns and CEL.

use serde_json::Value;

use super::schema::{entries, field, flag, list, text};

/// What is wrong with `value`; empty if nothing is.
pub(crate) fn complaints(value: &Value, schema: &Value) -> Vec<String> {
    let mut all = Vec::new();
    node(value, schema, schema, "", &mut all);
    all
}

/// `value` with the defaults of `schema` filled in, as the API server does before it looks at an object.
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

fn is_valid(value: &Value, schema: &Value, around: &Value) -> bool {
    let mut all = Vec::new();
    node(value, schema, around, "", &mut all);
    all.is_empty()
}

/// `around` is the schema that defines fields where `schema` is one of its branches.
fn node(value: &Value, schema: &Value, around: &Value, path: &str, all: &mut Vec<String>) {
    let shown = if path.is_empty() { "." } else { path };
    if value.is_null() {
        if !flag(around, "nullable") && !text(around, "type").is_empty() {
            all.push(format!("{shown} can't be null"));
        }
        return;
    }
    if !is_of_type(value, schema) {
        let wanted =
            if flag(schema, "x-kubernetes-int-or-string") { "integer or string" } else { text(schema, "type") };
        all.push(format!("{shown} is not of type {wanted}"));
        return;
    }
    let choices = list(schema, "enum");
    if !choices.is_empty() && !choices.contains(value) {
        all.push(format!("{shown} is none of {}", Value::from(choices)));
    }
    match value {
        Value::Number(_) => number(value, schema, shown, all),
        Value::String(content) => string(content, schema, shown, all),
        Value::Array(items) => {
            between(items.len(), schema, ["minItems", "maxItems"], shown, all);
            for (index, item) in items.iter().enumerate() {
                if schema["items"].is_object() {
                    node(item, &schema["items"], &around["items"], &format!("{path}[{index}]"), all);
                }
            }
        }
        Value::Object(_) => object(value, schema, around, path, all),
        _ => {}
    }
    junctors(value, schema, around, path, all);
}

fn is_of_type(value: &Value, schema: &Value) -> bool {
    if flag(schema, "x-kubernetes-int-or-string") {
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

fn number(value: &Value, schema: &Value, path: &str, all: &mut Vec<String>) {
    let Some(number) = value.as_f64() else { return };
    let bound = |key: &str| schema[key].as_f64();
    if bound("minimum").is_some_and(|least| number < least || number == least && flag(schema, "exclusiveMinimum")) {
        all.push(format!("{path} is less than {}", schema["minimum"]));
    }
    if bound("maximum").is_some_and(|most| number > most || number == most && flag(schema, "exclusiveMaximum")) {
        all.push(format!("{path} is more than {}", schema["maximum"]));
    }
    if bound("multipleOf").is_some_and(|step| step > 0.0 && (number / step).fract() != 0.0) {
        all.push(format!("{path} is no multiple of {}", schema["multipleOf"]));
    }
    if schema["format"] == "int32" && (number < f64::from(i32::MIN) || number > f64::from(i32::MAX)) {
        all.push(format!("{path} doesn't fit into 32 bits"));
    }
}

fn string(content: &str, schema: &Value, path: &str, all: &mut Vec<String>) {
    between(content.chars().count(), schema, ["minLength", "maxLength"], path, all);
}

fn between(length: usize, schema: &Value, [least, most]: [&str; 2], path: &str, all: &mut Vec<String>) {
    let length = length as u64;
    if schema[least].as_u64().is_some_and(|least| length < least) {
        all.push(format!("{path} is shorter than {}", schema[least]));
    }
    if schema[most].as_u64().is_some_and(|most| length > most) {
        all.push(format!("{path} is longer than {}", schema[most]));
    }
}

fn object(value: &Value, schema: &Value, around: &Value, path: &str, all: &mut Vec<String>) {
    let shown = if path.is_empty() { "." } else { path };
    for name in list(schema, "required").iter().filter_map(Value::as_str) {
        if value.get(name).is_none() {
            all.push(format!("{} is missing", field(path, name)));
        }
    }
    let fields = value.as_object().into_iter().flatten();
    between(fields.clone().count(), schema, ["minProperties", "maxProperties"], shown, all);
    let open = flag(around, "x-kubernetes-preserve-unknown-fields") || flag(around, "x-kubernetes-embedded-resource");
    for (name, inner) in fields {
        let at = field(path, name);
        if let Some(known) = schema["properties"].get(name) {
            node(inner, known, &around["properties"][name], &at, all);
        } else if schema["additionalProperties"].is_object() {
            node(inner, &schema["additionalProperties"], &around["additionalProperties"], &at, all);
        } else if !open && around["properties"].get(name).is_none() && !around["additionalProperties"].is_object() {
            all.push(format!("{at} is not in the schema"));
        }
    }
}

fn junctors(value: &Value, schema: &Value, around: &Value, path: &str, all: &mut Vec<String>) {
    let shown = if path.is_empty() { "." } else { path };
    let valid = |branches: &[Value]| branches.iter().filter(|branch| is_valid(value, branch, around)).count();
    let (any, one) = (list(schema, "anyOf"), list(schema, "oneOf"));
    if !any.is_empty() && valid(any) == 0 {
        all.push(format!("{shown} is none of the variants"));
    }
    if !one.is_empty() && valid(one) != 1 {
        all.push(format!("{shown} is not exactly one of the variants"));
    }
    for branch in list(schema, "allOf") {
        node(value, branch, around, path, all);
    }
    if schema["not"].is_object() && is_valid(value, &schema["not"], around) {
        all.push(format!("{shown} is what it must not be"));
    }
}

/// The names of the fields that a valid object has at least, by `required` of the schema and of its first branches.
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

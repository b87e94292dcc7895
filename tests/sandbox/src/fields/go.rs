//! Values as Go prints them, for messages.

use serde_json::Value;

/// `map[a:1 b:[x y]]`
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

/// As Go writes a scalar in its own syntax.
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

/// What `encoding/json` calls a value of a type that it can't read into.
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

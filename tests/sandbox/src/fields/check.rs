//! Checks that an object can be used in server-side apply.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    Element, go,
    typed::{self, Type},
};
use crate::schema::{List, ListKind, Scalar, Shape};

/// Returns the faults of an object, in the real server's words; empty if it has none.
pub(crate) fn faults(of: Type<'_>, object: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check(of, object, "", &mut faults);
    faults
}

/// Joins faults into one message.
pub(crate) fn message(faults: &[String]) -> String {
    match faults {
        [one] => one.clone(),
        several => format!("errors:\n  {}", several.join("\n  ")),
    }
}

fn check(of: Type<'_>, value: &Value, path: &str, faults: &mut Vec<String>) {
    let mut fault = |what: String| faults.push(if path.is_empty() { what } else { format!("{path}: {what}") });
    let schema = match of {
        Type::Root(schema) | Type::Known(schema) => schema,
        Type::Deduced | Type::Opaque => return,
    };
    match &schema.resolve().shape {
        Shape::Any | Shape::Named(_) => {}
        Shape::Scalar(scalar) => {
            if let Some(expected) = mismatch(*scalar, value) {
                fault(expected);
            }
        }
        Shape::List(list) => match value {
            Value::Array(items) => check_items(list, items, path, faults),
            Value::Null => {}
            other => fault(format!("expected list, got {}", shown(other))),
        },
        Shape::Object(_) => match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let below = format!("{path}.{name}");
                    match of.field(name) {
                        Some(field) => check(field.of, value, &below, faults),
                        None => {
                            faults.push(format!("{below}: field not declared in schema"));
                            return;
                        }
                    }
                }
            }
            Value::Null => {}
            other => fault(format!("expected map, got {}", shown(other))),
        },
    }
}

fn check_items(list: &List, items: &[Value], path: &str, faults: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let element = if list.kind == ListKind::Atomic {
            Element::Index(i64::try_from(index).unwrap_or(i64::MAX))
        } else {
            match typed::element(list, item) {
                Ok(element) => element,
                Err(nameless) => {
                    faults.push(format!("{path}: element {index}: {}", nameless.message(list)));
                    return;
                }
            }
        };
        let below = format!("{path}{element}");
        if !seen.insert(element.clone()) {
            faults.push(format!("{path}: duplicate entries for key {element}"));
        }
        check(typed::items(list), item, &below, faults);
    }
}

/// Returns the real server's message for a value that does not fit the scalar type; `None` if it fits.
fn mismatch(scalar: Scalar, value: &Value) -> Option<String> {
    let fits = match (scalar, value) {
        (_, Value::Null) => true,
        (Scalar::Integer | Scalar::Number, value) => value.is_number(),
        (Scalar::Text, value) => value.is_string(),
        (Scalar::Boolean, value) => value.is_boolean(),
        (Scalar::IntOrText, _) => true,
    };
    (!fits).then(|| match scalar {
        Scalar::Integer | Scalar::Number => format!("expected numeric (int or float), got {}", sort(value)),
        Scalar::Text => format!("expected string, got &value.valueUnstructured{{Value:{}}}", go::literal(value)),
        Scalar::Boolean | Scalar::IntOrText => format!("expected boolean, got {}", shown(value)),
    })
}

/// The Go type of a JSON value that was decoded into an interface.
fn sort(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

fn shown(value: &Value) -> String {
    format!("&{{{}}}", go::shown(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::builtin::parse;

    #[test]
    fn duplicate_entries_for_a_key_are_faults() {
        let ports = json!({"type": "object", "properties": {"ports": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"],
            "items": {"type": "object", "properties": {
                "port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}, "name": {"type": "string"},
            }},
        }}});
        let schema = parse(&ports);
        let object = json!({"ports": [{"port": 80}, {"port": 80, "protocol": "TCP"}, {"port": 80, "protocol": "UDP"}]});
        let expected_faults = [".ports: duplicate entries for key [port=80,protocol=\"TCP\"]"];
        assert_eq!(faults(Type::Known(&schema), &object), expected_faults);
        assert_eq!(faults(Type::Known(&schema), &json!({"port": 1})), [".port: field not declared in schema"]);
        let text = faults(Type::Known(&schema), &json!({"ports": [{"port": "80"}]}));
        assert_eq!(text, [".ports[port=\"80\",protocol=\"TCP\"].port: expected numeric (int or float), got string"]);
    }
}

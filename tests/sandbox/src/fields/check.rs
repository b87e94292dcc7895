//! Validates an object for server-side apply against its schema: the types of fields, and the keys of the items of lists with `listType:
//! map`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    Element, go,
    typed::{self, Type},
};
use crate::schema::{List, ListKind, Scalar, Shape};

/// Returns the errors of an object against its schema, with the messages of kube-apiserver; an empty list if the object is valid.
pub(crate) fn type_errors(type_: Type<'_>, object: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    check_value(type_, object, "", &mut errors);
    errors
}

/// Joins errors into one message.
pub(crate) fn message(errors: &[String]) -> String {
    match errors {
        [error] => error.clone(),
        several => format!("errors:\n  {}", several.join("\n  ")),
    }
}

/// Adds the errors of the value at `path`, and of the values in it, to `errors`. Ignores the rest of an object after its first field that
/// is not in the schema.
fn check_value(type_: Type<'_>, value: &Value, path: &str, errors: &mut Vec<String>) {
    let mut add_error = |what: String| errors.push(if path.is_empty() { what } else { format!("{path}: {what}") });
    let schema = match type_ {
        Type::Root(schema) | Type::Known(schema) => schema,
        Type::Deduced | Type::Opaque => return,
    };
    match &schema.resolve().shape {
        Shape::Any | Shape::Named(_) => {}
        Shape::Scalar(scalar) => {
            if let Some(expected) = type_mismatch(*scalar, value) {
                add_error(expected);
            }
        }
        Shape::List(list) => match value {
            Value::Array(items) => check_items(list, items, path, errors),
            Value::Null => {}
            other => add_error(format!("expected list, got {}", go_struct(other))),
        },
        Shape::Object(_) => match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let child_path = format!("{path}.{name}");
                    match type_.field(name) {
                        Some(field) => check_value(field.type_, value, &child_path, errors),
                        None => {
                            errors.push(format!("{child_path}: field not declared in schema"));
                            return;
                        }
                    }
                }
            }
            Value::Null => {}
            other => add_error(format!("expected map, got {}", go_struct(other))),
        },
    }
}

/// Adds the errors of the items of the list at `path` to `errors`, including duplicate keys. Ignores the items after the first one whose
/// key is invalid.
fn check_items(list: &List, items: &[Value], path: &str, errors: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let element = if list.kind == ListKind::Atomic {
            Element::Index(i64::try_from(index).unwrap_or(i64::MAX))
        } else {
            match typed::element(list, item) {
                Ok(element) => element,
                Err(invalid) => {
                    errors.push(format!("{path}: element {index}: {}", invalid.message(list)));
                    return;
                }
            }
        };
        let child_path = format!("{path}{element}");
        if !seen.insert(element.clone()) {
            errors.push(format!("{path}: duplicate entries for key {element}"));
        }
        check_value(typed::items(list), item, &child_path, errors);
    }
}

/// Returns the error of a value that does not have the scalar type; `None` if it has the type or is null.
fn type_mismatch(scalar: Scalar, value: &Value) -> Option<String> {
    let fits = match (scalar, value) {
        (_, Value::Null) => true,
        (Scalar::Integer | Scalar::Number, value) => value.is_number(),
        (Scalar::Text, value) => value.is_string(),
        (Scalar::Boolean, value) => value.is_boolean(),
        (Scalar::IntOrText, _) => true,
    };
    (!fits).then(|| match scalar {
        Scalar::Integer | Scalar::Number => format!("expected numeric (int or float), got {}", go_type(value)),
        Scalar::Text => format!("expected string, got &value.valueUnstructured{{Value:{}}}", go::format_literal(value)),
        Scalar::Boolean | Scalar::IntOrText => format!("expected boolean, got {}", go_struct(value)),
    })
}

/// Returns the Go type of a JSON value after decoding into an `interface{}`, for messages.
fn go_type(value: &Value) -> &'static str {
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

/// Formats a value as Go formats a pointer to a struct that contains it.
fn go_struct(value: &Value) -> String {
    format!("&{{{}}}", go::format_value(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::builtin::parse;

    #[test]
    fn duplicate_keys_unknown_fields_and_wrong_types_are_errors() {
        let ports = json!({"type": "object", "properties": {"ports": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"],
            "items": {"type": "object", "properties": {
                "port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}, "name": {"type": "string"},
            }},
        }}});
        let schema = parse(&ports);
        let object = json!({"ports": [{"port": 80}, {"port": 80, "protocol": "TCP"}, {"port": 80, "protocol": "UDP"}]});
        let expected_faults = [".ports: duplicate entries for key [port=80,protocol=\"TCP\"]"];
        assert_eq!(type_errors(Type::Known(&schema), &object), expected_faults);
        assert_eq!(type_errors(Type::Known(&schema), &json!({"port": 1})), [".port: field not declared in schema"]);
        let errors = type_errors(Type::Known(&schema), &json!({"ports": [{"port": "80"}]}));
        assert_eq!(errors, [".ports[port=\"80\",protocol=\"TCP\"].port: expected numeric (int or float), got string"]);
    }
}

//! Validates the fields that the `scale` subresource reads.

use serde_json::Value;

use crate::cause::Cause;

/// The paths of the `scale` subresource of a kind, without the leading dot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScalePaths {
    /// The path of the desired number of replicas.
    pub spec_replicas: String,
    /// The path of the observed number of replicas.
    pub status_replicas: String,
    /// The path of the label selector, if the kind has one.
    pub label_selector: Option<String>,
}

/// Returns the errors of the desired number of replicas.
pub(super) fn check_spec(paths: &ScalePaths, object: &Value) -> Vec<Cause> {
    check_replicas(&paths.spec_replicas, object)
}

/// Returns the errors of the observed number of replicas and of their selector.
pub(super) fn check_status(paths: &ScalePaths, object: &Value) -> Vec<Cause> {
    let mut causes = check_replicas(&paths.status_replicas, object);
    if let Some(path) = &paths.label_selector
        && let Some(value) = at_path(object, path).filter(|value| !value.is_string())
    {
        causes.push(invalid(path, "\"\"", &accessor_error(path, value, "string")));
    }
    causes
}

/// Checks that a number of replicas is an integer from 0 to the maximum of `int32`. An absent number is valid.
fn check_replicas(path: &str, object: &Value) -> Vec<Cause> {
    let Some(value) = at_path(object, path) else { return Vec::new() };
    let Some(number) = value.as_i64() else { return vec![invalid(path, "0", &accessor_error(path, value, "int64"))] };
    let why = match number {
        ..0 => "should be a non-negative integer".to_owned(),
        0..=0x7fff_ffff => return Vec::new(),
        _ => format!("should be less than or equal to {}", i32::MAX),
    };
    vec![invalid(path, &number.to_string(), &why)]
}

/// Returns the value at a path; `None` if it is absent or null.
fn at_path<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(object, |value, key| value.get(key)).filter(|value| !value.is_null())
}

/// Returns the message of Go's `unstructured.NestedInt64` and `NestedString` for a value of another type than `expected`.
fn accessor_error(path: &str, value: &Value, expected: &str) -> String {
    let (text, type_name) = match value {
        Value::String(string) => (string.clone(), "string"),
        Value::Bool(truth) => (truth.to_string(), "bool"),
        Value::Number(number) if number.is_f64() => (number.to_string(), "float64"),
        Value::Number(number) => (number.to_string(), "int64"),
        Value::Array(_) => (value.to_string(), "[]interface {}"),
        other => (other.to_string(), "map[string]interface {}"),
    };
    format!(".{path} accessor error: {text} is of the type {type_name}, expected {expected}")
}

/// Returns the error for an invalid path of the subresource `scale`.
fn invalid(path: &str, value: &str, why: &str) -> Cause {
    let message = format!("Invalid value: {value}: {why}");
    Cause { reason: "FieldValueInvalid", message, field: format!(".{path}") }
}

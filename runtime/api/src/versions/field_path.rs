//! `FieldPath`: the field names that lead from a JSON object to a nested field, with functions that find, take and set this field.

use serde_json::{Map, Value};

/// The names from an object down to a field, in JSON.
pub type FieldPath = &'static [&'static str];

/// Appends names to the path of an object.
pub(super) fn join(path: &str, names: &[&str]) -> String {
    names
        .iter()
        .fold(path.to_owned(), |path, name| if path.is_empty() { (*name).to_owned() } else { format!("{path}.{name}") })
}

/// Returns the value of a nested field; `None` if the field or an object around it is missing.
pub(super) fn find<'a>(object: &'a Map<String, Value>, field: &[&str]) -> Option<&'a Value> {
    match field {
        [] => None,
        [name] => object.get(*name),
        [name, rest @ ..] => find(object.get(*name)?.as_object()?, rest),
    }
}

/// Removes a nested field from an object, and returns its value; `None` if the field or an object around it is missing.
pub(super) fn take(object: &mut Map<String, Value>, field: &[&str]) -> Option<Value> {
    match field {
        [] => None,
        [name] => object.remove(*name),
        [name, rest @ ..] => take(object.get_mut(*name)?.as_object_mut()?, rest),
    }
}

/// Sets a nested field. Does nothing if an object around the field is missing, since the value then has no place in this version.
pub(super) fn set(object: &mut Map<String, Value>, field: &[&str], value: Value) {
    match field {
        [] => {}
        [name] => drop(object.insert((*name).to_owned(), value)),
        [name, rest @ ..] => {
            if let Some(inner) = object.get_mut(*name).and_then(Value::as_object_mut) {
                set(inner, rest, value);
            }
        }
    }
}

//! Merges parameters into the values of a Helm chart, as `helm --set` does, because Flux has no parameters of its own.

use crate::cd::driver::{InvalidApplication, Parameter};
use serde_json::{Map, Value};

/// Returns the values with the parameters merged into them; a parameter overrides a value. `None` if there are neither values nor
/// parameters.
///
/// # Errors
/// If a parameter names an item of a list, has a null or a list as its value, or is below a value that is no map.
pub(super) fn merge(values: Option<Value>, parameters: &[Parameter]) -> Result<Option<Value>, InvalidApplication> {
    if parameters.is_empty() {
        return Ok(values);
    }
    let mut merged = values.unwrap_or_else(|| Value::Object(Map::new()));
    for Parameter { name, value } in parameters {
        let path = path(name).ok_or_else(|| {
            InvalidApplication::new(format!("parameter {name} must be a path of fields; set it in `values`"))
        })?;
        let value = parse_value(value).ok_or_else(|| {
            InvalidApplication::new(format!("parameter {name} has a null or a list; set it in `values`"))
        })?;
        set(&mut merged, &path, value)
            .map_err(|()| InvalidApplication::new(format!("parameter {name} is below a value that is no map")))?;
    }
    Ok(Some(merged))
}

/// Splits the name of a parameter at its dots into field names; `\.` is a dot within a field name. Returns `None` if the name has an index,
/// a list, or an empty field name.
fn path(name: &str) -> Option<Vec<String>> {
    let (mut fields, mut field, mut characters) = (Vec::new(), String::new(), name.chars());
    while let Some(character) = characters.next() {
        match character {
            '\\' => field.push(characters.next()?),
            '.' => fields.push(std::mem::take(&mut field)),
            '[' | ']' | '{' | '}' | ',' | '=' => return None,
            other => field.push(other),
        }
    }
    fields.push(field);
    fields.iter().all(|field| !field.is_empty()).then_some(fields)
}

/// Sets the value at a path of field names, and creates the maps above it. Fails if a value on the path is not a map.
fn set(values: &mut Value, path: &[String], value: Value) -> Result<(), ()> {
    let (Value::Object(map), [field, below @ ..]) = (values, path) else { return Err(()) };
    if below.is_empty() {
        map.insert(field.clone(), value);
        return Ok(());
    }
    set(map.entry(field).or_insert_with(|| Value::Object(Map::new())), below, value)
}

/// Returns the value of a parameter as Helm reads it: a boolean for `true` and `false`, a number for an integer, else the text. `None` for
/// a null or a list.
fn parse_value(text: &str) -> Option<Value> {
    if text.eq_ignore_ascii_case("null") || text.starts_with('{') {
        return None;
    }
    for value in [true, false] {
        if text.eq_ignore_ascii_case(&value.to_string()) {
            return Some(value.into());
        }
    }
    // Helm keeps a text with a leading zero, for example a commit.
    if text.starts_with('0') && text != "0" {
        return Some(text.into());
    }
    Some(text.parse::<i64>().map_or_else(|_| text.into(), Into::into))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn parameter(name: &str, value: &str) -> Parameter {
        Parameter { name: name.to_owned(), value: value.to_owned() }
    }

    #[test]
    fn parameters_win_over_values_and_have_the_types_of_helm() {
        let parameters = [
            parameter("server.replicas", "3"),
            parameter("server.enabled", "True"),
            parameter(r"labels.example\.com/team", "web"),
            parameter("commit", "0123"),
        ];
        let values = json!({"server": {"replicas": 1, "image": "a"}});
        let expected = json!({
            "server": {"replicas": 3, "image": "a", "enabled": true},
            "labels": {"example.com/team": "web"},
            "commit": "0123",
        });
        assert_eq!(merge(Some(values), &parameters).unwrap(), Some(expected));
        assert_eq!(merge(None, &[]).unwrap(), None);
    }

    #[test]
    fn a_parameter_that_is_no_path_of_fields_is_refused_without_its_value() {
        for name in ["args[0]", "a..b", "a=b", "{a}", "a,b", "a."] {
            let error = merge(None, &[parameter(name, "hidden")]).unwrap_err().to_string();
            assert!(error.contains(name) && !error.contains("hidden"), "{error}");
        }
        let error = merge(Some(json!({"a": "text"})), &[parameter("a.b", "hidden")]).unwrap_err().to_string();
        assert_eq!(error, "parameter a.b is below a value that is no map");
        for value in ["null", "{a,b}"] {
            let error = merge(None, &[parameter("a", value)]).unwrap_err().to_string();
            assert!(error.starts_with("parameter a has a null"), "{error}");
        }
    }
}

//! Checks that embedded resources have `apiVersion` and `kind`.

use serde_json::Value;

use crate::{accessor::text, cause::Cause, keywords::Keywords};

/// Returns an error for each embedded resource without `apiVersion` or `kind`.
pub(super) fn check(keywords: &Keywords, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    check_value(keywords, object, "", &mut causes);
    causes
}

/// Reports embedded objects without `apiVersion` or `kind`, in a value at `path` and below it.
fn check_value(keywords: &Keywords, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    match value {
        Value::Object(map) => {
            if keywords.embedded {
                for name in ["apiVersion", "kind"] {
                    if text(value, name).is_empty() {
                        let field_path = format!("{path}.{name}");
                        causes.push(match map.get(name) {
                            Some(empty) => Cause::invalid(field_path, empty, "must not be empty"),
                            None => Cause::required(field_path, ""),
                        });
                    }
                }
            }
            for (name, value) in map {
                if let Some(schema) = keywords.properties.get(name) {
                    let dot = if path.is_empty() { "" } else { "." };
                    check_value(schema, value, &format!("{path}{dot}{name}"), causes);
                } else if let Some(schema) = &keywords.additional {
                    check_value(schema, value, &format!("{path}[{name}]"), causes);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = &keywords.items {
                for (index, item) in items.iter().enumerate() {
                    check_value(schema, item, &format!("{path}[{index}]"), causes);
                }
            }
        }
        _ => {}
    }
}

//! Defaults: each must be a value that its schema takes.

use serde_json::Value;

use super::super::super::finding::Findings;
use super::super::schema::children;
use super::super::value;

/// Checks the defaults of `schema` and everything below it.
pub(super) fn check(schema: &Value, path: &str, found: &mut Findings) {
    // A default of null is none.
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        for complaint in value::complaints(default, schema) {
            found.error(
                path,
                format!("the default is not valid: {complaint}"),
                "give a default that the field's type takes",
            );
        }
    }
    for (path, child) in children(schema, path) {
        check(child, &path, found);
    }
}

//! Checks that each default is a value that its schema admits.

use serde_json::Value;

use super::super::super::lint::Findings;
use super::super::schema::children;
use super::super::value;

/// Checks the defaults of `schema` and everything below it.
pub(super) fn check(schema: &Value, path: &str, findings: &mut Findings) {
    // A default of null has no effect.
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        for complaint in value::complaints(default, schema) {
            findings.error(
                path,
                format!("the default is not valid: {complaint}"),
                "give a default that the field's type takes",
            );
        }
    }
    for (path, child) in children(schema, path) {
        check(child, &path, findings);
    }
}

//! Reports schema keywords that don't apply to the schema's type, which the API server ignores.

use opgen_schema::{is_known_format, keyword::INT_OR_STRING};
use serde_json::Value;

use super::super::lint::Findings;
use super::schema::{children, flag, text};

/// Reports the keywords of `schema`, and of all schemas below it, that don't apply to the type of their schema. Skips schemas without a
/// type, and the branches of `anyOf`, `oneOf` and `allOf`, since these may apply to values of several types.
///
/// An attribute `#[schemars(...)]` that doesn't fit the Rust type is not reported, because `schemars` leaves it out of the schema.
pub(crate) fn check(schema: &Value, path: &str, findings: &mut Findings) {
    let schema_type = if flag(schema, INT_OR_STRING) { "int-or-string" } else { text(schema, "type") };
    if !schema_type.is_empty() {
        check_keywords(schema, schema_type, path, findings);
    }
    for (path, child) in children(schema, path) {
        check(child, &path, findings);
    }
}

/// Reports the keywords of one schema that don't apply to its type.
fn check_keywords(schema: &Value, schema_type: &str, path: &str, findings: &mut Findings) {
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        let applies_to: &[&str] = match keyword.as_str() {
            "minLength" | "maxLength" | "pattern" => &["string", "int-or-string"],
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                &["integer", "number", "int-or-string"]
            }
            "minItems" | "maxItems" => &["array"],
            "minProperties" | "maxProperties" => &["object"],
            "format" if is_known_format("string", value.as_str().unwrap_or_default()) => &["string", "int-or-string"],
            // The formats of numbers, and formats that the API server doesn't know, which may be meant for strings.
            "format" => &["integer", "number", "string", "int-or-string"],
            _ => continue,
        };
        // `exclusiveMinimum: false` is the default, which has no effect on a number either.
        if !applies_to.contains(&schema_type) && *value != false {
            let (type_name, fix) = (type_name(schema_type, schema), fix(keyword, schema_type, schema));
            findings.error(path, format!("`{keyword}` has no effect on {type_name}"), fix);
        }
    }
}

/// Returns the name of a schema's type in messages, which tells a map from an object with fields.
fn type_name<'a>(schema_type: &'a str, schema: &Value) -> &'a str {
    match schema_type {
        "string" => "a string",
        "integer" | "number" => "a number",
        "boolean" => "a `bool`",
        "array" => "a list",
        "object" if schema["additionalProperties"].is_object() => "a map",
        "object" => "an object",
        other => other,
    }
}

/// Returns the advice for a keyword without effect: the corresponding keyword of the schema's type, the place where the keyword has an
/// effect, or its removal.
fn fix(keyword: &str, schema_type: &str, schema: &Value) -> String {
    let bounds = match schema_type {
        "string" => ["minLength", "maxLength"],
        "integer" | "number" => ["minimum", "maximum"],
        "array" => ["minItems", "maxItems"],
        "object" => ["minProperties", "maxProperties"],
        _ => return "remove it".to_owned(),
    };
    let is_map = schema["additionalProperties"].is_object();
    match keyword {
        _ if keyword.starts_with("min") => format!("write `{}`, or remove it", bounds[0]),
        _ if keyword.starts_with("max") => format!("write `{}`, or remove it", bounds[1]),
        _ if schema_type == "array" => "move it to the items (`inner(...)`), or remove it".to_owned(),
        _ if is_map => "move it to the type of the values, or remove it".to_owned(),
        _ => "remove it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    /// Checks a schema whose only field `.spec.field` has the schema `field`, and returns the messages.
    fn messages_for(field: &Value) -> Vec<String> {
        let mut findings = Findings::of("K v1");
        let root =
            json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"field": field}}}});
        check(&root, "", &mut findings);
        findings.into_vec().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_keyword_of_another_type_is_an_error_that_suggests_the_keyword_of_the_own_type() {
        let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let list = json!({"type": "array", "items": {"type": "integer"}});
        for (schema, keyword, value, type_name, fix) in [
            (&map, "maxLength", json!(3), "a map", "write `maxProperties`, or remove it"),
            (&map, "pattern", json!("a"), "a map", "move it to the type of the values, or remove it"),
            (&list, "minLength", json!(3), "a list", "write `minItems`, or remove it"),
            (&list, "format", json!("email"), "a list", "move it to the items (`inner(...)`), or remove it"),
            (&json!({"type": "string"}), "maximum", json!(3), "a string", "write `maxLength`, or remove it"),
            (&json!({"type": "integer"}), "maxItems", json!(3), "a number", "write `maximum`, or remove it"),
            (&json!({"type": "number"}), "format", json!("ipv4"), "a number", "remove it"),
            (&json!({"type": "boolean"}), "maxLength", json!(3), "a `bool`", "remove it"),
            (&json!({"type": "object"}), "maxItems", json!(3), "an object", "write `maxProperties`, or remove it"),
        ] {
            let mut schema = schema.clone();
            schema[keyword] = value;
            assert_eq!(
                messages_for(&schema),
                [format!("K v1: .spec.field: `{keyword}` has no effect on {type_name}; {fix}")]
            );
        }
        let inner = json!({"type": "array", "items": {"type": "boolean", "minimum": 0}});
        assert!(messages_for(&inner)[0].starts_with("K v1: .spec.field[*]: `minimum` has no effect on a `bool`; "));
    }

    #[test]
    fn keywords_of_the_own_type_and_of_branches_are_left_alone() {
        for schema in [
            json!({"type": "string", "maxLength": 3, "pattern": "a", "format": "email"}),
            json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true, "multipleOf": 2, "format": "int32"}),
            json!({"type": "array", "maxItems": 3, "items": {"type": "string"}}),
            json!({"type": "object", "maxProperties": 3, "additionalProperties": {"type": "string"}}),
            json!({"x-kubernetes-int-or-string": true, "maximum": 3, "maxLength": 3, "pattern": "a"}),
            json!({"x-kubernetes-preserve-unknown-fields": true, "maxLength": 3, "maximum": 3}),
            json!({"type": "string", "anyOf": [{"format": "ipv4"}, {"maximum": 3}]}),
        ] {
            assert_eq!(messages_for(&schema), Vec::<String>::new(), "{schema}");
        }
    }
}

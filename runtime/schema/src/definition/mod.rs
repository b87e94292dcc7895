//! Validates the schemas of a CustomResourceDefinition.

use serde_json::Value;

use super::{defaults, levels, rules, structure};
use crate::failure::Cause;

/// What a schema may say at its root if the status has a path of its own.
const AT_ROOT: [&str; 22] = [
    "description",
    "type",
    "format",
    "title",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "multipleOf",
    "required",
    "items",
    "properties",
    "externalDocs",
    "example",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// What is wrong with the schema of a version.
pub(super) fn check(version: &Value, place: &str) -> Vec<Cause> {
    let schema = &version["schema"]["openAPIV3Schema"];
    let Some(keywords) = schema.as_object() else { return Vec::new() };
    let mut causes = Vec::new();
    if version["subresources"]["status"].is_object() {
        let strange = keywords.iter().any(|(key, value)| !AT_ROOT.contains(&key.as_str()) && !is_nothing(value));
        if schema["type"].is_string() && schema["type"] != "object" {
            let why =
                "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
            causes.push(Cause::invalid(format!("{place}.type"), &schema["type"], why));
        } else if strange {
            let names: Vec<String> = AT_ROOT.iter().map(|key| go_name(key)).collect();
            let why = format!(
                "only [{}] fields are allowed at the root of the schema if the status subresource is enabled",
                names.join(" ")
            );
            causes.push(Cause::invalid(place, schema, &why));
        }
    }
    if schema["nullable"] == true {
        causes.push(Cause::forbidden(format!("{place}.nullable"), "nullable cannot be true at the root"));
    }
    let mut structural = structure::check(schema, place);
    if structural.is_empty() {
        structural = defaults::check(schema, place);
    }
    let sound = structural.is_empty();
    causes.extend(structural);
    let of_levels = levels::check(schema, place);
    let sound = sound && of_levels.is_empty();
    for cause in of_levels {
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    if sound {
        causes.extend(rules::check(schema, place));
    }
    causes
}

fn is_nothing(value: &Value) -> bool {
    value.is_null() || *value == false || value == "" || value.as_array().is_some_and(Vec::is_empty)
}

/// `maxItems` as the field of Go is called.
fn go_name(key: &str) -> String {
    let words = key.strip_prefix("x-kubernetes-").map_or(vec![key], |rest| {
        let mut words = vec!["x"];
        words.extend(rest.split('-'));
        words
    });
    let upper = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
    };
    words.into_iter().map(upper).collect()
}

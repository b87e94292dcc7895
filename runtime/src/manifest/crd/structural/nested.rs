//! Branches may restrict values of fields that are defined outside of them; they define nothing.

use serde_json::Value;

use super::super::super::finding::Findings;
use super::super::schema::{JUNCTORS, branch, entries, field, items, list};
use crate::manifest::crd::keyword::EITHER;

const FORBIDDEN: [&str; 10] = [
    "additionalProperties",
    "default",
    "description",
    "nullable",
    "title",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// Checks the branches of one schema.
pub(super) fn check(schema: &Value, path: &str, found: &mut Findings) {
    branches(schema, schema, path, either_exception(schema), found);
}

fn branches(holder: &Value, schema: &Value, path: &str, exempt: Option<&str>, found: &mut Findings) {
    for junctor in JUNCTORS {
        for (index, value) in list(holder, junctor).iter().enumerate() {
            let at = branch(path, junctor, index);
            match (junctor, exempt, index) {
                ("anyOf", Some("anyOf"), _) => {}
                ("allOf", Some("allOf"), 0) => {}
                _ => one(value, schema, &at, found),
            }
        }
    }
    if holder["not"].is_object() {
        one(&holder["not"], schema, &format!("{path}<not>"), found);
    }
}

/// The one place where branches may say a type: the two of an int-or-string, in `anyOf` or first in `allOf`.
fn either_exception(schema: &Value) -> Option<&'static str> {
    let pair = serde_json::json!([{"type": "integer"}, {"type": "string"}]);
    if schema["anyOf"] == pair {
        Some("anyOf")
    } else if schema["allOf"][0]["anyOf"] == pair {
        Some("allOf")
    } else {
        None
    }
    .filter(|_| super::flag(schema, EITHER) || schema["type"].is_null())
}

fn one(value: &Value, schema: &Value, path: &str, found: &mut Findings) {
    const OUTSIDE: &str = "say it outside of the branches, on the field itself";
    if !value["type"].is_null() {
        let problem = "the variants of this enum are of different types, or their type is said in a branch only";
        found.error(
            path,
            problem,
            "make the variants structs, or one number and one string; a union of other types has no schema here",
        );
    }
    for keyword in FORBIDDEN.into_iter().filter(|keyword| !value[keyword].is_null() && value[keyword] != false) {
        found.error(path, format!("`{keyword}` is not allowed in a branch"), OUTSIDE);
    }
    for keyword in ["x-kubernetes-int-or-string", "x-kubernetes-list-map-keys"] {
        if !value[keyword].is_null() {
            found.error(path, format!("`{keyword}` is not allowed in a branch"), OUTSIDE);
        }
    }
    for (name, inner) in entries(value, "properties") {
        let at = field(path, name);
        if name == "metadata" {
            found.error(&at, "a branch may not speak of `metadata`", "restrict `name` in the schema of `metadata`");
        }
        match schema["properties"].get(name) {
            Some(defined) => one(inner, defined, &at, found),
            None => undefined(&at, found),
        }
    }
    if value["items"].is_object() {
        if schema["items"].is_object() {
            one(&value["items"], &schema["items"], &items(path), found);
        } else {
            undefined(&items(path), found);
        }
    }
    branches(value, schema, path, None, found);
}

/// The API server accepts it, and then drops the value from every object.
fn undefined(path: &str, found: &mut Findings) {
    let problem = "only a branch speaks of this field, so its value is dropped";
    found.warning(path, problem, "define the field outside of the branches");
}

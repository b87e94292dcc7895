//! Checks that branches (`anyOf`, `oneOf`, `allOf`, `not`) only restrict fields, and define none.

use serde_json::Value;

use super::super::super::lint::Findings;
use super::super::schema::{JUNCTORS, branch, entries, field, items, list};
use crate::manifest::crd::keyword::{INT_OR_STRING, PRESERVE_UNKNOWN_FIELDS};

const FORBIDDEN_KEYWORDS: [&str; 10] = [
    "additionalProperties",
    "default",
    "description",
    "nullable",
    "title",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    PRESERVE_UNKNOWN_FIELDS,
    "x-kubernetes-validations",
];

/// Checks the branches of one schema.
pub(super) fn check(schema: &Value, path: &str, findings: &mut Findings) {
    check_branches(schema, schema, path, int_or_string_exemption(schema), findings);
}

/// Checks the branches of `holder`, which is `schema` itself or one of its branches.
fn check_branches(holder: &Value, schema: &Value, path: &str, exemption: Option<&str>, findings: &mut Findings) {
    for junctor in JUNCTORS {
        for (index, value) in list(holder, junctor).iter().enumerate() {
            let branch_path = branch(path, junctor, index);
            match (junctor, exemption, index) {
                ("anyOf", Some("anyOf"), _) => {}
                ("allOf", Some("allOf"), 0) => {}
                _ => check_branch(value, schema, &branch_path, findings),
            }
        }
    }
    if holder["not"].is_object() {
        check_branch(&holder["not"], schema, &format!("{path}<not>"), findings);
    }
}

/// Returns the junctor that is allowed to contain types: the `anyOf` of an int-or-string, or the `allOf` that begins with it.
fn int_or_string_exemption(schema: &Value) -> Option<&'static str> {
    let pair = serde_json::json!([{"type": "integer"}, {"type": "string"}]);
    if schema["anyOf"] == pair {
        Some("anyOf")
    } else if schema["allOf"][0]["anyOf"] == pair {
        Some("allOf")
    } else {
        None
    }
    .filter(|_| super::flag(schema, INT_OR_STRING) || schema["type"].is_null())
}

/// Checks one branch and the fields that it names against the schema that defines them.
fn check_branch(value: &Value, schema: &Value, path: &str, findings: &mut Findings) {
    const FIX: &str = "say it outside of the branches, on the field itself";
    if !value["type"].is_null() {
        let problem = "the variants of this enum are of different types, or their type is said in a branch only";
        findings.error(
            path,
            problem,
            "make the variants structs, or one number and one string; a union of other types has no schema here",
        );
    }
    for keyword in FORBIDDEN_KEYWORDS.into_iter().filter(|keyword| !value[keyword].is_null() && value[keyword] != false)
    {
        findings.error(path, format!("`{keyword}` is not allowed in a branch"), FIX);
    }
    for keyword in [INT_OR_STRING, "x-kubernetes-list-map-keys"] {
        if !value[keyword].is_null() {
            findings.error(path, format!("`{keyword}` is not allowed in a branch"), FIX);
        }
    }
    for (name, inner) in entries(value, "properties") {
        let field_path = field(path, name);
        if name == "metadata" {
            findings.error(
                &field_path,
                "a branch may not speak of `metadata`",
                "restrict `name` in the schema of `metadata`",
            );
        }
        match schema["properties"].get(name) {
            Some(defined) => check_branch(inner, defined, &field_path, findings),
            None => report_undefined(&field_path, findings),
        }
    }
    if value["items"].is_object() {
        if schema["items"].is_object() {
            check_branch(&value["items"], &schema["items"], &items(path), findings);
        } else {
            report_undefined(&items(path), findings);
        }
    }
    check_branches(value, schema, path, None, findings);
}

/// Warns about a field that only a branch names: the API server accepts the schema, and then prunes the value.
fn report_undefined(path: &str, findings: &mut Findings) {
    let problem = "only a branch speaks of this field, so its value is dropped";
    findings.warning(path, problem, "define the field outside of the branches");
}

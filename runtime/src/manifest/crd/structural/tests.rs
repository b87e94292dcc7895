//! Tests the paths and the hints of the linter of structural schemas.

#![allow(clippy::unwrap_used)]

use serde_json::json;

use super::super::super::lint::Finding;
use super::*;

fn findings(schema: &Value) -> Vec<Finding> {
    let mut found = Findings::of("K v1");
    check(&json!({"schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}}), &mut found);
    found.into_vec()
}

fn of_field(schema: Value) -> Vec<String> {
    let root = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"field": schema}}}});
    findings(&root).iter().map(ToString::to_string).collect()
}

#[test]
fn a_finding_names_the_path_and_the_fix() {
    assert_eq!(
        of_field(json!({"type": "array", "items": {"type": "object", "additionalProperties": {"$ref": "#/x/Rec"}}})),
        [
            "K v1: .spec.field[*].*: `$ref`: $ref is not supported; the type `Rec` contains itself: use `serde_json::Value` for the field, or a type without recursion"
        ]
    );
    assert_eq!(
        of_field(json!({"type": "array", "items": [{"type": "string"}, {"type": "integer"}]})),
        [
            "K v1: .spec.field: `items`: items must be a schema object and not an array; a tuple has no schema in Kubernetes: use a struct with named fields"
        ]
    );
    assert_eq!(
        of_field(json!({"enum": [null], "nullable": true})),
        [
            "K v1: .spec.field: `type`: must not be empty for specified object fields; use a type with a schema (`()` has none), `serde_json::Value`, or `#[schemars(schema_with = ...)]`"
        ]
    );
}

#[test]
fn a_default_is_checked_by_pattern_and_before_defaults_below_it_are_set() {
    let hint = "set a default that is valid for the schema of the field";
    assert_eq!(
        of_field(json!({"type": "string", "pattern": "^[a-z]+$", "default": "A"})),
        [format!("K v1: .spec.field: `default`: Invalid value: \"A\":  in body should match '^[a-z]+$'; {hint}")]
    );
    let inner = json!({"type": "string", "default": "x"});
    let outer = json!({"type": "object", "properties": {"a": inner}, "required": ["a"], "default": {}});
    assert_eq!(of_field(outer), [format!("K v1: .spec.field: `default`: Required value; {hint}")]);
}

#[test]
fn a_pattern_that_go_does_not_know_is_an_error() {
    for pattern in ["a(?=b)", r"(a)\1", "(a", "[a"] {
        let found = of_field(json!({"type": "string", "pattern": pattern}));
        let [finding] = found.as_slice() else { panic!("{pattern}: {found:?}") };
        assert!(finding.contains(": `pattern`: must be a valid regular expression, but isn't: "), "{finding}");
    }
}

#[test]
fn a_keyword_that_the_root_must_not_have_is_named() {
    let found = findings(&json!({"type": "object", "maxProperties": 3}));
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert!(finding.to_string().starts_with("K v1: .: `maxProperties`: only [Description Type "), "{finding}");
}

#[test]
fn a_field_that_only_a_branch_knows_is_a_warning() {
    let found = of_field(json!({"type": "object", "oneOf": [{"properties": {"a": {"minLength": 1}}}]}));
    assert_eq!(
        found,
        [
            "K v1: .spec.field<oneOf[0]>.a: the field is only defined in a branch, so the API server drops its value; define the field outside of the branches"
        ]
    );
}

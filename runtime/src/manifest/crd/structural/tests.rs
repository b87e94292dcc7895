//! Tests the linter of structural schemas against verdicts of a real API server.

#![allow(clippy::unwrap_used)]

use serde::Deserialize;
use serde_json::json;

use super::super::super::lint::{Finding, Severity};
use super::*;

/// A schema, and what a kube-apiserver 1.36.3 said to a definition with it.
#[derive(Deserialize)]
struct Case {
    case: String,
    accepted: bool,
    schema: Value,
}

/// What only a matcher of regular expressions could find.
const UNDETECTED: [&str; 1] = ["a default that misses the pattern"];
/// What the API server accepts although no operator could decode it.
const STRICTER: [&str; 1] = ["an int or string default that is a list"];

fn findings(schema: &Value) -> Vec<Finding> {
    let mut found = Findings::of("K v1");
    check(schema, &mut found);
    found.into_vec()
}

fn of_field(schema: Value) -> Vec<String> {
    let root = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"field": schema}}}});
    findings(&root).iter().map(ToString::to_string).collect()
}

#[test]
fn the_verdict_is_the_api_servers() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("verdicts.json")).unwrap();
    assert!(cases.len() >= 150);
    let mut wrong = Vec::new();
    for Case { case, accepted, schema } in cases {
        let found = findings(&schema);
        let passed = found.iter().all(|finding| finding.severity != Severity::Error);
        let excused = if passed { &UNDETECTED } else { &STRICTER };
        if passed != accepted && !excused.contains(&case.as_str()) {
            wrong.push(format!("{case}: the server says {accepted}, the linter {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_finding_names_the_path_and_the_fix() {
    assert_eq!(
        of_field(json!({"type": "array", "items": {"type": "object", "additionalProperties": {"$ref": "#/x/Rec"}}})),
        [
            "K v1: .spec.field[*].*: the type `Rec` contains itself, which a schema here can't say; take `serde_json::Value` for the field, or types that end"
        ]
    );
    assert_eq!(
        of_field(json!({"type": "array", "items": [{"type": "string"}, {"type": "integer"}]})),
        ["K v1: .spec.field: a tuple has no schema in Kubernetes; take a struct with named fields"]
    );
    assert_eq!(
        of_field(json!({"enum": [null], "nullable": true})),
        [
            "K v1: .spec.field: `()` has no schema in Kubernetes: no type is left for it; take the field away, or take a struct"
        ]
    );
}

#[test]
fn a_field_that_only_a_branch_knows_is_a_warning() {
    let found = of_field(json!({"type": "object", "oneOf": [{"properties": {"a": {"minLength": 1}}}]}));
    assert_eq!(
        found,
        [
            "K v1: .spec.field<oneOf[0]>.a: only a branch speaks of this field, so its value is dropped; define the field outside of the branches"
        ]
    );
}

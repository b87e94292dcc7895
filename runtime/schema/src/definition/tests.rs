//! Tests the rules for schemas against verdicts of a real API server.

#![allow(clippy::unwrap_used)]

use serde::Deserialize;
use serde_json::json;

use super::*;

/// A schema, and what a kube-apiserver 1.36.3 said to a definition with it.
#[derive(Deserialize)]
struct Case {
    case: String,
    accepted: bool,
    schema: Value,
}

/// A default that the API server accepts, and that no object may have as a value.
const STRICTER: [&str; 1] = ["an int or string default that is a list"];

/// Reads whether a rule uses `oldSelf`; no verdict is about the content of an expression.
fn read_rule(rule: &Value, _: &Value, _: &str) -> CompiledRule {
    let uses_old_self = rule["rule"].as_str().is_some_and(|rule| rule.contains("oldSelf"));
    CompiledRule { uses_old_self, causes: Vec::new() }
}

fn violations(schema: &Value) -> Vec<Violation> {
    let version = json!({"schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}});
    check(&version, "spec", CheckOptions { metadata: None, compile: read_rule })
}

#[test]
fn the_verdict_is_the_api_servers() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("verdicts.json")).unwrap();
    assert!(cases.len() >= 150);
    let mut wrong = Vec::new();
    for Case { case, accepted, schema } in cases {
        let found = violations(&schema);
        if found.is_empty() != accepted && !STRICTER.contains(&case.as_str()) {
            wrong.push(format!("{case}: the server says {accepted}, the rules {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_violation_names_the_rule_and_the_steps_to_its_keyword() {
    let keyed = json!({"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}},
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]});
    let found = violations(&json!({"type": "object", "properties": {"spec": keyed}}));
    let [violation] = found.as_slice() else { unreachable!("{found:?}") };
    let step = |name: &str| Step::Property(name.to_owned());
    let path = [step("spec"), Step::Items, step("a"), Step::Keyword("default".to_owned())];
    assert_eq!((violation.rule, violation.path.as_slice()), (Rule::MapKeyRequired, path.as_slice()));
    assert_eq!(violation.cause.field, "spec.properties[spec].items.properties[a].default");
    assert_eq!(violation.cause.message, format!("Required value: {}", violation.detail));
}

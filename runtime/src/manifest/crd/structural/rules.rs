//! Checks the form of CEL rules; only the API server can check their expressions.

use serde_json::Value;

use super::super::super::lint::Findings;
use super::super::schema::{list, text};

const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Checks the rules of one schema. `correlated` is false within a list whose items have no keys: the API server can't find the
/// old value of such an item.
pub(super) fn check(schema: &Value, path: &str, correlated: bool, findings: &mut Findings) {
    for rule in list(schema, "x-kubernetes-validations") {
        let expression = text(rule, "rule").trim();
        if expression.is_empty() {
            findings.error(path, "a rule without an expression", "say `rule`, or take it away");
            continue;
        }
        check_texts(rule, expression, path, findings);
        if expression.contains("oldSelf") && !correlated {
            let fix = "make the list one of type map, or move the rule out of it";
            findings.error(
                path,
                format!("the rule `{expression}` asks for the old value of an item that can't be told from others"),
                fix,
            );
        }
        let reason = text(rule, "reason");
        if !reason.is_empty() && !REASONS.contains(&reason) {
            let problem = format!("`{reason}` is no reason a rule may give");
            findings.error(path, problem, format!("take one of {}", REASONS.join(", ")));
        }
        if rule["optionalOldSelf"].is_boolean() && !expression.contains("oldSelf") {
            findings.error(path, "`optionalOldSelf` on a rule without `oldSelf`", "take it away");
        }
        if let Some(field) = text(rule, "fieldPath").strip_prefix('.') {
            let outer = field.split(['.', '[']).next().unwrap_or_default();
            if !schema["properties"].is_null() && schema["properties"].get(outer).is_none() {
                let problem = format!("`fieldPath` of the rule `{expression}` names no field");
                findings.error(path, problem, "name a field of the schema that holds the rule");
            }
        }
    }
}

/// Checks the message, the message expression and the field path of a rule.
fn check_texts(rule: &Value, expression: &str, path: &str, findings: &mut Findings) {
    let message = text(rule, "message").trim();
    if message.contains(['\n', '\r']) {
        findings.error(path, format!("the message of the rule `{expression}` has line breaks"), "write it on one line");
    }
    if expression.contains(['\n', '\r']) && message.is_empty() {
        findings.error(path, "a rule of several lines needs a message", "say `message`");
    }
    for part in ["message", "messageExpression", "fieldPath"] {
        if rule[part].as_str().is_some_and(|value| !value.is_empty() && value.trim().is_empty()) {
            findings.error(path, format!("`{part}` of the rule `{expression}` is blank"), "fill it or leave it out");
        }
    }
}

//! The form of CEL rules; what they mean only the API server can tell.

use serde_json::Value;

use super::super::super::finding::Findings;
use super::super::schema::{list, text};

const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Checks the rules of one schema. `correlated` is whether the old value can be told: not within items of a list that
/// has no keys.
pub(super) fn check(schema: &Value, path: &str, correlated: bool, found: &mut Findings) {
    for rule in list(schema, "x-kubernetes-validations") {
        let expression = text(rule, "rule").trim();
        if expression.is_empty() {
            found.error(path, "a rule without an expression", "say `rule`, or take it away");
            continue;
        }
        texts(rule, expression, path, found);
        if expression.contains("oldSelf") && !correlated {
            let fix = "make the list one of type map, or move the rule out of it";
            found.error(
                path,
                format!("the rule `{expression}` asks for the old value of an item that can't be told from others"),
                fix,
            );
        }
        let reason = text(rule, "reason");
        if !reason.is_empty() && !REASONS.contains(&reason) {
            let problem = format!("`{reason}` is no reason a rule may give");
            found.error(path, problem, format!("take one of {}", REASONS.join(", ")));
        }
        if rule["optionalOldSelf"].is_boolean() && !expression.contains("oldSelf") {
            found.error(path, "`optionalOldSelf` on a rule without `oldSelf`", "take it away");
        }
        if let Some(field) = text(rule, "fieldPath").strip_prefix('.') {
            let outer = field.split(['.', '[']).next().unwrap_or_default();
            if !schema["properties"].is_null() && schema["properties"].get(outer).is_none() {
                let problem = format!("`fieldPath` of the rule `{expression}` names no field");
                found.error(path, problem, "name a field of the schema that holds the rule");
            }
        }
    }
}

fn texts(rule: &Value, expression: &str, path: &str, found: &mut Findings) {
    let message = text(rule, "message").trim();
    if message.contains(['\n', '\r']) {
        found.error(path, format!("the message of the rule `{expression}` has line breaks"), "write it on one line");
    }
    if expression.contains(['\n', '\r']) && message.is_empty() {
        found.error(path, "a rule of several lines needs a message", "say `message`");
    }
    for part in ["message", "messageExpression", "fieldPath"] {
        if rule[part].as_str().is_some_and(|value| !value.is_empty() && value.trim().is_empty()) {
            found.error(path, format!("`{part}` of the rule `{expression}` is blank"), "fill it or leave it out");
        }
    }
}

//! Validates the CEL rules of a schema: they compile and refer to existing fields.

use serde_json::Value;

use super::parts::found;
use crate::{
    failure::Cause,
    object::text,
    schema::rules::{ValidationRule, is_not_string, type_errors, unknown_names},
};

const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// What is wrong with the rules of a schema.
pub(super) fn check(schema: &Value, place: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk(schema, place, None, &mut causes);
    causes
}

/// `lost` is where old and new values can't be matched any more.
fn walk(schema: &Value, place: &str, lost: Option<&str>, causes: &mut Vec<Cause>) {
    if !schema.is_object() {
        return;
    }
    for (index, rule) in schema["x-kubernetes-validations"].as_array().into_iter().flatten().enumerate() {
        let place = format!("{place}.x-kubernetes-validations[{index}]");
        let before = causes.len();
        words(schema, rule, &place, causes);
        if causes.len() == before {
            compiled(schema, rule, &place, lost, causes);
        }
    }
    let below = lost.or((schema["x-kubernetes-map-type"] == "atomic").then_some(place));
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        walk(property, &format!("{place}.properties[{name}]"), below, causes);
    }
    walk(&schema["additionalProperties"], &format!("{place}.additionalProperties"), lost, causes);
    let below = lost.or((schema["x-kubernetes-list-type"] != "map").then_some(place));
    walk(&schema["items"], &format!("{place}.items"), below, causes);
}

fn words(schema: &Value, rule: &Value, place: &str, causes: &mut Vec<Cause>) {
    let at = |key: &str| format!("{place}.{key}");
    let breaks = |text: &str| text.contains(['\n', '\r']);
    let (written, message) = (text(rule, &["rule"]), text(rule, &["message"]));
    if written.trim().is_empty() {
        causes.push(Cause::required(at("rule"), "rule is not specified"));
    } else if !message.is_empty() && message.trim().is_empty() {
        causes.push(Cause::invalid(at("message"), &message.into(), "must be non-empty if specified"));
    } else if breaks(message.trim()) {
        causes.push(Cause::invalid(at("message"), &message.into(), "must not contain line breaks"));
    } else if breaks(written.trim()) && message.trim().is_empty() {
        causes.push(Cause::required(at("message"), "message must be specified if rule contains line breaks"));
    }
    let expression = text(rule, &["messageExpression"]);
    if !expression.is_empty() && expression.trim().is_empty() {
        causes.push(Cause::required(at("messageExpression"), "messageExpression must be non-empty if specified"));
    }
    if let Some(reason) = rule["reason"].as_str().filter(|reason| !REASONS.contains(reason)) {
        causes.push(Cause::unsupported(at("reason"), &reason.into(), &REASONS));
    }
    let path = text(rule, &["fieldPath"]);
    if !path.is_empty() {
        if path.trim().is_empty() {
            causes.push(Cause::invalid(at("fieldPath"), &path.into(), "must be non-empty if specified"));
        }
        if breaks(path) {
            causes.push(Cause::invalid(at("fieldPath"), &path.into(), "must not contain line breaks"));
        }
        if !path.contains('[') && found(schema, path).is_err() {
            causes.push(Cause::invalid(at("fieldPath"), &path.into(), "must be a valid path"));
        }
    }
}

fn compiled(schema: &Value, written: &Value, place: &str, lost: Option<&str>, causes: &mut Vec<Cause>) {
    let rule = ValidationRule::of(written);
    if let Some(why) = type_errors(&rule, schema) {
        causes.push(invalid_rule(format!("{place}.rule"), written, &why));
    }
    if rule.message_program.as_ref().is_some_and(|program| program.as_ref().is_ok_and(is_not_string)) {
        let why = "messageExpression must evaluate to a string";
        causes.push(invalid_rule(format!("{place}.messageExpression"), written, why));
    }
    let unknown = |program| unknown_names(program, text(written, &["messageExpression"]), schema);
    let uncompiled = match &rule.message_program {
        Some(Ok(program)) => unknown(program),
        Some(Err(why)) => Some(why.clone()),
        None => None,
    };
    if let Some(why) = uncompiled {
        let why = format!("messageExpression compilation failed: {why}");
        causes.push(invalid_rule(format!("{place}.messageExpression"), written, &why));
    }
    if rule.is_transition {
        if let Some(lost) = lost {
            let why = format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {lost}");
            causes.push(Cause::invalid(format!("{place}.rule"), &written["rule"], &why));
        }
    } else if let Some(optional) = rule.optional_old {
        let why = "may not be set if oldSelf is not used in rule";
        causes.push(Cause::invalid(format!("{place}.optionalOldSelf"), &optional.into(), why));
    }
}

/// Blames a rule, printed as kube-apiserver prints its own form of it.
fn invalid_rule(place: String, rule: &Value, why: &str) -> Cause {
    // Go's JSON is fit for HTML.
    let escaped = |text: String| text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let word = |key: &str| escaped(Value::from(text(rule, &[key])).to_string());
    let message = format!(
        "Invalid value: {{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{},\"FieldPath\":{},\"OptionalOldSelf\":{}}}: {why}",
        word("rule"),
        word("message"),
        word("messageExpression"),
        rule["reason"],
        word("fieldPath"),
        rule["optionalOldSelf"],
    );
    Cause { reason: "FieldValueInvalid", message, field: place }
}

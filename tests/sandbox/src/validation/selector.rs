//! Validates label selectors.

use serde_json::Value;

use super::{
    at::{At, Causes},
    name::{self, NameRule},
};
use crate::failure::Cause;

/// Whether a selector is well formed.
pub(super) fn selector(selector: &At<'_>, causes: &mut Causes) {
    let labels = selector.child("matchLabels");
    super::metadata::labels(&labels, causes);
    for expression in selector.child("matchExpressions").items() {
        let (operator, values) = (expression.child("operator"), expression.child("values"));
        match operator.text() {
            "In" | "NotIn" if values.is_empty() => {
                values.required(causes, "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                values.forbidden(causes, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => operator.invalid(causes, "not a valid selector operator"),
        }
        let key = expression.child("key");
        if let Some(why) = name::fault(NameRule::Qualified, key.text()) {
            key.invalid(causes, &why);
        }
        for value in values.items() {
            value.if_named(causes, NameRule::LabelValue);
        }
    }
}

/// Whether a selector selects an object with these labels. Nothing is selected by no selector.
pub(super) fn selects(selector: &Value, labels: &Value) -> bool {
    let selector = At::top(selector);
    let label = |key: &str| labels.get(key).and_then(Value::as_str);
    let equal = selector.child("matchLabels").entries().all(|(key, value)| label(key) == value.as_str());
    let expressions = selector.child("matchExpressions");
    let fulfilled = expressions.items().all(|expression| {
        let is = label(expression.child("key").text());
        let listed = |text: &str| expression.child("values").items().any(|value| value.text() == text);
        match expression.child("operator").text() {
            "In" => is.is_some_and(listed),
            "NotIn" => !is.is_some_and(listed),
            "Exists" => is.is_some(),
            "DoesNotExist" => is.is_none(),
            _ => false,
        }
    });
    equal && fulfilled
}

/// Whether a selector says nothing.
pub(super) fn is_empty(selector: &At<'_>) -> bool {
    selector.child("matchLabels").is_empty() && selector.child("matchExpressions").is_empty()
}

/// A selector that is wrong as a whole.
pub(super) fn blamed(selector: &At<'_>, why: &str) -> Cause {
    let message = format!("Invalid value: {}: {why}", go_syntax(selector));
    Cause { reason: "FieldValueInvalid", message, field: selector.path.clone() }
}

/// A selector as Go writes it, its fields in the order of the type.
pub(super) fn go_syntax(selector: &At<'_>) -> String {
    if selector.value.is_null() {
        return "null".to_owned();
    }
    let expressions = selector.child("matchExpressions");
    let listed: Vec<_> = expressions.items().map(|at| fields(&at, &["key", "operator", "values"])).collect();
    let mut parts = Vec::new();
    let labels = selector.child("matchLabels");
    if !labels.is_empty() {
        parts.push(format!("\"matchLabels\":{}", labels.value));
    }
    if !listed.is_empty() {
        parts.push(format!("\"matchExpressions\":[{}]", listed.join(",")));
    }
    format!("{{{}}}", parts.join(","))
}

fn fields(at: &At<'_>, names: &[&str]) -> String {
    let named = names.iter().map(|name| (name, at.child(name)));
    let written: Vec<_> =
        named.filter(|(_, field)| field.is_set()).map(|(name, field)| format!("{name:?}:{}", field.value)).collect();
    format!("{{{}}}", written.join(","))
}

//! Validates and evaluates label selectors.

use serde_json::Value;

use super::{
    field::{Causes, Field},
    name::{self, NameRule},
};
use crate::failure::Cause;

/// Validates the labels and expressions of a label selector (upstream: `ValidateLabelSelector`).
pub(super) fn validate_label_selector(selector: &Field<'_>, causes: &mut Causes) {
    let labels = selector.child("matchLabels");
    super::metadata::validate_labels(&labels, causes);
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
        if let Some(detail) = name::violation(NameRule::Qualified, key.text()) {
            key.invalid(causes, &detail);
        }
        for value in values.items() {
            value.optional_name(causes, NameRule::LabelValue);
        }
    }
}

/// Returns whether a label selector matches `labels`. An absent selector matches nothing; an empty one matches
/// everything.
pub(super) fn matches_labels(selector: &Value, labels: &Value) -> bool {
    if selector.is_null() {
        return false;
    }
    let selector = Field::top(selector);
    let label = |key: &str| labels.get(key).and_then(Value::as_str);
    let has_labels = selector.child("matchLabels").entries().all(|(key, value)| label(key) == value.as_str());
    let expressions = selector.child("matchExpressions");
    let fulfills_expressions = expressions.items().all(|expression| {
        let value = label(expression.child("key").text());
        let is_listed = |text: &str| expression.child("values").items().any(|item| item.text() == text);
        match expression.child("operator").text() {
            "In" => value.is_some_and(is_listed),
            "NotIn" => !value.is_some_and(is_listed),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    });
    has_labels && fulfills_expressions
}

/// Returns whether a selector has neither labels nor expressions.
pub(super) fn is_empty(selector: &Field<'_>) -> bool {
    selector.child("matchLabels").is_empty() && selector.child("matchExpressions").is_empty()
}

/// Returns the error `field.Invalid` with the selector as the value.
pub(super) fn invalid_selector(selector: &Field<'_>, detail: &str) -> Cause {
    let message = format!("Invalid value: {}: {detail}", selector_json(selector));
    Cause { reason: "FieldValueInvalid", message, field: selector.path.clone() }
}

/// Returns the JSON of a selector, with its fields in the order of the Go type.
pub(super) fn selector_json(selector: &Field<'_>) -> String {
    if selector.value.is_null() {
        return "null".to_owned();
    }
    // The fields of a JSON value are in alphabetical order, so the text is built from its parts.
    let expressions = selector.child("matchExpressions");
    let listed: Vec<_> =
        expressions.items().map(|expression| fields_in_order(&expression, &["key", "operator", "values"])).collect();
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

/// Returns the JSON of the named fields that are set, in this order.
fn fields_in_order(object: &Field<'_>, names: &[&str]) -> String {
    let fields = names.iter().map(|name| (name, object.child(name)));
    let members: Vec<_> =
        fields.filter(|(_, field)| field.is_set()).map(|(name, field)| format!("{name:?}:{}", field.value)).collect();
    format!("{{{}}}", members.join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_absent_selector_matches_nothing_and_an_empty_one_everything() {
        let labels = json!({"a": "b"});
        assert!(!matches_labels(&Value::Null, &labels));
        assert!(matches_labels(&json!({}), &labels));
    }
}

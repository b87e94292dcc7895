//! Formats cells: ages, counts, labels, selectors and absent values.

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    discovery::print::duration::since,
    object::{at, name, number, text},
};

/// A function that prints the cells of an object's row.
pub(crate) type Cells = fn(&Value, Timestamp) -> Vec<Value>;

/// The cell of an absent list or name.
pub(super) const NONE: &str = "<none>";

/// The cell of an absent field.
pub(super) const UNSET: &str = "<unset>";

/// The cell of a value that is not known yet.
pub(super) const UNKNOWN: &str = "<unknown>";

/// Returns the cell with the time since the creation of an object.
pub(super) fn age(object: &Value, now: Timestamp) -> Value {
    since(text(object, &["metadata", "creationTimestamp"]), now).into()
}

/// Returns a row of the name, the given cells and the age.
pub(super) fn row_with_age(object: &Value, now: Timestamp, cells: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let mut row = vec![name(object).into()];
    row.extend(cells);
    row.push(age(object, now));
    row
}

/// Returns the row of an object of which the table shows only the name and the age.
pub(super) fn only_age(object: &Value, now: Timestamp) -> Vec<Value> {
    row_with_age(object, now, [])
}

/// Returns the text at a path, or `default` if it is absent or empty.
pub(super) fn text_or(object: &Value, path: &[&str], default: &str) -> Value {
    let value = text(object, path);
    if value.is_empty() { default.into() } else { value.into() }
}

/// Returns the number at a path; 0 if there is none.
pub(super) fn count(object: &Value, path: &[&str]) -> i64 {
    number(object, path).unwrap_or(0)
}

/// Returns the items of the list at a path; none if it is absent.
pub(super) fn items<'a>(object: &'a Value, path: &[&str]) -> &'a [Value] {
    at(object, path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns the number of items of the list, or of fields of the object, at a path; 0 if it is absent.
pub(super) fn length(object: &Value, path: &[&str]) -> usize {
    match at(object, path) {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(map)) => map.len(),
        _ => 0,
    }
}

/// Joins with commas the texts at `item_path` of the list items at `path`.
pub(super) fn join_texts(object: &Value, path: &[&str], item_path: &[&str]) -> String {
    items(object, path).iter().map(|item| text(item, item_path)).collect::<Vec<_>>().join(",")
}

/// Returns a scalar as text, strings without quotes; `default` if it is absent.
pub(super) fn scalar_text(object: &Value, path: &[&str], default: &str) -> String {
    match at(object, path) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => default.to_owned(),
    }
}

/// Joins the first `limit` texts with commas, followed by the number of further texts; returns `default` if there are no texts.
pub(super) fn join_first(mut texts: Vec<String>, limit: usize, default: &str) -> String {
    let remaining = texts.len().saturating_sub(limit);
    texts.truncate(limit);
    match (texts.is_empty(), remaining) {
        (true, _) => default.to_owned(),
        (_, 0) => texts.join(","),
        _ => format!("{} + {remaining} more...", texts.join(",")),
    }
}

/// Formats the labels at a path as `a=b,c=d`; `<none>` if there are none.
pub(super) fn labels(object: &Value, path: &[&str]) -> String {
    let Some(labels) = at(object, path).and_then(Value::as_object).filter(|labels| !labels.is_empty()) else {
        return NONE.to_owned();
    };
    labels
        .iter()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect::<Vec<_>>()
        .join(",")
}

/// Formats a label selector in kubectl's syntax: `a=b,c in (d,e),!f`; `<none>` if it is absent or empty.
pub(super) fn selector(object: &Value, path: &[&str]) -> String {
    let Some(selector) = at(object, path) else { return NONE.to_owned() };
    // The key and the text of each requirement; they are sorted by key.
    let mut parts: Vec<(String, String)> = Vec::new();
    for (key, value) in at(selector, &["matchLabels"]).and_then(Value::as_object).into_iter().flatten() {
        parts.push((key.clone(), format!("{key}={}", value.as_str().unwrap_or_default())));
    }
    for expression in items(selector, &["matchExpressions"]) {
        let key = text(expression, &["key"]);
        let mut values: Vec<&str> = items(expression, &["values"]).iter().filter_map(Value::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        let requirement = match text(expression, &["operator"]) {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        parts.push((key.to_owned(), requirement));
    }
    parts.sort_by(|(key, _), (other_key, _)| key.cmp(other_key));
    if parts.is_empty() {
        NONE.to_owned()
    } else {
        parts.into_iter().map(|(_, part)| part).collect::<Vec<_>>().join(",")
    }
}

/// Returns whether a condition of the status is true.
pub(super) fn is_condition_true(object: &Value, condition: &str) -> bool {
    items(object, &["status", "conditions"])
        .iter()
        .any(|other| text(other, &["type"]) == condition && text(other, &["status"]) == "True")
}

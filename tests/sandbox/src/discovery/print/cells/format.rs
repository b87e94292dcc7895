//! Formats cells: ages, counts, labels, selectors and absent values.

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    discovery::print::duration::since,
    object::{at, name, number, text},
};

/// A function that prints the cells of an object's row.
pub(crate) type Cells = fn(&Value, Timestamp) -> Vec<Value>;

pub(super) const NONE: &str = "<none>";

pub(super) const UNSET: &str = "<unset>";

pub(super) const UNKNOWN: &str = "<unknown>";

pub(super) fn age(object: &Value, now: Timestamp) -> Value {
    since(text(object, &["metadata", "creationTimestamp"]), now).into()
}

/// Returns a row of the name, the given cells and the age.
pub(super) fn aged(object: &Value, now: Timestamp, cells: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let mut row = vec![name(object).into()];
    row.extend(cells);
    row.push(age(object, now));
    row
}

/// Returns the text at a path, or `none` if it is absent or empty.
pub(super) fn or(object: &Value, path: &[&str], none: &str) -> Value {
    let written = text(object, path);
    if written.is_empty() { none.into() } else { written.into() }
}

pub(super) fn count(object: &Value, path: &[&str]) -> i64 {
    number(object, path).unwrap_or(0)
}

pub(super) fn items<'a>(object: &'a Value, path: &[&str]) -> &'a [Value] {
    at(object, path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn length(object: &Value, path: &[&str]) -> usize {
    match at(object, path) {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(map)) => map.len(),
        _ => 0,
    }
}

/// Joins the texts at `of_item` of the list items at `path` with commas.
pub(super) fn joined(object: &Value, path: &[&str], of_item: &[&str]) -> String {
    items(object, path).iter().map(|item| text(item, of_item)).collect::<Vec<_>>().join(",")
}

/// Returns a scalar as text, strings without quotes; `none` if it is absent.
pub(super) fn plain(object: &Value, path: &[&str], none: &str) -> String {
    match at(object, path) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => none.to_owned(),
    }
}

/// Joins at most `most` texts and appends the number of the others.
pub(super) fn some_of(mut all: Vec<String>, most: usize, none: &str) -> String {
    let more = all.len().saturating_sub(most);
    all.truncate(most);
    match (all.is_empty(), more) {
        (true, _) => none.to_owned(),
        (_, 0) => all.join(","),
        _ => format!("{} + {more} more...", all.join(",")),
    }
}

/// Formats labels as `a=b,c=d`.
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

/// Formats a label selector in kubectl's syntax: `a=b,c in (d,e),!f`.
pub(super) fn selector(object: &Value, path: &[&str]) -> String {
    let Some(selector) = at(object, path) else { return NONE.to_owned() };
    let mut parts: Vec<(String, String)> = Vec::new();
    for (key, value) in at(selector, &["matchLabels"]).and_then(Value::as_object).into_iter().flatten() {
        parts.push((key.clone(), format!("{key}={}", value.as_str().unwrap_or_default())));
    }
    for expression in items(selector, &["matchExpressions"]) {
        let key = text(expression, &["key"]);
        let mut values: Vec<&str> = items(expression, &["values"]).iter().filter_map(Value::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        let written = match text(expression, &["operator"]) {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        parts.push((key.to_owned(), written));
    }
    parts.sort_by(|a, b| a.0.cmp(&b.0));
    if parts.is_empty() { NONE.to_owned() } else { parts.into_iter().map(|part| part.1).collect::<Vec<_>>().join(",") }
}

/// Whether a condition of the status is true.
pub(super) fn is_true(object: &Value, condition: &str) -> bool {
    items(object, &["status", "conditions"])
        .iter()
        .any(|own| text(own, &["type"]) == condition && text(own, &["status"]) == "True")
}

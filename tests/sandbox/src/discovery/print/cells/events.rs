//! Prints the table cells of Events of the core group and of `events.k8s.io`.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    super::duration::since,
    format::{count, text_or},
};
use crate::object::{at, name, text};

/// Prints the row of an Event of either group: last seen, type, reason, object, field path, source, message, first
/// seen, count and name.
pub(super) fn event_row(object: &Value, now: Timestamp) -> Vec<Value> {
    // The first text that is not empty: the paths name a field in both groups.
    let first_text = |paths: &[&[&str]]| {
        paths.iter().map(|path| text(object, path)).find(|text| !text.is_empty()).unwrap_or_default()
    };
    let involved_object = |field| first_text(&[&["involvedObject", field], &["regarding", field]]);
    let event_time = first_text(&[&["eventTime"]]);
    let first = first_text(&[&["firstTimestamp"], &["deprecatedFirstTimestamp"]]);
    let first = since(if first.is_empty() { event_time } else { first }, now);
    let last = first_text(&[&["lastTimestamp"], &["deprecatedLastTimestamp"]]);
    let mut last = if last.is_empty() { first.clone() } else { since(last, now) };
    let mut occurrences = count(object, &["count"]).max(count(object, &["deprecatedCount"]));
    if let Some(series) = at(object, &["series"]) {
        last = since(text(series, &["lastObservedTime"]), now);
        occurrences = count(series, &["count"]);
    } else if occurrences == 0 {
        occurrences = 1;
    }
    let object_reference = format!("{}/{}", involved_object("kind").to_lowercase(), involved_object("name"));
    vec![
        last.into(),
        text_or(object, &["type"], ""),
        text_or(object, &["reason"], ""),
        object_reference.into(),
        involved_object("fieldPath").into(),
        source(&first_text).into(),
        first_text(&[&["message"], &["note"]]).trim().into(),
        first.into(),
        occurrences.into(),
        name(object).into(),
    ]
}

/// Returns the component that reports the event, and its host.
fn source<'a>(first_text: &impl Fn(&[&[&str]]) -> &'a str) -> String {
    let component = first_text(&[
        &["source", "component"],
        &["deprecatedSource", "component"],
        &["reportingComponent"],
        &["reportingController"],
    ]);
    let host = first_text(&[&["source", "host"], &["deprecatedSource", "host"], &["reportingInstance"]]);
    if host.is_empty() { component.to_owned() } else { format!("{component}, {host}") }
}

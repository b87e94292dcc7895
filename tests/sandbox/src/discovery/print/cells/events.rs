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
    // Returns the first text that is not empty; `paths` are the names of one field in the two groups.
    let first_text = |paths: &[&[&str]]| {
        paths.iter().map(|path| text(object, path)).find(|text| !text.is_empty()).unwrap_or_default()
    };
    let involved_object = |field| first_text(&[&["involvedObject", field], &["regarding", field]]);
    let event_time = first_text(&[&["eventTime"]]);
    let first_seen = first_text(&[&["firstTimestamp"], &["deprecatedFirstTimestamp"]]);
    let first_seen = since(if first_seen.is_empty() { event_time } else { first_seen }, now);
    let last_seen = first_text(&[&["lastTimestamp"], &["deprecatedLastTimestamp"]]);
    let mut last_seen = if last_seen.is_empty() { first_seen.clone() } else { since(last_seen, now) };
    let mut occurrences = count(object, &["count"]).max(count(object, &["deprecatedCount"]));
    if let Some(series) = at(object, &["series"]) {
        last_seen = since(text(series, &["lastObservedTime"]), now);
        occurrences = count(series, &["count"]);
    } else if occurrences == 0 {
        occurrences = 1;
    }
    let object_reference = format!("{}/{}", involved_object("kind").to_lowercase(), involved_object("name"));
    vec![
        last_seen.into(),
        text_or(object, &["type"], ""),
        text_or(object, &["reason"], ""),
        object_reference.into(),
        involved_object("fieldPath").into(),
        source(&first_text).into(),
        first_text(&[&["message"], &["note"]]).trim().into(),
        first_seen.into(),
        occurrences.into(),
        name(object).into(),
    ]
}

/// Returns the component that reports the event, followed by its host if the event names one.
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

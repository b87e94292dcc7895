//! Prints the table cells of Events of both groups.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    super::duration::since,
    format::{count, or},
};
use crate::object::{at, name, text};

pub(super) fn event(object: &Value, now: Timestamp) -> Vec<Value> {
    let word = |paths: &[&[&str]]| {
        paths.iter().map(|path| text(object, path)).find(|word| !word.is_empty()).unwrap_or_default()
    };
    let about = |field| word(&[&["involvedObject", field], &["regarding", field]]);
    let micro = word(&[&["eventTime"]]);
    let first = word(&[&["firstTimestamp"], &["deprecatedFirstTimestamp"]]);
    let first = since(if first.is_empty() { micro } else { first }, now);
    let last = word(&[&["lastTimestamp"], &["deprecatedLastTimestamp"]]);
    let mut last = if last.is_empty() { first.clone() } else { since(last, now) };
    let mut often = count(object, &["count"]).max(count(object, &["deprecatedCount"]));
    if let Some(series) = at(object, &["series"]) {
        last = since(text(series, &["lastObservedTime"]), now);
        often = count(series, &["count"]);
    } else if often == 0 {
        often = 1;
    }
    let about_what = format!("{}/{}", about("kind").to_lowercase(), about("name"));
    vec![
        last.into(),
        or(object, &["type"], ""),
        or(object, &["reason"], ""),
        about_what.into(),
        about("fieldPath").into(),
        source(&word).into(),
        word(&[&["message"], &["note"]]).trim().into(),
        first.into(),
        often.into(),
        name(object).into(),
    ]
}

/// Returns the component that reports the event, and its host.
fn source<'a>(word: &impl Fn(&[&[&str]]) -> &'a str) -> String {
    let component = word(&[
        &["source", "component"],
        &["deprecatedSource", "component"],
        &["reportingComponent"],
        &["reportingController"],
    ]);
    let host = word(&[&["source", "host"], &["deprecatedSource", "host"], &["reportingInstance"]]);
    if host.is_empty() { component.to_owned() } else { format!("{component}, {host}") }
}

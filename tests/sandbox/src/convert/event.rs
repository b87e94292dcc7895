//! The two forms of an event: `events.k8s.io/v1`, and that of the core group, in which events are kept.

use serde_json::{Map, Value, json};

use crate::kind::Kind;

/// The names of a field in the core form and in the other.
const FIELDS: [(&str, &str); 8] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
    ("reportingInstance", "reportingInstance"),
];

/// What the core form always says.
const ALWAYS: [&str; 2] = ["reportingComponent", "reportingInstance"];

/// Whether the kind is the form in which events are not kept.
pub(crate) fn is_other_form(kind: &Kind) -> bool {
    kind.group == "events.k8s.io" && kind.plural == "events" && kind.custom().is_none()
}

/// From the core form.
pub(super) fn read(event: &mut Value) {
    let Value::Object(fields) = event else { return };
    for name in ALWAYS {
        if fields.get(name).is_some_and(|value| value == "") {
            fields.remove(name);
        }
    }
    rename(fields, FIELDS.iter().copied());
}

/// To the core form.
pub(super) fn keep(event: &mut Value) {
    let Value::Object(fields) = event else { return };
    rename(fields, FIELDS.iter().map(|(core, other)| (*other, *core)));
    for name in ALWAYS {
        fields.entry(name).or_insert_with(|| "".into());
    }
    for (name, nothing) in [("source", json!({})), ("firstTimestamp", Value::Null), ("lastTimestamp", Value::Null)] {
        fields.entry(name).or_insert(nothing);
    }
}

fn rename<'a>(fields: &mut Map<String, Value>, names: impl Iterator<Item = (&'a str, &'a str)>) {
    for (from, to) in names {
        if let Some(value) = fields.remove(from) {
            fields.insert(to.to_owned(), value);
        }
    }
}

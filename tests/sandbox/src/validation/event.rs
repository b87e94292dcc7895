//! Validates Events of both groups, and Leases.

use super::at::{At, Causes};

/// The namespace of what an event is about is its own; what has none belongs to `default`.
pub(super) fn old_form(event: &At<'_>, causes: &mut Causes) {
    let (own, about) = (event.at(&["metadata", "namespace"]), event.at(&["involvedObject", "namespace"]));
    let expected = if about.is_empty() { "default" } else { about.text() };
    if own.text() != expected {
        about.invalid_part(causes, about.text(), "does not match event.namespace");
    }
    if !event.child("eventTime").is_empty() {
        lengths(event, "message", causes);
    }
}

pub(super) fn new_form(event: &At<'_>, causes: &mut Causes) {
    let (own, about) = (event.at(&["metadata", "namespace"]), event.at(&["regarding", "namespace"]));
    let time = event.child("eventTime");
    if time.is_empty() {
        time.required(causes, "");
    }
    let type_ = event.child("type");
    if !matches!(type_.text(), "Normal" | "Warning") {
        type_.invalid_part(causes, type_.text(), "has invalid value");
    }
    if !time.is_empty() {
        controller(event, causes);
        lengths(event, "note", causes);
    }
    if !about.is_empty() && own.text() != about.text() {
        about.invalid(causes, "does not match event.namespace");
    }
}

fn controller(event: &At<'_>, causes: &mut Causes) {
    for part in ["reportingController", "reportingInstance", "action", "reason"] {
        event.child(part).demand(causes, "");
    }
}

/// In bytes, though the server's sentence speaks of characters.
fn lengths(event: &At<'_>, note: &str, causes: &mut Causes) {
    for (part, most) in [("reportingInstance", 128), ("action", 128), ("reason", 128), (note, 1_024)] {
        let text = event.child(part);
        if text.text().len() > most {
            // The server validates the old form, in which the note is called so.
            let text = if part == note { event.child("message") } else { text };
            text.invalid_part(causes, "", &format!("can have at most {most} characters"));
        }
    }
}

pub(super) fn lease(spec: &At<'_>, causes: &mut Causes) {
    let seconds = spec.child("leaseDurationSeconds");
    if seconds.number().is_some_and(|seconds| seconds <= 0) {
        seconds.invalid(causes, "must be greater than 0");
    }
    spec.child("leaseTransitions").natural(causes);
}

//! Events, in both of their forms, and Leases.

use super::at::{At, Causes};

/// The namespace of what an event is about is its own; what has none belongs to `default`.
pub(super) fn old_form(event: &At<'_>, causes: &mut Causes) {
    let (own, about) = (event.at(&["metadata", "namespace"]), event.at(&["involvedObject", "namespace"]));
    let expected = if about.is_empty() { "default" } else { about.text() };
    if own.text() != expected {
        about.invalid_part(causes, about.text(), "does not match event.namespace");
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

pub(super) fn lease(spec: &At<'_>, causes: &mut Causes) {
    let seconds = spec.child("leaseDurationSeconds");
    if seconds.number().is_some_and(|seconds| seconds <= 0) {
        seconds.invalid(causes, "must be greater than 0");
    }
    spec.child("leaseTransitions").natural(causes);
}

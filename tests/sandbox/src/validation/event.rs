//! Validates Events of the core group and of `events.k8s.io`, and Leases.

use super::field::{Causes, Field};

/// Validates a core Event: its namespace is that of the involved object, or `default` for a cluster-scoped object
/// (upstream: `legacyValidateEvent`).
pub(super) fn validate_core_event(event: &Field<'_>, causes: &mut Causes) {
    let (namespace, subject_namespace) =
        (event.nested(&["metadata", "namespace"]), event.nested(&["involvedObject", "namespace"]));
    let expected = if subject_namespace.is_empty() { "default" } else { subject_namespace.text() };
    if namespace.text() != expected {
        subject_namespace.invalid_part(causes, subject_namespace.text(), "does not match event.namespace");
    }
    if !event.child("eventTime").is_empty() {
        validate_lengths(event, "message", causes);
    }
}

/// Validates an Event of `events.k8s.io`, which requires an event time and a reporting controller (upstream:
/// `ValidateEventCreate`).
pub(super) fn validate_event(event: &Field<'_>, causes: &mut Causes) {
    let (namespace, subject_namespace) =
        (event.nested(&["metadata", "namespace"]), event.nested(&["regarding", "namespace"]));
    let time = event.child("eventTime");
    if time.is_empty() {
        time.required(causes, "");
    }
    let type_ = event.child("type");
    if !matches!(type_.text(), "Normal" | "Warning") {
        type_.invalid_part(causes, type_.text(), "has invalid value");
    }
    if !time.is_empty() {
        require_event_fields(event, causes);
        validate_lengths(event, "note", causes);
    }
    if !subject_namespace.is_empty() && namespace.text() != subject_namespace.text() {
        subject_namespace.invalid(causes, "does not match event.namespace");
    }
}

/// Requires the fields that an Event with an event time must have: reporting controller, reporting instance, action and reason.
fn require_event_fields(event: &Field<'_>, causes: &mut Causes) {
    for key in ["reportingController", "reportingInstance", "action", "reason"] {
        event.child(key).require(causes, "");
    }
}

/// Validates the lengths of the texts of an Event, in bytes, although the server's message says characters. `message_key` is the key of the
/// human-readable message: `message` in the core group, `note` in `events.k8s.io`.
fn validate_lengths(event: &Field<'_>, message_key: &str, causes: &mut Causes) {
    for (key, max) in [("reportingInstance", 128), ("action", 128), ("reason", 128), (message_key, 1_024)] {
        let field = event.child(key);
        if field.text().len() > max {
            // The server validates each Event as a core Event, so that errors about `note` refer to `message`.
            let field = if key == message_key { event.child("message") } else { field };
            field.invalid_part(causes, "", &format!("can have at most {max} characters"));
        }
    }
}

/// Validates the spec of a Lease (upstream: `ValidateLeaseSpec`).
pub(super) fn validate_lease(spec: &Field<'_>, causes: &mut Causes) {
    let seconds = spec.child("leaseDurationSeconds");
    if seconds.number().is_some_and(|seconds| seconds <= 0) {
        seconds.invalid(causes, "must be greater than 0");
    }
    spec.child("leaseTransitions").non_negative(causes);
}

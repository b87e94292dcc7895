//! `Marker`: the sign, CSS classes and text that show a timeline entry.

use crate::fault::{ObservedCall, ObservedEvent, ObservedPass, PassPhase};

/// The marker of a timeline entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    /// The column, counted from 0.
    pub(super) column: usize,
    /// One letter or sign.
    pub(super) sign: &'static str,
    /// The CSS class of its type: `read`, `watch`, `write`, `delete`, `event` or `pass`.
    pub(super) class: &'static str,
    /// The CSS class of its outcome: `done`, `absent`, `refused`, `failed` or `lost`.
    pub(super) outcome: &'static str,
    /// Whether a fault hit it.
    pub(super) is_hit: bool,
}

/// The legend: sign, class and meaning.
pub(super) const SIGNS: [(&str, &str, &str); 14] = [
    ("L", "read", "list"),
    ("G", "read", "get"),
    ("W", "watch", "watch begins"),
    ("C", "write", "create"),
    ("P", "write", "patch or apply"),
    ("U", "write", "update"),
    ("D", "delete", "delete"),
    ("+", "event", "event: added"),
    ("~", "event", "event: modified"),
    ("\u{2212}", "event", "event: deleted"),
    ("[", "pass", "a pass begins"),
    ("]", "pass", "it ends"),
    ("=", "pass", "a pass without requests"),
    ("?", "read", "another call"),
];

impl Marker {
    /// Returns the marker of a call. `is_object` is whether its path names a single object. A lowercase method is a call
    /// of a key-value store.
    pub(super) fn of_call(column: usize, call: &ObservedCall, is_object: bool) -> Self {
        let (sign, class) = match call.method.as_str() {
            "GET" | "watch" if call.is_watch() => ("W", "watch"),
            "GET" if is_object => ("G", "read"),
            "get" => ("G", "read"),
            "GET" | "list" => ("L", "read"),
            "POST" => ("C", "write"),
            "PATCH" => ("P", "write"),
            "PUT" | "put" => ("U", "write"),
            "DELETE" | "remove" => ("D", "delete"),
            _ => ("?", "read"),
        };
        let outcome = match call.code {
            Some(..400) => "done",
            // 404 is an expected response to a get or a delete.
            Some(404) if call.method == "GET" || call.method == "DELETE" => "absent",
            Some(400..500) if call.code != Some(429) => "refused",
            Some(_) => "failed",
            None => "lost",
        };
        Self { column, sign, class, outcome, is_hit: call.fault.is_some() }
    }

    /// Returns the marker of a watch event.
    pub(super) fn of_event(column: usize, event: &ObservedEvent) -> Self {
        let sign = match event.type_.as_str() {
            "ADDED" => "+",
            "DELETED" => "\u{2212}",
            _ => "~",
        };
        Self { column, sign, class: "event", outcome: "done", is_hit: event.fault.is_some() }
    }

    /// Returns the marker of an entry for a reconcile pass: for its beginning, its end, or both in one entry.
    pub(super) fn of_pass(column: usize, pass: &ObservedPass) -> Self {
        let sign = match pass.part {
            PassPhase::Beginning => "[",
            PassPhase::End { .. } => "]",
            PassPhase::Whole { .. } => "=",
        };
        Self { column, sign, class: "pass", outcome: "done", is_hit: false }
    }
}

/// Returns one line about a call.
pub(super) fn describe_call(call: &ObservedCall) -> String {
    call.to_string()
}

/// Returns one line about an event, with the state that it reports.
pub(super) fn describe_event(event: &ObservedEvent) -> String {
    let mut text = event.to_string();
    if event.deleting {
        text.push_str(", being deleted");
    }
    for condition in &event.conditions {
        text.push_str(&format!(", {}={}", condition.type_, condition.status));
        if !condition.reason.is_empty() {
            text.push_str(&format!(" ({})", condition.reason));
        }
    }
    text
}

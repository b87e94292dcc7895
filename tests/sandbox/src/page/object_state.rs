//! Computes the state of an object over time, as watch events report it.

use crate::fault::{ObservedCondition, ObservedEvent};

/// The conditions that summarize an object; the first one present counts.
const SUMMARY: [&str; 6] = ["Available", "Ready", "Complete", "Established", "Synced", "Progressing"];

/// A range of columns in which the state of an object is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Phase {
    /// The first column.
    pub(super) from: usize,
    /// The column after the last.
    pub(super) to: usize,
    /// The CSS class of its colour: `good`, `bad`, `unknown`, `deleting` or `gone`.
    pub(super) class: &'static str,
    /// A short label.
    pub(super) label: String,
    /// The full text.
    pub(super) full_text: String,
}

/// A state of an object, as a [`Phase`] shows it.
struct ShownState {
    class: &'static str,
    label: String,
    full_text: String,
}

/// Returns the state that an event reports: deleted, being deleted, or the most important condition. `None` if the object
/// exists and has no conditions.
fn state_of(event: &ObservedEvent) -> Option<ShownState> {
    if event.type_ == "DELETED" {
        return Some(ShownState { class: "gone", label: "gone".to_owned(), full_text: "gone".to_owned() });
    }
    let summary = SUMMARY.iter().find_map(|type_| event.conditions.iter().find(|condition| condition.type_ == *type_));
    let condition = summary.or(event.conditions.first());
    let conditions: Vec<_> = event.conditions.iter().map(format_condition).collect();
    if event.deleting {
        let reason = condition.map(|condition| condition.reason.as_str()).filter(|reason| !reason.is_empty());
        return Some(ShownState {
            class: "deleting",
            label: reason.unwrap_or("deleting").to_owned(),
            full_text: format!("being deleted {}", conditions.join(", ")),
        });
    }
    let condition = condition?;
    let class = match condition.status.as_str() {
        "True" => "good",
        "False" => "bad",
        _ => "unknown",
    };
    let label = match condition.reason.as_str() {
        "" => format!("{}={}", condition.type_, condition.status),
        reason => reason.to_owned(),
    };
    Some(ShownState { class, label, full_text: conditions.join(", ") })
}

/// Formats a condition as `Ready=False (Reason)`.
fn format_condition(condition: &ObservedCondition) -> String {
    let ObservedCondition { type_, status, reason } = condition;
    if reason.is_empty() { format!("{type_}={status}") } else { format!("{type_}={status} ({reason})") }
}

/// Ends the last phase and adds a phase with the state that an event reports, if the state differs from the last one.
pub(super) fn add_event(phases: &mut Vec<Phase>, column: usize, event: &ObservedEvent) {
    let Some(ShownState { class, label, full_text }) = state_of(event) else { return };
    // An object without conditions has no phases.
    if class == "gone" && phases.is_empty() {
        return;
    }
    if let Some(last) = phases.last_mut() {
        if (last.class, &last.full_text) == (class, &full_text) {
            return;
        }
        last.to = column;
    }
    phases.push(Phase { from: column, to: column + 1, class, label, full_text });
}

/// Extends the last phase to the end of the timeline, unless the object is gone.
pub(super) fn extend_last(phases: &mut [Phase], columns: usize) {
    if let Some(last) = phases.last_mut() {
        last.to = if last.class == "gone" { last.from + 1 } else { columns };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_the_summary_condition() {
        let event = |type_: &str, conditions: &[(&str, &str, &str)], deleting| ObservedEvent {
            number: 1,
            watch: 1,
            type_: type_.into(),
            kind: "Shop".into(),
            namespace: String::new(),
            name: "a".into(),
            version: "1".into(),
            deleting,
            conditions: conditions
                .iter()
                .map(|(type_, status, reason)| ObservedCondition {
                    type_: (*type_).into(),
                    status: (*status).into(),
                    reason: (*reason).into(),
                })
                .collect(),
            fault: None,
        };
        let waiting = [("Healthy", "True", ""), ("Available", "False", "Provisioning")];
        let mut phases = Vec::new();
        add_event(&mut phases, 0, &event("DELETED", &[], false));
        add_event(&mut phases, 1, &event("ADDED", &[], false));
        add_event(&mut phases, 2, &event("MODIFIED", &waiting, false));
        add_event(&mut phases, 3, &event("MODIFIED", &waiting, false));
        add_event(&mut phases, 5, &event("MODIFIED", &[("Available", "True", "")], false));
        add_event(&mut phases, 7, &event("MODIFIED", &[], true));
        add_event(&mut phases, 9, &event("DELETED", &[], true));
        extend_last(&mut phases, 12);
        let actual: Vec<_> =
            phases.iter().map(|phase| (phase.from, phase.to, phase.class, phase.label.as_str())).collect();
        assert_eq!(
            actual,
            [
                (2, 5, "bad", "Provisioning"),
                (5, 7, "good", "Available=True"),
                (7, 9, "deleting", "deleting"),
                (9, 10, "gone", "gone")
            ]
        );
    }
}

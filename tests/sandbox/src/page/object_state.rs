//! Computes the state of an object over time, as watch events report it.

use crate::fault::{ObservedCondition, ObservedEvent};

/// Conditions that summarize an object; the first one present counts.
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
    pub(super) text: String,
    /// The full text.
    pub(super) words: String,
}

/// The CSS class, label and text of the state that an event reports.
fn state_of(event: &ObservedEvent) -> Option<(&'static str, String, String)> {
    if event.type_ == "DELETED" {
        return Some(("gone", "gone".to_owned(), "gone".to_owned()));
    }
    let summary = SUMMARY.iter().find_map(|type_| event.conditions.iter().find(|one| one.type_ == *type_));
    let condition = summary.or(event.conditions.first());
    let words: Vec<_> = event.conditions.iter().map(words_of).collect();
    if event.deleting {
        let reason = condition.map(|one| one.reason.as_str()).filter(|reason| !reason.is_empty());
        return Some((
            "deleting",
            reason.unwrap_or("deleting").to_owned(),
            format!("being deleted {}", words.join(", ")),
        ));
    }
    let condition = condition?;
    let class = match condition.status.as_str() {
        "True" => "good",
        "False" => "bad",
        _ => "unknown",
    };
    let text = match condition.reason.as_str() {
        "" => format!("{}={}", condition.type_, condition.status),
        reason => reason.to_owned(),
    };
    Some((class, text, words.join(", ")))
}

fn words_of(condition: &ObservedCondition) -> String {
    let ObservedCondition { type_, status, reason } = condition;
    if reason.is_empty() { format!("{type_}={status}") } else { format!("{type_}={status} ({reason})") }
}

/// Adds the state that an event reports.
pub(super) fn add(phases: &mut Vec<Phase>, column: usize, event: &ObservedEvent) {
    let Some((class, text, words)) = state_of(event) else { return };
    // An object without conditions has no phases.
    if class == "gone" && phases.is_empty() {
        return;
    }
    if let Some(last) = phases.last_mut() {
        if (last.class, &last.words) == (class, &words) {
            return;
        }
        last.to = column;
    }
    phases.push(Phase { from: column, to: column + 1, class, text, words });
}

/// Extends the last phase to the end, unless the object is gone.
pub(super) fn end(phases: &mut [Phase], columns: usize) {
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
        add(&mut phases, 0, &event("DELETED", &[], false));
        add(&mut phases, 1, &event("ADDED", &[], false));
        add(&mut phases, 2, &event("MODIFIED", &waiting, false));
        add(&mut phases, 3, &event("MODIFIED", &waiting, false));
        add(&mut phases, 5, &event("MODIFIED", &[("Available", "True", "")], false));
        add(&mut phases, 7, &event("MODIFIED", &[], true));
        add(&mut phases, 9, &event("DELETED", &[], true));
        end(&mut phases, 12);
        let seen: Vec<_> = phases.iter().map(|one| (one.from, one.to, one.class, one.text.as_str())).collect();
        assert_eq!(
            seen,
            [
                (2, 5, "bad", "Provisioning"),
                (5, 7, "good", "Available=True"),
                (7, 9, "deleting", "deleting"),
                (9, 10, "gone", "gone")
            ]
        );
    }
}

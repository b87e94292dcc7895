//! Reads and writes status conditions.

use serde_json::{Map, Value, json};

/// A condition to write.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) type_: &'static str,
    pub(crate) status: bool,
    pub(crate) reason: String,
    pub(crate) message: String,
}

/// The conventions of a kind for writing its conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// The name of the time field that each write sets; `None` if the kind has none.
    pub(crate) update_field: Option<&'static str>,
    /// Whether a written condition moves to the end of the list; otherwise it keeps its position.
    pub(crate) moves_to_end: bool,
}

impl Style {
    /// The conventions of a Deployment.
    pub(crate) const DEPLOYMENT: Self = Self { update_field: Some("lastUpdateTime"), moves_to_end: true };
    /// The conventions of a ReplicaSet.
    pub(crate) const REPLICA_SET: Self = Self { update_field: None, moves_to_end: true };
    /// The conventions of a Job.
    pub(crate) const JOB: Self = Self { update_field: Some("lastProbeTime"), moves_to_end: false };
    /// The conventions of a CustomResourceDefinition.
    pub(crate) const DEFINITION: Self = Self { update_field: None, moves_to_end: false };
}

impl Condition {
    pub(crate) fn new(type_: &'static str, status: bool, reason: &str, message: impl Into<String>) -> Self {
        Self { type_, status, reason: reason.to_owned(), message: message.into() }
    }

    /// Returns whether an existing condition, as JSON, has this status.
    pub(crate) fn matches_status(&self, existing: &Value) -> bool {
        existing["status"] == status_text(self.status)
    }

    /// Returns whether an existing condition has this status and reason.
    pub(crate) fn matches_reason(&self, existing: &Value) -> bool {
        self.matches_status(existing) && existing["reason"] == self.reason.as_str()
    }

    /// Returns whether an existing condition has this status, reason and message.
    pub(crate) fn matches_message(&self, existing: &Value) -> bool {
        self.matches_reason(existing) && existing["message"] == self.message.as_str()
    }
}

/// Returns the status as the API writes it.
fn status_text(status: bool) -> &'static str {
    if status { "True" } else { "False" }
}

/// Returns the condition of a type; `None` if the status has none.
pub(crate) fn find<'a>(status: &'a Value, type_: &str) -> Option<&'a Value> {
    status["conditions"].as_array()?.iter().find(|condition| condition["type"] == type_)
}

/// Returns whether the status of a condition is `True`.
pub(crate) fn holds(status: &Value, type_: &str) -> bool {
    find(status, type_).is_some_and(|condition| condition["status"] == "True")
}

/// Removes a condition.
pub(crate) fn remove(status: &mut Value, type_: &str) {
    if let Some(conditions) = status["conditions"].as_array_mut() {
        conditions.retain(|condition| condition["type"] != type_);
    }
}

/// Writes a condition into `status.conditions`, also if it did not change. Keeps the `lastTransitionTime` if the status of the condition is
/// the same as before. `style` are the conventions of the kind.
pub(crate) fn set(status: &mut Value, condition: &Condition, now: &str, style: Style) {
    let previous = find(status, condition.type_).filter(|previous| condition.matches_status(previous));
    let transition_time = previous.map_or_else(|| now.into(), |previous| previous["lastTransitionTime"].clone());
    let mut fields = Map::from_iter([
        ("type".to_owned(), Value::from(condition.type_)),
        ("status".to_owned(), status_text(condition.status).into()),
        ("lastTransitionTime".to_owned(), transition_time),
    ]);
    if let Some(update_field) = style.update_field {
        fields.insert(update_field.to_owned(), now.into());
    }
    for (key, text) in [("reason", &condition.reason), ("message", &condition.message)] {
        if !text.is_empty() {
            fields.insert(key.to_owned(), text.as_str().into());
        }
    }
    if style.moves_to_end {
        remove(status, condition.type_);
    }
    let Some(conditions) = status["conditions"].as_array_mut() else {
        status["conditions"] = json!([fields]);
        return;
    };
    match conditions.iter_mut().find(|existing| existing["type"] == condition.type_) {
        Some(existing) => *existing = fields.into(),
        None => conditions.push(fields.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_transition_time_changes_only_with_the_status() {
        let mut status = json!({});
        let set_condition = |status: &mut Value, type_, holds, now| {
            set(status, &Condition::new(type_, holds, "Because", ""), now, Style::DEPLOYMENT);
        };
        set_condition(&mut status, "Available", false, "1");
        set_condition(&mut status, "Progressing", true, "1");
        set_condition(&mut status, "Available", false, "2");
        let times = |status: &Value| {
            let available = &status["conditions"][1];
            (available["type"].clone(), available["lastTransitionTime"].clone(), available["lastUpdateTime"].clone())
        };
        assert_eq!(times(&status), (json!("Available"), json!("1"), json!("2")));
        set_condition(&mut status, "Available", true, "3");
        assert_eq!(times(&status), (json!("Available"), json!("3"), json!("3")));
    }

    #[test]
    fn a_job_updates_its_conditions_in_place() {
        let mut status = json!({"conditions": [{"type": "Suspended", "status": "True"}, {"type": "Complete"}]});
        set(&mut status, &Condition::new("Suspended", false, "JobResumed", "Job resumed"), "1", Style::JOB);
        assert_eq!(
            status["conditions"][0],
            json!({
                "type": "Suspended", "status": "False", "reason": "JobResumed", "message": "Job resumed",
                "lastProbeTime": "1", "lastTransitionTime": "1",
            })
        );
        assert!(!holds(&status, "Suspended"));
    }
}

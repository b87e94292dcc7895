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
    /// The name of the time field that each write sets, if the kind has one.
    pub(crate) update: Option<&'static str>,
    /// Whether a written condition moves to the end of the list or keeps its position.
    pub(crate) to_the_end: bool,
}

impl Style {
    /// The conventions of a Deployment.
    pub(crate) const DEPLOYMENT: Self = Self { update: Some("lastUpdateTime"), to_the_end: true };
    /// The conventions of a ReplicaSet.
    pub(crate) const REPLICA_SET: Self = Self { update: None, to_the_end: true };
    /// The conventions of a Job.
    pub(crate) const JOB: Self = Self { update: Some("lastProbeTime"), to_the_end: false };
    /// The conventions of a CustomResourceDefinition.
    pub(crate) const DEFINITION: Self = Self { update: None, to_the_end: false };
}

impl Condition {
    pub(crate) fn new(type_: &'static str, status: bool, reason: &str, message: impl Into<String>) -> Self {
        Self { type_, status, reason: reason.to_owned(), message: message.into() }
    }

    /// Whether a written condition has this status.
    pub(crate) fn is_as(&self, written: &Value) -> bool {
        written["status"] == word(self.status)
    }

    /// Whether a written condition has this status and reason.
    pub(crate) fn is_for(&self, written: &Value) -> bool {
        self.is_as(written) && written["reason"] == self.reason.as_str()
    }

    /// Whether a written condition has this status, reason and message.
    pub(crate) fn is_said_by(&self, written: &Value) -> bool {
        self.is_for(written) && written["message"] == self.message.as_str()
    }
}

fn word(status: bool) -> &'static str {
    if status { "True" } else { "False" }
}

/// Returns the condition of a type.
pub(crate) fn find<'a>(status: &'a Value, type_: &str) -> Option<&'a Value> {
    status["conditions"].as_array()?.iter().find(|condition| condition["type"] == type_)
}

/// Whether the status of a condition is true.
pub(crate) fn holds(status: &Value, type_: &str) -> bool {
    find(status, type_).is_some_and(|condition| condition["status"] == "True")
}

/// Removes a condition.
pub(crate) fn remove(status: &mut Value, type_: &str) {
    if let Some(conditions) = status["conditions"].as_array_mut() {
        conditions.retain(|condition| condition["type"] != type_);
    }
}

/// Sets a condition, even if it did not change; its transition time changes only with its status.
pub(crate) fn set(status: &mut Value, condition: &Condition, now: &str, style: Style) {
    let before = find(status, condition.type_).filter(|before| condition.is_as(before));
    let since = before.map_or_else(|| now.into(), |before| before["lastTransitionTime"].clone());
    let mut fields = Map::from_iter([
        ("type".to_owned(), Value::from(condition.type_)),
        ("status".to_owned(), word(condition.status).into()),
        ("lastTransitionTime".to_owned(), since),
    ]);
    if let Some(update) = style.update {
        fields.insert(update.to_owned(), now.into());
    }
    for (key, text) in [("reason", &condition.reason), ("message", &condition.message)] {
        if !text.is_empty() {
            fields.insert(key.to_owned(), text.as_str().into());
        }
    }
    if style.to_the_end {
        remove(status, condition.type_);
    }
    let Some(conditions) = status["conditions"].as_array_mut() else {
        status["conditions"] = json!([fields]);
        return;
    };
    match conditions.iter_mut().find(|own| own["type"] == condition.type_) {
        Some(own) => *own = fields.into(),
        None => conditions.push(fields.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transition_is_that_of_the_status() {
        let mut status = json!({});
        let say = |status: &mut Value, type_, holds, now| {
            set(status, &Condition::new(type_, holds, "Because", ""), now, Style::DEPLOYMENT);
        };
        say(&mut status, "Available", false, "1");
        say(&mut status, "Progressing", true, "1");
        say(&mut status, "Available", false, "2");
        let times = |status: &Value| {
            let available = &status["conditions"][1];
            (available["type"].clone(), available["lastTransitionTime"].clone(), available["lastUpdateTime"].clone())
        };
        assert_eq!(times(&status), (json!("Available"), json!("1"), json!("2")));
        say(&mut status, "Available", true, "3");
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

//! Conditions in a status.

use serde_json::{Map, Value, json};

/// What a condition is to say.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub(super) type_: &'static str,
    pub(super) status: bool,
    pub(super) reason: String,
    pub(super) message: String,
}

impl Condition {
    pub(super) fn new(type_: &'static str, status: bool, reason: &str, message: impl Into<String>) -> Self {
        Self { type_, status, reason: reason.to_owned(), message: message.into() }
    }

    pub(super) fn word(&self) -> &'static str {
        if self.status { "True" } else { "False" }
    }
}

/// The condition of a type.
pub(super) fn find<'a>(status: &'a Value, type_: &str) -> Option<&'a Value> {
    status["conditions"].as_array()?.iter().find(|condition| condition["type"] == type_)
}

/// Whether a condition holds.
pub(super) fn holds(status: &Value, type_: &str) -> bool {
    find(status, type_).is_some_and(|condition| condition["status"] == "True")
}

/// Takes a condition away.
pub(super) fn remove(status: &mut Value, type_: &str) {
    if let Some(conditions) = status["conditions"].as_array_mut() {
        conditions.retain(|condition| condition["type"] != type_);
    }
}

/// Says a condition as Deployments and ReplicaSets do: one that says the same stays as it is, and another goes to the end.
/// `update` is the name of a time that each write sets, where the kind has one.
pub(super) fn set(status: &mut Value, condition: &Condition, now: &str, update: Option<&str>) {
    let before = find(status, condition.type_).cloned();
    let same = |before: &Value| before["status"] == condition.word() && before["reason"] == condition.reason.as_str();
    if before.as_ref().is_some_and(same) {
        return;
    }
    replace(status, condition, now, update);
}

/// Says a condition, even if it says the same as before.
pub(super) fn replace(status: &mut Value, condition: &Condition, now: &str, update: Option<&str>) {
    let before = find(status, condition.type_);
    let kept = before.filter(|before| before["status"] == condition.word());
    let since = kept.map_or_else(|| now.into(), |before| before["lastTransitionTime"].clone());
    let mut said = Map::from_iter([
        ("type".to_owned(), Value::from(condition.type_)),
        ("status".to_owned(), condition.word().into()),
        ("lastTransitionTime".to_owned(), since),
    ]);
    if let Some(update) = update {
        said.insert(update.to_owned(), now.into());
    }
    if !condition.reason.is_empty() {
        said.insert("reason".to_owned(), condition.reason.as_str().into());
    }
    if !condition.message.is_empty() {
        said.insert("message".to_owned(), condition.message.as_str().into());
    }
    remove(status, condition.type_);
    match status["conditions"].as_array_mut() {
        Some(conditions) => conditions.push(said.into()),
        None => status["conditions"] = json!([said]),
    }
}

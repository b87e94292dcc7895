//! The status as it is, and as it is to be.

use crate::{
    condition::{Status, Verdict},
    error::Result,
};
use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Condition, jiff::Timestamp};
use serde_json::{Value, json};

/// What has a status.
pub(crate) trait Stored: Send + Sync {
    /// All of it, as it is stored.
    fn status(&self) -> Value;
    /// Its conditions, and the generation they speak of; nothing where they can't be read.
    fn said(&self) -> &Status;
}

/// The status of an object that can't be decoded.
pub(super) struct Unread(pub(super) Value);

impl Stored for Unread {
    fn status(&self) -> Value {
        self.0.clone()
    }

    fn said(&self) -> &Status {
        static NOTHING: Status = Status { conditions: Vec::new(), observed_generation: None };
        &NOTHING
    }
}

/// Whether a status says already what the outcome comes to, so that nothing is to be written if the rest of it stays.
pub(super) fn says_all(said: &Status, verdict: &Verdict, generation: i64, now: Timestamp) -> bool {
    let mut after = said.clone();
    after.say(verdict, generation, now);
    after == *said
}

/// What the provisioners left, with the conditions of the outcome and the generation they speak of.
pub(super) fn with_conditions(status: Value, verdict: &Verdict, generation: i64, now: Timestamp) -> Result<Value> {
    let mut status = if status.is_object() { status } else { json!({}) };
    let mut conditions: Vec<Condition> = match status["conditions"].take() {
        Value::Null => Vec::new(),
        held => serde_json::from_value(held)?,
    };
    verdict.set(&mut conditions, generation, now);
    status["conditions"] = serde_json::to_value(conditions)?;
    status["observedGeneration"] = generation.into();
    Ok(status)
}

/// Whether a person would see a difference: another reason or another truth of `Available`.
pub(super) fn says_something_else(before: &Value, after: &Value) -> bool {
    let said = |status: &Value| {
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        let available = conditions.into_iter().find(|condition| condition["type"] == "Available")?;
        Some((available["status"].clone(), available["reason"].clone()))
    };
    said(before) != said(after)
}

//! The status as it is to be.

use crate::{condition::Verdict, error::Result};
use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Condition, jiff::Timestamp};
use serde_json::{Value, json};

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

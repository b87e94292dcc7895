//! The status as it is, and as it is to be.

use super::Loop;
use crate::{
    cache::{Encoded, Entry, Header},
    condition::{Status, Verdict},
    error::{Error, Result},
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
pub(super) struct Unread(Value);

impl Stored for Unread {
    fn status(&self) -> Value {
        self.0.clone()
    }

    fn said(&self) -> &Status {
        static NOTHING: Status = Status { conditions: Vec::new(), observed_generation: None };
        &NOTHING
    }
}

impl Loop {
    /// Writes the status that an outcome comes to, with what the provisioners `left` of it, unless the object shows just that.
    pub(super) async fn write_status(
        &self,
        header: &Header,
        verdict: &Verdict,
        stored: &dyn Stored,
        left: Option<Value>,
    ) -> Result<()> {
        let now = self.shared.environment.now();
        let is_doubted = self.doubted.lock().contains(&header.key);
        if !is_doubted && left.is_none() && says_all(stored.said(), verdict, header.generation, now) {
            return Ok(());
        }
        let stored = stored.status();
        let left = left.unwrap_or_else(|| stored.clone());
        let status = with_conditions(left, verdict, header.generation, now)?;
        if !is_doubted && status == stored {
            return Ok(());
        }
        let version = self.source.write_status(header, &status).await.inspect_err(|error| {
            // It may be done all the same, and the news of it be late. The status alone is no reason for a pass.
            if !matches!(error, Error::Conflict(_)) {
                self.doubted.lock().insert(header.key.clone());
            }
        })?;
        self.doubted.lock().remove(&header.key);
        self.wrote(header, &version);
        if says_something_else(&stored, &status) {
            self.record(header, verdict);
        }
        Ok(())
    }

    /// The status of an object that can't be decoded as a whole.
    pub(super) fn stored_status(&self, entry: &Entry<Encoded>) -> Unread {
        let json = entry.value.decode(self.source.objects().codec()).unwrap_or_default();
        let mut object: Value = serde_json::from_slice(&json).unwrap_or_default();
        Unread(object["status"].take())
    }
}

/// Whether a status says already what the outcome comes to, so that nothing is to be written if the rest of it stays.
fn says_all(said: &Status, verdict: &Verdict, generation: i64, now: Timestamp) -> bool {
    let mut after = said.clone();
    after.say(verdict, generation, now);
    after == *said
}

/// What the provisioners left, with the conditions of the outcome and the generation they speak of.
fn with_conditions(status: Value, verdict: &Verdict, generation: i64, now: Timestamp) -> Result<Value> {
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
fn says_something_else(before: &Value, after: &Value) -> bool {
    let said = |status: &Value| {
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        let available = conditions.into_iter().find(|condition| condition["type"] == "Available")?;
        Some((available["status"].clone(), available["reason"].clone()))
    };
    said(before) != said(after)
}

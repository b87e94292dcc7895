//! Computes the status of an outcome and writes it if it differs from the stored one.
//!
//! The write replaces the status (PUT) and names the resourceVersion that it is based on, so a status that somebody else
//! changed meanwhile is a conflict. A replacement costs the API server less than a server-side apply.

use crate::{
    bounds,
    cache::{Encoded, Entry, ResourceVersion},
    condition::{Status, Verdict},
    error::{Error, Result},
    informer::source::StatusFields,
    reconcile::stored_status::{Stored, Unread},
};
use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Condition, jiff::Timestamp};
use serde_json::{Value, json};
use {
    super::status_merge::{StatusOwners, carry, has_unknown, remove_given_up},
    crate::reconcile::control_loop::Loop,
};

impl Loop {
    /// Writes the status that an outcome comes to, with the fields that the provisioners `left`, unless it is stored already.
    /// The first write in a process removes the fields that only an earlier release wrote; it is made for them alone, too. Returns
    /// whether it was written.
    ///
    /// `version` is that of the object, which an own write of this pass may have changed since `entry` was read.
    pub(super) async fn write_status(
        &self,
        (entry, version): (&Entry<Encoded>, &ResourceVersion),
        verdict: &Verdict,
        stored: &dyn Stored,
        left: Option<Value>,
    ) -> Result<bool> {
        let header = &entry.header;
        let now = self.shared.environment.now();
        let is_uncertain = self.states.is_status_uncertain(header);
        let is_searched = header.deleting || self.states.is_status_searched(header);
        let says_all = !is_uncertain && left.is_none() && says_all(stored.said(), verdict, header.generation, now);
        if says_all && is_searched {
            return Ok(false);
        }
        let stored = stored.status();
        let status = match left {
            None if says_all => stored.clone(),
            left => with_conditions(left.unwrap_or_else(|| stored.clone()), verdict, header.generation, now)?,
        };
        let is_unchanged = !is_uncertain && status == stored;
        if is_unchanged && is_searched {
            return Ok(false);
        }
        let (object, has_given_up) = self.with_status(entry, &stored, &status).await?;
        if is_unchanged && !has_given_up {
            self.states.set_status_searched(header);
            return Ok(false);
        }
        let version = self.source.write_status(header, version, object).await.inspect_err(|error| {
            // It may be done all the same, and the news of it be late. The status alone is no reason for a pass.
            if !matches!(error, Error::Conflict(_)) {
                self.states.set_status_uncertain(header, true);
            }
        })?;
        self.states.set_status_uncertain(header, false);
        self.states.set_status_searched(header);
        self.wrote(header, &version);
        if says_something_else(&stored, &status, &verdict.type_of("Available")) {
            self.record(header, verdict);
        }
        Ok(true)
    }

    /// The status of an object that can't be decoded as a whole.
    pub(super) fn stored_status(&self, entry: &Entry<Encoded>) -> Unread {
        Unread(self.stored_object(entry).map_or(Value::Null, |mut object| object["status"].take()))
    }

    fn stored_object(&self, entry: &Entry<Encoded>) -> Result<Value> {
        let json = entry.value.decode(self.source.objects().codec()).map_err(Error::unexpected)?;
        Ok(serde_json::from_slice(&json)?)
    }

    /// The object as it is stored, with the status changed from `before` to `after`, and whether fields of an earlier release
    /// were removed from it. Only for fields that the type doesn't know, their owners are read, once for each object.
    async fn with_status(&self, entry: &Entry<Encoded>, before: &Value, after: &Value) -> Result<(Value, bool)> {
        let mut object = self.stored_object(entry)?;
        let mut status = object["status"].take();
        let mut has_given_up = false;
        if has_unknown(&status, before) && !self.states.is_status_searched(&entry.header) {
            let StatusFields { ours, others } = self.source.status_fields(&entry.header).await?;
            has_given_up = remove_given_up(&mut status, before, &StatusOwners::new(&ours, &others));
        }
        object["status"] = carry(status, before, after);
        Ok((object, has_given_up))
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
    // A node may have put conditions there by its own hand.
    for held in &mut conditions {
        held.reason = bounds::condition_reason(&held.reason).into_owned();
        held.message = bounds::condition_message(&held.message).into_owned();
    }
    verdict.set(&mut conditions, generation, now);
    status["conditions"] = serde_json::to_value(conditions)?;
    if verdict.is_of_whole() {
        status["observedGeneration"] = generation.into();
    }
    Ok(status)
}

/// Whether a person would see a difference: another reason or another truth of a condition, the controller's `Available`.
fn says_something_else(before: &Value, after: &Value, type_: &str) -> bool {
    let said = |status: &Value| {
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        let available = conditions.into_iter().find(|condition| condition["type"] == type_)?;
        Some((available["status"].clone(), available["reason"].clone()))
    };
    said(before) != said(after)
}

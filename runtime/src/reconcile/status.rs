//! Computes the status of an object from the outcome of a pass, and writes it if it differs from the stored one.
//!
//! The write replaces the status (PUT) with the resourceVersion that it is based on. If another client has changed the status
//! meanwhile, the write is a conflict. A replacement costs the API server less than a server-side apply.

use crate::{
    bounds,
    cache::{Encoded, Entry},
    condition::Status,
    error::{Error, Result},
    informer::source::StatusFields,
    reconcile::stored_status::{RawStatus, StoredStatus},
};
use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Condition, jiff::Timestamp};
use opgen_api::__private::Verdict;
use serde_json::{Value, json};
use {
    super::status_merge::{StatusOwners, has_unknown_fields, merge_change, remove_obsolete},
    crate::reconcile::{control_loop::Loop, outcome::OutcomeReport},
};

impl Loop {
    /// Writes the status of an outcome, with the fields that the nodes set and the conditions of the verdict, unless it is stored
    /// already. Records an event if the condition `Available` changed. Returns whether the status was written.
    ///
    /// The first write to an object in a process also removes the fields that only an earlier release of the operator wrote; if
    /// there are such fields, the status is written even if nothing else differs.
    pub(super) async fn write_status(&self, report: OutcomeReport<'_>, verdict: &Verdict) -> Result<bool> {
        let OutcomeReport { entry, version, stored, status: node_status, chain, .. } = report;
        let header = &entry.header;
        let now = self.shared.environment.now();
        // A failed status write may have been stored nevertheless: then the cached status is not trusted.
        let is_uncertain = self.states.is_status_uncertain(header);
        let is_searched = header.deleting || self.states.is_status_searched(header);
        let is_up_to_date = !is_uncertain
            && node_status.is_none()
            && has_conditions(stored.conditions(), verdict, header.generation, now);
        // Most passes end here: they compare only the conditions, and don't copy the status.
        if is_up_to_date && is_searched {
            return Ok(false);
        }
        let stored = stored.status();
        let status = match node_status {
            None if is_up_to_date => stored.clone(),
            node_status => {
                let status = node_status.unwrap_or_else(|| stored.clone());
                with_conditions(status, verdict, header.generation, now)?
            }
        };
        let is_unchanged = !is_uncertain && status == stored;
        if is_unchanged && is_searched {
            return Ok(false);
        }
        let (object, has_obsolete_fields) = self.object_with_status(entry, &stored, &status).await?;
        if is_unchanged && !has_obsolete_fields {
            self.states.set_status_searched(header);
            return Ok(false);
        }
        let chained = self.shared.chains.begin_write(self.source.kind(), &header.key, chain);
        let version = self.source.write_status(header, version, object).await.inspect_err(|error| {
            // The server may have stored the status nevertheless. The event of this write alone starts no pass, so the next pass must
            // not trust the cached status.
            if !matches!(error, Error::Conflict(_)) {
                self.states.set_status_uncertain(header, true);
            }
        })?;
        chained.finish(&version);
        self.states.set_status_uncertain(header, false);
        self.states.set_status_searched(header);
        self.note_own_write(header, &version);
        if is_condition_changed(&stored, &status, &verdict.type_of("Available")) {
            self.record_outcome(header, verdict);
        }
        Ok(true)
    }

    /// Returns since when the stored conditions report an object as not available. `None` if it is available, if it has no such
    /// condition, or if the operator doesn't own the status.
    pub(super) fn unavailable_since(&self, stored: &dyn StoredStatus) -> Option<Timestamp> {
        if !self.reconciler.owns_status() {
            return None;
        }
        let is_available = |type_: &str| type_.strip_prefix(&*self.condition_prefix) == Some("Available");
        let available = stored.conditions().conditions.iter().find(|condition| is_available(&condition.type_))?;
        (available.status != "True").then_some(available.last_transition_time.0)
    }

    /// Returns the status of an object that can't be decoded into its Rust type, as JSON from the cache; null if it is no valid JSON.
    pub(super) fn stored_status(&self, entry: &Entry<Encoded>) -> RawStatus {
        RawStatus(self.stored_object(entry).map_or(Value::Null, |mut object| object["status"].take()))
    }

    /// Returns the cached object as JSON.
    pub(super) fn stored_object(&self, entry: &Entry<Encoded>) -> Result<Value> {
        let json = entry.value.decode(self.source.objects().codec()).map_err(Error::unexpected)?;
        Ok(serde_json::from_slice(&json)?)
    }

    /// Returns the stored object with the status changed from `before` to `after`, and whether obsolete fields were removed from the
    /// status: fields that only an earlier release of the operator wrote. Reads the owners of the fields, once per object, if the status
    /// has fields that its type lacks.
    async fn object_with_status(&self, entry: &Entry<Encoded>, before: &Value, after: &Value) -> Result<(Value, bool)> {
        let mut object = self.stored_object(entry)?;
        let mut status = object["status"].take();
        let mut has_obsolete_fields = false;
        if has_unknown_fields(&status, before) && !self.states.is_status_searched(&entry.header) {
            let StatusFields { ours, others } = self.source.status_fields(&entry.header).await?;
            has_obsolete_fields = remove_obsolete(&mut status, before, &StatusOwners::new(&ours, &others));
        }
        object["status"] = merge_change(status, before, after);
        Ok((object, has_obsolete_fields))
    }
}

/// Returns whether the stored conditions already have the verdict, so that the status needs no write for them.
fn has_conditions(stored: &Status, verdict: &Verdict, generation: i64, now: Timestamp) -> bool {
    let mut after = stored.clone();
    after.say(verdict, generation, now);
    after == *stored
}

/// Returns a status with the conditions of the verdict, and with `observedGeneration` if the controller has no prefix for its condition
/// types, so that its conditions describe the whole object.
fn with_conditions(status: Value, verdict: &Verdict, generation: i64, now: Timestamp) -> Result<Value> {
    let mut status = if status.is_object() { status } else { json!({}) };
    let mut conditions: Vec<Condition> = match status["conditions"].take() {
        Value::Null => Vec::new(),
        conditions => serde_json::from_value(conditions)?,
    };
    // Conditions that a node set itself may exceed the bounds of the API.
    for condition in &mut conditions {
        condition.reason = bounds::condition_reason(&condition.reason).into_owned();
        condition.message = bounds::condition_message(&condition.message).into_owned();
    }
    verdict.set(&mut conditions, generation, now);
    status["conditions"] = serde_json::to_value(conditions)?;
    if verdict.is_of_whole() {
        status["observedGeneration"] = generation.into();
    }
    Ok(status)
}

/// Returns whether the status or the reason of the condition of this type changed, so that an event is recorded.
fn is_condition_changed(before: &Value, after: &Value, type_: &str) -> bool {
    let status_and_reason = |status: &Value| {
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        let condition = conditions.into_iter().find(|condition| condition["type"] == type_)?;
        Some((condition["status"].clone(), condition["reason"].clone()))
    };
    status_and_reason(before) != status_and_reason(after)
}

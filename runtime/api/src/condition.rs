//! Defines `Status`, the standard status of the kinds that opgen controllers manage, and converts the outcome of a reconciliation to status
//! conditions.
//!
//! opgen sets conditions of four types. `Available` (the object does its work) and `Ready` (the summary that kstatus reads) are
//! always present. `Reconciling` and `Stalled` follow the convention of kstatus for abnormal conditions: they are present with
//! status `True`, or absent (frameworks K1–K3, K7). So a settled object has two conditions, and their messages are empty.
//!
//! `lastTransitionTime` changes only together with the `status` of a condition, as the Kubernetes API conventions require. So a
//! pass that changes nothing gives the same bytes.

use crate::bounds;
use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The status of every managed kind. Use it directly, or embed it:
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// # use schemars::JsonSchema;
/// #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
/// pub struct WebAppStatus {
///     pub url: Option<String>,
///     #[serde(flatten)]
///     pub standard: opgen::Status,
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The conditions of the object, one entry per type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions_schema")]
    pub conditions: Vec<Condition>,
    /// The generation that the conditions describe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// Returns the schema of `conditions`: a list map by type, with the limits of `Condition` in `k8s.io/apimachinery`.
fn conditions_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "description": "The conditions of the object, one entry per type.",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
            "type": "object",
            "required": ["lastTransitionTime", "message", "reason", "status", "type"],
            "properties": {
                "lastTransitionTime": {"type": "string", "format": "date-time"},
                "message": {"type": "string", "maxLength": 32768},
                "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
                "reason": {
                    "type": "string", "minLength": 1, "maxLength": 1024,
                    "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
                },
                "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
                "type": {
                    "type": "string", "maxLength": 316,
                    "pattern": "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
                }
            }
        }
    })
}

/// The status of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Truth {
    /// The condition holds (`True`).
    True,
    /// The condition doesn't hold (`False`).
    False,
    /// It is not known whether the condition holds (`Unknown`).
    Unknown,
}

impl Truth {
    /// Returns the value of the field `status`.
    const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

/// Sets one condition in a list: adds it if its type is missing, or replaces it. The list remains sorted by type.
///
/// The transition time changes only if the status of the condition changes. The message is trimmed (frameworks K5).
///
/// Texts are limited, since the API server refuses a whole status for one invalid text: a message of more than 32,768 characters
/// is shortened and ends with an ellipsis, and a reason that is not one word of letters, digits, `_`, `,` and `:` is converted to
/// one (`not ready` becomes `NotReady`).
pub fn set(
    conditions: &mut Vec<Condition>,
    type_: &str,
    truth: Truth,
    reason: &str,
    message: &str,
    generation: i64,
    now: Timestamp,
) {
    // A condition with the same status keeps its transition time.
    let unchanged = conditions.iter().find(|old| old.type_ == type_ && old.status == truth.as_str());
    let condition = Condition {
        type_: type_.to_owned(),
        status: truth.as_str().to_owned(),
        reason: bounds::condition_reason(reason).into_owned(),
        message: bounds::condition_message(message).into_owned(),
        observed_generation: Some(generation),
        last_transition_time: unchanged
            .map_or_else(|| Time(whole_seconds(now)), |old| old.last_transition_time.clone()),
    };
    match conditions.iter_mut().find(|old| old.type_ == type_) {
        Some(old) => *old = condition,
        None => conditions.push(condition),
    }
    conditions.sort_by(|a, b| a.type_.cmp(&b.type_));
}

/// Returns whether a text is a valid condition type by the pattern in the schema of [`Status`]: `name`, or `domain/name`, with at most 316
/// characters.
#[doc(hidden)]
pub fn is_type(text: &str) -> bool {
    let (domain, name) = text.split_once('/').map_or((None, text), |(domain, name)| (Some(domain), name));
    let is_label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && label.bytes().all(inner) && !label.starts_with('-') && !label.ends_with('-')
    };
    let is_name = |name: &str| {
        let ends = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
        ends(name.bytes().next())
            && ends(name.bytes().last())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    text.len() <= 316 && domain.is_none_or(|domain| domain.split('.').all(is_label)) && is_name(name)
}

/// Truncates a time to seconds, as the JSON of `metav1.Time` has it.
fn whole_seconds(now: Timestamp) -> Timestamp {
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// The condition types that are present only while they are true. Source: the abnormal-true conditions of kstatus.
const ABNORMAL: [&str; 2] = ["Reconciling", "Stalled"];

/// The content of the conditions for one outcome of a pass.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The prefix of the condition types, which the controller sets.
    pub prefix: String,
    available: Truth,
    state: VerdictState,
    pub reason: String,
    pub message: String,
}

#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictState {
    Ready,
    Reconciling,
    Failing,
    Stalled,
}

impl Verdict {
    /// Returns a verdict, the content of the conditions after one pass (reconcile), without a prefix of the condition types. Limits reason
    /// and message to the lengths and characters that conditions allow.
    pub fn new(available: Truth, state: VerdictState, reason: &str, message: &str) -> Self {
        let (reason, message) = (bounds::condition_reason(reason), bounds::condition_message(message));
        Self { prefix: String::new(), available, state, reason: reason.into_owned(), message: message.into_owned() }
    }

    /// Replaces the reason and the message, which are limited as in [`Verdict::new`].
    pub fn with_reason(self, reason: &str, message: &str) -> Self {
        Self { prefix: self.prefix, ..Self::new(self.available, self.state, reason, message) }
    }

    /// Returns whether the outcome is a failure, and not just unfinished work.
    pub fn is_failure(&self) -> bool {
        matches!(self.state, VerdictState::Failing | VerdictState::Stalled)
    }

    /// Returns whether the object is in its wanted state.
    pub fn is_ready(&self) -> bool {
        self.state == VerdictState::Ready
    }

    /// Returns a condition type with the prefix.
    pub fn type_of(&self, type_: &str) -> String {
        format!("{}{type_}", self.prefix)
    }

    /// Returns whether the conditions describe the whole object: the controller has no prefix for condition types.
    pub fn is_of_whole(&self) -> bool {
        self.prefix.is_empty()
    }

    /// Sets the conditions `Available` and `Ready` in a list and, unless the object is ready, also `Reconciling` or `Stalled`. Removes an
    /// earlier `Reconciling` or `Stalled` that no longer holds. Conditions with another prefix are unchanged.
    pub fn set(&self, conditions: &mut Vec<Condition>, generation: i64, now: Timestamp) {
        let (ready, abnormal) = match self.state {
            VerdictState::Ready => (Truth::True, None),
            VerdictState::Reconciling => (Truth::Unknown, Some("Reconciling")),
            VerdictState::Failing => (Truth::False, Some("Reconciling")),
            VerdictState::Stalled => (Truth::False, Some("Stalled")),
        };
        let is_outdated = |old: &Condition| match old.type_.strip_prefix(&*self.prefix) {
            Some(type_) => ABNORMAL.contains(&type_) && Some(type_) != abnormal,
            None => false,
        };
        conditions.retain(|old| !is_outdated(old));
        let mut set_condition = |type_: &str, truth| {
            let type_ = if self.prefix.is_empty() { Cow::Borrowed(type_) } else { self.type_of(type_).into() };
            set(conditions, &type_, truth, &self.reason, &self.message, generation, now);
        };
        set_condition("Available", self.available);
        set_condition("Ready", ready);
        if let Some(abnormal) = abnormal {
            set_condition(abnormal, Truth::True);
        }
    }
}

impl Status {
    /// Sets the conditions of an object whose reconciliation is in progress (frameworks K1).
    pub fn reconciling(&mut self, message: &str, generation: i64, now: Timestamp) {
        self.say(&Verdict::new(Truth::False, VerdictState::Reconciling, "Reconciling", message), generation, now);
    }

    /// Sets the conditions of an object in its wanted state (frameworks K2).
    pub fn ready(&mut self, reason: &str, message: &str, generation: i64, now: Timestamp) {
        self.say(&Verdict::new(Truth::True, VerdictState::Ready, reason, message), generation, now);
    }

    /// Sets the conditions of an object that makes no progress until a user acts (frameworks K3).
    pub fn stalled(&mut self, reason: &str, message: &str, generation: i64, now: Timestamp) {
        self.say(&Verdict::new(Truth::False, VerdictState::Stalled, reason, message), generation, now);
    }

    /// Sets the conditions of a verdict. Without a prefix, the conditions describe the whole object, and `observedGeneration` is set, too.
    #[doc(hidden)]
    pub fn say(&mut self, verdict: &Verdict, generation: i64, now: Timestamp) {
        verdict.set(&mut self.conditions, generation, now);
        if verdict.is_of_whole() {
            self.observed_generation = Some(generation);
        }
    }
}

#[cfg(test)]
mod tests;

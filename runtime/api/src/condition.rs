//! Conditions of the status, and how an outcome becomes some.
//!
//! Four types are opgen's. `Available` (the object does its work) and `Ready` (the summary that kstatus reads) are always
//! present. `Reconciling` and `Stalled` follow kstatus' convention for abnormal conditions: present with status `True`, else
//! absent (frameworks K1–K3, K7). So a settled object has two conditions, and their messages are empty.
//!
//! A transition time moves only with the `status` of a condition, as the Kubernetes API conventions have it, so a pass that
//! changes nothing gives the same bytes.

use crate::bounds;
use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The status every managed kind has. Use it as it is, or embed it:
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
    /// What is known of the object, one entry a type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions_schema")]
    pub conditions: Vec<Condition>,
    /// The generation that the conditions speak of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

fn conditions_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "description": "What is known of the object, one entry a type.",
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

/// What a condition says: yes, no, or not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Truth {
    /// `True`
    True,
    /// `False`
    False,
    /// `Unknown`
    Unknown,
}

impl Truth {
    const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

/// Sets one condition in a list: appended if its type is missing, else replaced; the list stays sorted by type.
///
/// The transition time is kept unless the condition's status changes. The message is trimmed (frameworks K5).
///
/// Texts are kept within the limits of the API, over which it refuses the whole status: a message ends with an ellipsis after 32,768
/// characters, and a reason that is not one word of letters, digits, `_`, `,` and `:` becomes one (`not ready`: `NotReady`).
pub fn set(
    conditions: &mut Vec<Condition>,
    type_: &str,
    truth: Truth,
    reason: &str,
    message: &str,
    generation: i64,
    now: Timestamp,
) {
    let kept = conditions.iter().find(|held| held.type_ == type_ && held.status == truth.as_str());
    let condition = Condition {
        type_: type_.to_owned(),
        status: truth.as_str().to_owned(),
        reason: bounds::condition_reason(reason).into_owned(),
        message: bounds::condition_message(message).into_owned(),
        observed_generation: Some(generation),
        last_transition_time: kept.map_or_else(|| Time(whole_seconds(now)), |held| held.last_transition_time.clone()),
    };
    match conditions.iter_mut().find(|held| held.type_ == type_) {
        Some(held) => *held = condition,
        None => conditions.push(condition),
    }
    conditions.sort_by(|a, b| a.type_.cmp(&b.type_));
}

/// Whether a text is a condition type by the schema of [`Status`]: a name, or a domain and a name.
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

fn whole_seconds(now: Timestamp) -> Timestamp {
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// The types that are present only while they are true. Source: kstatus' abnormal-true conditions.
const ABNORMAL: [&str; 2] = ["Reconciling", "Stalled"];

/// What the conditions say of one outcome.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What the types of its conditions begin with: those of the controller.
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
    /// A verdict in words that are kept within the limits of conditions.
    pub fn new(available: Truth, state: VerdictState, reason: &str, message: &str) -> Self {
        let (reason, message) = (bounds::condition_reason(reason), bounds::condition_message(message));
        Self { prefix: String::new(), available, state, reason: reason.into_owned(), message: message.into_owned() }
    }

    /// The same outcome in other words.
    pub fn in_words(self, (reason, message): &(String, String)) -> Self {
        Self { prefix: self.prefix, ..Self::new(self.available, self.state, reason, message) }
    }

    /// Whether something is wrong, as opposed to unfinished.
    pub fn is_failure(&self) -> bool {
        matches!(self.state, VerdictState::Failing | VerdictState::Stalled)
    }

    /// Whether all is as wanted.
    pub fn is_ready(&self) -> bool {
        self.state == VerdictState::Ready
    }

    /// The type of one of its conditions.
    pub fn type_of(&self, type_: &str) -> String {
        format!("{}{type_}", self.prefix)
    }

    /// Whether the controller speaks for the whole object, and not for a part of it.
    pub fn is_of_whole(&self) -> bool {
        self.prefix.is_empty()
    }

    /// Writes the verdict into a list of conditions; an abnormal condition that does not hold is removed.
    pub fn set(&self, conditions: &mut Vec<Condition>, generation: i64, now: Timestamp) {
        let (ready, abnormal) = match self.state {
            VerdictState::Ready => (Truth::True, None),
            VerdictState::Reconciling => (Truth::Unknown, Some("Reconciling")),
            VerdictState::Failing => (Truth::False, Some("Reconciling")),
            VerdictState::Stalled => (Truth::False, Some("Stalled")),
        };
        let is_over = |held: &Condition| match held.type_.strip_prefix(&*self.prefix) {
            Some(type_) => ABNORMAL.contains(&type_) && Some(type_) != abnormal,
            None => false,
        };
        conditions.retain(|held| !is_over(held));
        let mut put = |type_: &str, truth| {
            let type_ = if self.prefix.is_empty() { Cow::Borrowed(type_) } else { self.type_of(type_).into() };
            set(conditions, &type_, truth, &self.reason, &self.message, generation, now);
        };
        put("Available", self.available);
        put("Ready", ready);
        if let Some(abnormal) = abnormal {
            put(abnormal, Truth::True);
        }
    }
}

impl Status {
    /// Says that work is going on (frameworks K1).
    pub fn reconciling(&mut self, message: &str, generation: i64, now: Timestamp) {
        self.say(&Verdict::new(Truth::False, VerdictState::Reconciling, "Reconciling", message), generation, now);
    }

    /// Says that all is as wanted (frameworks K2).
    pub fn ready(&mut self, reason: &str, message: &str, generation: i64, now: Timestamp) {
        self.say(&Verdict::new(Truth::True, VerdictState::Ready, reason, message), generation, now);
    }

    /// Says that nothing goes on until somebody acts (frameworks K3).
    pub fn stalled(&mut self, reason: &str, message: &str, generation: i64, now: Timestamp) {
        self.say(&Verdict::new(Truth::False, VerdictState::Stalled, reason, message), generation, now);
    }

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

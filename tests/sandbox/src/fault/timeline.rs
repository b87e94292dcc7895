//! What was asked and told, in order.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{EventFault, Fault};

/// What was asked and told, in order; of bodies it holds names only, so no Secret's content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Timeline {
    /// Oldest first.
    pub moments: Vec<Moment>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// Milliseconds on tokio's clock since the faults were made.
    pub at: u64,
    /// Of which client: 1 is the first, and one more after each stop.
    pub life: u32,
    /// What it was.
    #[serde(flatten)]
    pub what: Happening,
}

/// What may happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "what")]
#[non_exhaustive]
pub enum Happening {
    /// A call of the client.
    Call(CallSeen),
    /// An event of a watch of the client.
    Event(EventSeen),
    /// A pass of the client over an object.
    Pass(PassSeen),
    /// The client's process was stopped by a fault: it crashed.
    Stop,
    /// The client's process was ended by whoever runs this: another takes over, or all is over.
    End,
    /// A word of whoever runs this.
    Note {
        /// The word.
        text: String,
    },
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallSeen {
    /// The first is 1.
    pub number: u64,
    /// Of HTTP.
    pub method: String,
    /// Path and query.
    pub uri: String,
    /// The answer's, as the client got it; none if it got none, or not yet.
    pub code: Option<u16>,
    /// What went wrong.
    pub fault: Option<Fault>,
}

/// An event of a watch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EventSeen {
    /// The first is 1; bookmarks are not counted.
    pub number: u64,
    /// The number of the call that began the watch.
    pub watch: u64,
    /// `ADDED`, `MODIFIED` or `DELETED`.
    #[serde(rename = "type")]
    pub type_: String,
    /// The kind of the object.
    pub kind: String,
    /// Its namespace; empty for what is in none.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its `resourceVersion`.
    pub version: String,
    /// Whether it is being deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleting: bool,
    /// Its conditions, where it has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionSeen>,
    /// What went wrong.
    pub fault: Option<EventFault>,
}

/// A pass over an object, as the client itself has told it: a pass is no call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PassSeen {
    /// The first is 1.
    pub number: u64,
    /// The plural of the object's kind with its group, such as `deployments.apps`.
    pub resource: String,
    /// Its namespace; empty for what is in none.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What of the pass it was.
    #[serde(flatten)]
    pub part: PassPart,
}

/// A part of a pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "part")]
#[non_exhaustive]
pub enum PassPart {
    /// It begins. One that is stopped has no end.
    Beginning,
    /// It ends.
    End {
        /// What it led to.
        outcome: String,
    },
    /// Both, since nothing was asked or told in between.
    Whole {
        /// What it led to.
        outcome: String,
    },
}

/// A condition of an object, without its message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ConditionSeen {
    /// Such as `Ready`.
    #[serde(rename = "type")]
    pub type_: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// A word.
    pub reason: String,
}

impl Timeline {
    /// The calls.
    pub fn calls(&self) -> impl Iterator<Item = &CallSeen> {
        self.moments.iter().filter_map(|moment| match &moment.what {
            Happening::Call(call) => Some(call),
            _ => None,
        })
    }
}

/// Whether a request is a watch.
pub(super) fn is_watch(method: &str, query: &str) -> bool {
    method == "GET" && query.split('&').any(|pair| matches!(pair, "watch=true" | "watch=1"))
}

impl CallSeen {
    /// The path, without the query.
    #[must_use]
    pub fn path(&self) -> &str {
        self.uri.split('?').next().unwrap_or_default()
    }

    /// Whether it is a watch.
    #[must_use]
    pub fn is_watch(&self) -> bool {
        let query = self.uri.split_once('?').map_or("", |(_, query)| query);
        is_watch(&self.method, query)
    }

    /// Whether it is a read that says that any version is good enough.
    #[must_use]
    pub fn takes_older(&self) -> bool {
        let query = self.uri.split_once('?').map_or("", |(_, query)| query);
        !self.is_write() && query.split('&').any(|pair| pair == "resourceVersion=0")
    }

    /// Whether it is to change something.
    #[must_use]
    pub fn is_write(&self) -> bool {
        self.method != "GET" && self.method != "HEAD"
    }
}

impl fmt::Display for CallSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path();
        let watch = if self.is_watch() { " (watch)" } else { "" };
        write!(f, "call {}: {} {path}{watch}", self.number, self.method)?;
        match self.code {
            Some(code) => write!(f, " -> {code}")?,
            None => f.write_str(" -> no answer")?,
        }
        self.fault.map_or(Ok(()), |fault| write!(f, " [{fault}]"))
    }
}

impl fmt::Display for EventSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, type_, kind, namespace, name, version, .. } = self;
        let place = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
        write!(f, "event {number}: {type_} {kind} {place}{name} at {version}")?;
        self.fault.map_or(Ok(()), |fault| write!(f, " [{fault}]"))
    }
}

impl fmt::Display for PassSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, resource, namespace, name, part } = self;
        let place = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
        write!(f, "pass {number} over {resource} {place}{name} ")?;
        match part {
            PassPart::Beginning => f.write_str("begins"),
            PassPart::End { outcome } => write!(f, "ends: {outcome}"),
            PassPart::Whole { outcome } => write!(f, "asks for nothing: {outcome}"),
        }
    }
}

/// A line a moment.
impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Moment { at, life, what } in &self.moments {
            write!(f, "{:>9.3} s  life {life}  ", *at as f64 / 1e3)?;
            match what {
                Happening::Call(call) => writeln!(f, "{call}")?,
                Happening::Event(event) => writeln!(f, "  {event}")?,
                Happening::Pass(pass) => writeln!(f, "  {pass}")?,
                Happening::Stop => f.write_str("the process was stopped\n")?,
                Happening::End => f.write_str("the process was ended\n")?,
                Happening::Note { text } => writeln!(f, "{text}")?,
            }
        }
        Ok(())
    }
}

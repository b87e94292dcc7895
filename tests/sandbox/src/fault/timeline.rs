//! Defines `Timeline`: the calls of a client, the watch events, the reconcile passes and the injected faults, in order.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{EventFault, Fault, WebhookFault};

/// All calls, events, passes and faults in order. Of bodies it records only names and conditions, never the contents of
/// a Secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Timeline {
    /// The entries, oldest first.
    #[serde(rename = "moments")]
    pub entries: Vec<TimelineEntry>,
}

/// One entry of a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TimelineEntry {
    /// Milliseconds on tokio's clock since the `Faults` were created.
    pub at: u64,
    /// The number of the client's life: the first is 1, and each restart adds one.
    pub life: u32,
    /// The recorded event.
    #[serde(flatten)]
    pub event: TimelineEvent,
}

/// The content of an entry. The tag is not `type`, because [`ObservedEvent`] has a field of that name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "what")]
#[non_exhaustive]
pub enum TimelineEvent {
    /// A call of the client.
    Call(ObservedCall),
    /// An event of a watch.
    Event(ObservedEvent),
    /// A reconcile pass of the client.
    Pass(ObservedPass),
    /// A call of the server to a webhook.
    Webhook(ObservedWebhookCall),
    /// A fault stopped the client's process.
    Stop,
    /// The test ended the client's process.
    End,
    /// A note of the test.
    Note {
        /// The text of the note.
        text: String,
    },
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservedCall {
    /// The number of the call; the first is 1.
    pub number: u64,
    /// The HTTP method; for a call of a [store](super::StoreCalls) `get`, `list`, `put`, `remove` or `watch`.
    pub method: String,
    /// Path and query; for a call of a store the name of the store and the key, such as `units/shop.web`.
    pub uri: String,
    /// The HTTP status code that the client received; `None` if it received none so far. A call of a store has the code for its outcome.
    pub code: Option<u16>,
    /// The injected fault.
    pub fault: Option<Fault>,
}

/// An event of a watch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservedEvent {
    /// The number of the event; the first is 1, and bookmarks are not counted.
    pub number: u64,
    /// The number of the call that began the watch.
    pub watch: u64,
    /// The type: `ADDED`, `MODIFIED` or `DELETED`.
    #[serde(rename = "type")]
    pub type_: String,
    /// The kind of the object.
    pub kind: String,
    /// Its namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its `resourceVersion`.
    pub version: String,
    /// Whether it is being deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleting: bool,
    /// Its conditions, if it has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ObservedCondition>,
    /// The injected fault.
    pub fault: Option<EventFault>,
}

/// A call of the server to a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ObservedWebhookCall {
    /// The number of the call; the first is 1.
    pub number: u64,
    /// The URL with the query.
    pub url: String,
    /// Whether it converts objects, and admits no write.
    pub is_conversion: bool,
    /// The injected fault.
    pub fault: Option<WebhookFault>,
}

/// A reconcile pass over an object, as the client reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservedPass {
    /// The number of the pass; the first is 1.
    pub number: u64,
    /// The plural of the object's kind with its group, such as `deployments.apps`.
    pub resource: String,
    /// Its namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The part of the pass that this entry records.
    #[serde(flatten)]
    pub part: PassPhase,
}

/// The part of a pass that an entry records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "part")]
#[non_exhaustive]
pub enum PassPhase {
    /// The beginning. A stopped pass has no end.
    Beginning,
    /// The end.
    End {
        /// The outcome of the pass.
        outcome: String,
    },
    /// A whole pass without any entry in between.
    Whole {
        /// The outcome of the pass.
        outcome: String,
    },
}

/// A condition of an object, without its message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ObservedCondition {
    /// The type, such as `Ready`.
    #[serde(rename = "type")]
    pub type_: String,
    /// The status: `True`, `False` or `Unknown`.
    pub status: String,
    /// The reason.
    pub reason: String,
}

impl Timeline {
    /// Returns the calls of the client, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ObservedCall> {
        self.entries.iter().filter_map(|entry| match &entry.event {
            TimelineEvent::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Returns the calls of the server to webhooks, in order.
    pub fn webhook_calls(&self) -> impl Iterator<Item = &ObservedWebhookCall> {
        self.entries.iter().filter_map(|entry| match &entry.event {
            TimelineEvent::Webhook(call) => Some(call),
            _ => None,
        })
    }
}

impl ObservedWebhookCall {
    /// Returns a call without a number and a fault.
    pub(crate) fn new(url: &str, is_conversion: bool) -> Self {
        Self { number: 0, url: url.to_owned(), is_conversion, fault: None }
    }
}

/// Returns whether a request is a watch.
pub(super) fn is_watch(method: &str, query: &str) -> bool {
    method == "watch" || method == "GET" && query.split('&').any(|pair| matches!(pair, "watch=true" | "watch=1"))
}

impl ObservedCall {
    /// Returns the path, without the query.
    #[must_use]
    pub fn path(&self) -> &str {
        self.uri.split('?').next().unwrap_or_default()
    }

    /// Returns whether the call is a watch.
    #[must_use]
    pub fn is_watch(&self) -> bool {
        let query = self.uri.split_once('?').map_or("", |(_, query)| query);
        is_watch(&self.method, query)
    }

    /// Returns whether the call is a read that accepts any version (`resourceVersion=0`).
    #[must_use]
    pub fn takes_older(&self) -> bool {
        let query = self.uri.split_once('?').map_or("", |(_, query)| query);
        !self.is_write() && query.split('&').any(|pair| pair == "resourceVersion=0")
    }

    /// Returns whether the call is a write.
    #[must_use]
    pub fn is_write(&self) -> bool {
        !matches!(self.method.as_str(), "GET" | "HEAD" | "get" | "list" | "watch")
    }

    /// Returns whether this is a call of a [store](super::StoreCalls), whose methods are in lower case, and no request to the API server.
    #[must_use]
    pub fn is_of_store(&self) -> bool {
        self.method.starts_with(|first: char| first.is_ascii_lowercase())
    }
}

impl fmt::Display for ObservedCall {
    /// Formats the call as `call 3: GET /api/v1/pods -> 200 [answered after 5 s]`: number, method, path, status code and fault.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path();
        let watch = if self.is_watch() && !self.is_of_store() { " (watch)" } else { "" };
        write!(f, "call {}: {} {path}{watch}", self.number, self.method)?;
        match self.code {
            Some(code) => write!(f, " -> {code}")?,
            None => f.write_str(" -> no answer")?,
        }
        self.fault.map_or(Ok(()), |fault| write!(f, " [{fault}]"))
    }
}

impl fmt::Display for ObservedEvent {
    /// Formats the event as `event 2: ADDED Pod default/web at 17 [lost]`: number, type, object, `resourceVersion` and fault.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, type_, kind, namespace, name, version, .. } = self;
        let prefix = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
        write!(f, "event {number}: {type_} {kind} {prefix}{name} at {version}")?;
        self.fault.map_or(Ok(()), |fault| write!(f, " [{fault}]"))
    }
}

impl fmt::Display for ObservedWebhookCall {
    /// Formats the call as `webhook call 2: /validate [HTTP 500]`: number, path of the URL and fault.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.url.split('?').next().unwrap_or_default();
        // The path follows the third slash: `https://HOST/PATH`.
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        write!(f, "webhook call {}: /{path}", self.number)?;
        self.fault.map_or(Ok(()), |fault| write!(f, " [{fault}]"))
    }
}

impl fmt::Display for ObservedPass {
    /// Formats a part of a reconcile pass as `pass 4 over deployments.apps default/web ends: OUTCOME`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, resource, namespace, name, part } = self;
        let prefix = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
        write!(f, "pass {number} over {resource} {prefix}{name} ")?;
        match part {
            PassPhase::Beginning => f.write_str("begins"),
            PassPhase::End { outcome } => write!(f, "ends: {outcome}"),
            PassPhase::Whole { outcome } => write!(f, "makes no request: {outcome}"),
        }
    }
}

impl fmt::Display for Timeline {
    /// Formats the timeline with one line for each entry: seconds since the start, life of the client, and event.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for TimelineEntry { at, life, event } in &self.entries {
            write!(f, "{:>9.3} s  life {life}  ", *at as f64 / 1e3)?;
            match event {
                TimelineEvent::Call(call) => writeln!(f, "{call}")?,
                TimelineEvent::Event(event) => writeln!(f, "  {event}")?,
                TimelineEvent::Pass(pass) => writeln!(f, "  {pass}")?,
                TimelineEvent::Webhook(call) => writeln!(f, "  {call}")?,
                TimelineEvent::Stop => f.write_str("the process was stopped\n")?,
                TimelineEvent::End => f.write_str("the process was ended\n")?,
                TimelineEvent::Note { text } => writeln!(f, "{text}")?,
            }
        }
        Ok(())
    }
}

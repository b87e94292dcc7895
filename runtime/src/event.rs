//! Records Kubernetes events (`events.k8s.io/v1`) about objects, and combines repeats into a series.
//!
//! A recorder never blocks a pass: it sends the event to one task, which writes it. A repeat within six minutes increments the
//! count of the first event (`series` in the API) instead of creating another object. An event that can't be written is lost and
//! logged, since events are hints and not state. Events that are lost in an outage of the API server are counted, and logged in
//! one line after it.
//!
//! An event about an object in a bucket regards a child of the object in Kubernetes, or the operator's Pod if there is none, and the
//! object is `related`. Without Kubernetes, the events are in a bucket, and regard their objects.

use crate::{
    bounds,
    cache::{ObjectKey, Uid},
    client::{Client, Target},
    environment::Environment,
    error::Error,
    kind::Kind,
    panic::{Closure, Panicked},
};
use futures::FutureExt;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::api::Patch;
use serde_json::{Value, json};
use std::{collections::HashMap, panic::AssertUnwindSafe};
use tokio::sync::{mpsc, oneshot};

/// The type of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventType {
    /// The event reports normal operation.
    Normal,
    /// The event reports a problem that somebody should look at.
    Warning,
}

impl EventType {
    /// Returns the type as the field `type` of an Event has it.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

/// An object that an event names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EventObject {
    pub(crate) kind: Kind,
    pub(crate) key: ObjectKey,
    pub(crate) uid: Uid,
}

impl EventObject {
    /// Returns the JSON of the `ObjectReference` by which an Event names the object.
    fn reference(&self) -> Value {
        json!({
            "apiVersion": self.kind.api_version(), "kind": self.kind.kind, "name": self.key.name(),
            "namespace": self.key.namespace(), "uid": self.uid.to_string(),
        })
    }

    /// Returns the namespace of the events that regard the object: `default` for a cluster-scoped one, as in client-go.
    fn event_namespace(&self) -> &str {
        self.key.namespace().unwrap_or("default")
    }
}

/// The object that an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Regarding {
    pub(crate) object: EventObject,
    /// A child of the object in Kubernetes, which the event regards if the object is in a bucket. Only such an object has one.
    pub(crate) child: Option<EventObject>,
}

/// An event without its time; equal events form a series.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Event {
    object: EventObject,
    type_: EventType,
    reason: String,
    action: &'static str,
    note: String,
}

/// A message from a recorder to the task that writes events.
#[derive(Debug)]
enum RecorderMessage {
    /// An event, and the child that it regards if the object is in a bucket.
    Event(Box<(Event, Option<EventObject>)>),
    /// Requests a reply after all earlier events are written or lost.
    Flush(oneshot::Sender<()>),
}

/// Records events. Every controller with events has a clone.
#[derive(Clone, Debug)]
pub(crate) struct EventRecorder(Option<mpsc::Sender<RecorderMessage>>);

/// The maximum number of queued events. Further events are dropped: an operator that fails everywhere at once also has a log.
const MAX_QUEUED_EVENTS: usize = 1_000;
/// The time after the last repeat at which a series ends; client-go uses the same value.
const SERIES_TIMEOUT: SignedDuration = SignedDuration::from_mins(6);

impl EventRecorder {
    /// Returns a recorder that records nothing.
    pub(crate) fn disabled() -> Self {
        Self(None)
    }

    /// Returns a recorder, and the future that writes its events until the recorder and all its clones are dropped. `operator` is the
    /// reporting controller, and `namespace` the namespace of the operator.
    pub(crate) fn new(
        client: Client,
        environment: Environment,
        (operator, namespace): (&str, &str),
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (sender, receiver) = mpsc::channel(MAX_QUEUED_EVENTS);
        let instance = std::env::var("POD_NAME").unwrap_or_else(|_| operator.to_owned());
        let instance = bounds::event_word(&instance).into_owned();
        let writer = EventWriter {
            client,
            environment,
            operator: operator.to_owned(),
            namespace: namespace.to_owned(),
            instance,
            series: HashMap::new(),
            lost_events: 0,
        };
        (Self(Some(sender)), writer.write_all(receiver))
    }

    /// Records an event of the type `Normal`.
    pub(crate) fn normal(&self, regarding: &Regarding, reason: &str, action: &'static str, note: &str) {
        self.record(regarding, EventType::Normal, reason, action, note);
    }

    /// Queues an event about an object for the task that writes events. Never waits: drops the event if the queue is full.
    pub(crate) fn record(
        &self,
        regarding: &Regarding,
        type_: EventType,
        reason: &str,
        action: &'static str,
        note: &str,
    ) {
        let Some(sender) = &self.0 else { return };
        let (word, note) = (bounds::event_word(reason).into_owned(), bounds::event_note(note).into_owned());
        let Regarding { object, child } = regarding.clone();
        let event = Event { object, type_, reason: word, action, note };
        if sender.try_send(RecorderMessage::Event(Box::new((event, child)))).is_err() {
            let EventObject { kind, key, .. } = &regarding.object;
            tracing::warn!(%kind, object = %key, reason, "event dropped: the queue is full");
        }
    }

    /// Waits until all events that were recorded before are written, or lost.
    pub(crate) async fn flush(&self) {
        let Some(sender) = &self.0 else { return };
        let (done, flushed) = oneshot::channel();
        if sender.send(RecorderMessage::Flush(done)).await.is_ok() {
            // If the writer task has ended, there is nothing to wait for.
            let _ = flushed.await;
        }
    }
}

/// Writes the events of all recorders.
struct EventWriter {
    client: Client,
    environment: Environment,
    operator: String,
    /// The namespace of the operator.
    namespace: String,
    /// The name of the operator's Pod.
    instance: String,
    series: HashMap<Event, Series>,
    /// The number of events lost in the current outage of the API server.
    lost_events: u64,
}

/// A written event and the number of its repeats.
struct Series {
    namespace: String,
    name: String,
    count: i32,
    last: Timestamp,
}

/// Returns the kind of events.
pub(crate) fn kind() -> Kind {
    Kind {
        group: "events.k8s.io".into(),
        version: "v1".into(),
        kind: "Event".into(),
        plural: "events".into(),
        namespaced: true,
    }
}

impl EventWriter {
    /// Writes the queued events until all recorders are dropped, and replies to requests to flush. Logs failures and panics. Never retries:
    /// an event that can't be written is lost.
    async fn write_all(mut self, mut messages: mpsc::Receiver<RecorderMessage>) {
        while let Some(message) = messages.recv().await {
            let (event, child) = match message {
                RecorderMessage::Event(event) => *event,
                RecorderMessage::Flush(done) => {
                    // The caller may no longer wait.
                    let _ = done.send(());
                    continue;
                }
            };
            let EventObject { kind, key: object, .. } = event.object.clone();
            let result = AssertUnwindSafe(self.write(event, child)).catch_unwind().await;
            let result = result.map_err(|payload| Error::unexpected(Panicked::new(Closure::Runtime, &*payload)));
            match result {
                Ok(Ok(())) => self.log_lost_events(),
                Ok(Err(error)) if error.is_in_ending_namespace() => {
                    tracing::debug!(kind = %kind, %object, "event not recorded: its namespace is being deleted");
                }
                // The watches log an outage of the API server, so that each lost event is only counted.
                Ok(Err(error)) if error.is_outage() => {
                    self.lost_events += 1;
                    let error = Error::from(error);
                    tracing::debug!(kind = %kind, %object, %error, "event not recorded");
                }
                Ok(Err(error)) => {
                    let error = Error::from(error);
                    tracing::warn!(kind = %kind, %object, %error, "event not recorded");
                }
                Err(error) => tracing::warn!(kind = %kind, %object, %error, "event not recorded"),
            }
        }
    }

    /// Logs the number of events that were lost in an outage, after its end.
    fn log_lost_events(&mut self) {
        match std::mem::take(&mut self.lost_events) {
            0 => {}
            events => tracing::warn!(events, "events were not recorded while the API server was unavailable"),
        }
    }

    /// Creates an Event object, or for a repeat increments the count of the object of its series. If this object was deleted, begins a new
    /// series. `child` is not part of the identity of a series, so that a child that is created again and again starts no new series.
    async fn write(&mut self, event: Event, child: Option<EventObject>) -> Result<(), crate::client::CallError> {
        let now = self.environment.now();
        self.series.retain(|_, series| now.duration_since(series.last) < SERIES_TIMEOUT);
        let kind = kind();
        if let Some(series) = self.series.get_mut(&event) {
            (series.count, series.last) = (series.count.saturating_add(1), now);
            let target = Target { kind: &kind, namespace: Some(&series.namespace), name: &series.name };
            let patch = json!({"series": {"count": series.count, "lastObservedTime": micro_time(now)}});
            match self.client.patch(target, &Patch::Merge(&patch), &self.operator).await {
                Err(error) if error.is_not_found() => drop(self.series.remove(&event)),
                result => return result.map(drop),
            }
        }
        // Only an event about an object in a bucket regards the child, or else the Pod of the operator.
        let name = bounds::event_name(event.object.key.name(), self.environment.random());
        let child = child.filter(|_| self.is_apart(&event.object));
        let namespace = match &child {
            Some(child) => child.event_namespace(),
            None if self.is_apart(&event.object) => self.namespace.as_str(),
            None => event.object.event_namespace(),
        };
        let namespace = namespace.to_owned();
        let target = Target { kind: &kind, namespace: Some(&namespace), name: &name };
        let body = self.body((&event, child.as_ref()), &namespace, &name, now);
        self.client.create::<Value>(target, &body, &self.operator).await?;
        self.series.insert(event, Series { namespace, name, count: 1, last: now });
        Ok(())
    }

    /// Returns whether the object is in a bucket while its events are in Kubernetes. An event then regards a child of the object or the
    /// Pod of the operator, and the object is `related`: the namespace of an event has to be that of the object it regards, and a
    /// namespace in a bucket may not exist in Kubernetes.
    fn is_apart(&self, object: &EventObject) -> bool {
        self.client.is_in_bucket(&object.kind) && !self.client.is_in_bucket(&kind())
    }

    /// Returns the JSON of a new Event. If its object is in a bucket, the event regards `child` or the Pod of the operator, and names the
    /// object in `related` and at the start of its note.
    fn body(
        &self,
        (event, child): (&Event, Option<&EventObject>),
        namespace: &str,
        name: &str,
        now: Timestamp,
    ) -> Value {
        let object = &event.object;
        let is_apart = self.is_apart(object);
        let note = match is_apart {
            true => bounds::event_note(&format!("{} {}: {}", object.kind, object.key, event.note)).into_owned(),
            false => event.note.clone(),
        };
        let mut body = json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "eventTime": micro_time(now),
            "reportingController": self.operator, "reportingInstance": self.instance,
            "type": event.type_.as_str(), "reason": event.reason, "action": event.action, "note": note,
            "regarding": object.reference(),
        });
        if is_apart {
            let pod = || json!({"apiVersion": "v1", "kind": "Pod", "name": self.instance, "namespace": self.namespace});
            let regarded = child.map_or_else(pod, EventObject::reference);
            body["related"] = std::mem::replace(&mut body["regarding"], regarded);
        }
        body
    }
}

fn micro_time(now: Timestamp) -> String {
    format!("{now:.6}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{kind::kind_of, log::Log};
    use http::{Request, Response};
    use k8s_openapi::api::core::v1::Pod;
    use kube::client::Body;
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    /// Returns the client of a server that refuses the first `calls` connections and then accepts every request.
    fn unreachable_for(calls: usize) -> Client {
        let requests = Arc::new(AtomicUsize::new(0));
        let respond = move |_: Request<Body>| {
            let is_outage = requests.fetch_add(1, Ordering::Relaxed) < calls;
            let refused = || std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
            std::future::ready(if is_outage { Err(refused()) } else { Ok(Response::new(Body::from(b"{}".to_vec()))) })
        };
        Client::new(kube::Client::new(tower::service_fn(respond), "default"))
    }

    /// Returns the client of a server that answers every request with 403 and this `Status` object.
    fn refusing(status: &Value) -> Client {
        let body = status.to_string().into_bytes();
        let respond = move |_: Request<Body>| {
            let response = Response::builder().status(403).body(Body::from(body.clone()));
            std::future::ready(response)
        };
        Client::new(kube::Client::new(tower::service_fn(respond), "default"))
    }

    /// Records five different events about an object, and returns the lines of the log.
    async fn log_of_five_events(client: Client) -> Vec<String> {
        let log = Log::capture();
        let object = EventObject { kind: kind_of::<Pod>(), key: ObjectKey::cluster("a"), uid: Uid::default() };
        let regarding = Regarding { object, child: None };
        let (recorder, writer) = EventRecorder::new(client, Environment::system(), ("shop", "shops"));
        for number in 0..5 {
            recorder.normal(&regarding, "Created", "Apply", &format!("created number {number}"));
        }
        drop(recorder);
        writer.await;
        log.lines()
    }

    #[tokio::test]
    async fn the_events_lost_in_an_outage_are_logged_in_one_line_after_it() {
        let lines = log_of_five_events(unreachable_for(3)).await;
        assert_eq!(lines, ["WARN events were not recorded while the API server was unavailable events=3"]);
    }

    #[tokio::test]
    async fn the_events_that_an_ending_namespace_refuses_are_not_logged() {
        let refusal = |causes: Value| {
            json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 403,
                "reason": "Forbidden", "message": "events \"a\" is forbidden",
                "details": {"name": "a", "kind": "events", "causes": causes},
            })
        };
        let message = "namespace default is being terminated";
        let ending = json!([{"reason": "NamespaceTerminating", "message": message, "field": "metadata.namespace"}]);
        // The empty array: no line is logged.
        assert_eq!(log_of_five_events(refusing(&refusal(ending))).await, [""; 0]);
        // Another refusal is logged, for each event.
        assert_eq!(log_of_five_events(refusing(&refusal(json!([])))).await.len(), 5);
    }
}

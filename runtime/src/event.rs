//! Events about objects, as `events.k8s.io/v1` has them.
//!
//! A recorder never makes a pass wait: it hands the event to one task, which writes it. A repeat within six minutes
//! becomes a count on the first one (the `series` of the API) instead of another object. What can't be written is lost,
//! and said in the log: events are hints, not state. Those that an outage of the API server costs are counted, and logged in
//! one line when it is over.

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

/// Whether an event tells of something wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventType {
    /// All is well.
    Normal,
    /// Somebody should look.
    Warning,
}

impl EventType {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

/// The object that an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Regarding {
    pub(crate) kind: Kind,
    pub(crate) key: ObjectKey,
    pub(crate) uid: Uid,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Event {
    regarding: Regarding,
    type_: EventType,
    reason: String,
    action: &'static str,
    note: String,
}

/// What a recorder tells its writer.
#[derive(Debug)]
enum RecorderMessage {
    Event(Box<Event>),
    /// Asks for a word once all that was told before is written, or lost.
    Flush(oneshot::Sender<()>),
}

/// Takes events; a clone goes to every controller that has them on.
#[derive(Clone, Debug)]
pub(crate) struct EventRecorder(Option<mpsc::Sender<RecorderMessage>>);

/// Waiting events beyond this number are dropped: an operator that fails everywhere at once has a log.
const WAITING: usize = 1_000;
/// The API server joins a series for as long; client-go has the same figure.
const SERIES: SignedDuration = SignedDuration::from_mins(6);

impl EventRecorder {
    /// A recorder that records nothing.
    pub(crate) fn off() -> Self {
        Self(None)
    }

    /// A recorder, and the work that writes its events until all recorders are gone.
    pub(crate) fn new(
        client: Client,
        environment: Environment,
        operator: &str,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (sender, receiver) = mpsc::channel(WAITING);
        let instance = std::env::var("POD_NAME").unwrap_or_else(|_| operator.to_owned());
        let instance = bounds::event_word(&instance).into_owned();
        let writer =
            Writer { client, environment, operator: operator.to_owned(), instance, series: HashMap::new(), lost: 0 };
        (Self(Some(sender)), writer.write_all(receiver))
    }

    pub(crate) fn normal(&self, regarding: &Regarding, reason: &str, action: &'static str, note: &str) {
        self.record(regarding, EventType::Normal, reason, action, note);
    }

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
        let event = Event { regarding: regarding.clone(), type_, reason: word, action, note };
        if sender.try_send(RecorderMessage::Event(Box::new(event))).is_err() {
            tracing::warn!(kind = %regarding.kind, object = %regarding.key, reason, "event dropped: too many are waiting");
        }
    }

    /// Waits until all events that were recorded before are written, or lost.
    pub(crate) async fn flush(&self) {
        let Some(sender) = &self.0 else { return };
        let (written, wait) = oneshot::channel();
        if sender.send(RecorderMessage::Flush(written)).await.is_ok() {
            // A writer that is gone writes nothing more.
            let _ = wait.await;
        }
    }
}

struct Writer {
    client: Client,
    environment: Environment,
    operator: String,
    instance: String,
    series: HashMap<Event, Series>,
    /// Events that could not be written since the API server went away.
    lost: u64,
}

struct Series {
    name: String,
    count: i32,
    last: Timestamp,
}

pub(crate) fn kind() -> Kind {
    Kind {
        group: "events.k8s.io".into(),
        version: "v1".into(),
        kind: "Event".into(),
        plural: "events".into(),
        namespaced: true,
    }
}

impl Writer {
    async fn write_all(mut self, mut told: mpsc::Receiver<RecorderMessage>) {
        while let Some(told) = told.recv().await {
            let event = match told {
                RecorderMessage::Event(event) => *event,
                RecorderMessage::Flush(written) => {
                    // Who asked may have lost patience.
                    let _ = written.send(());
                    continue;
                }
            };
            let (kind, object) = (event.regarding.kind.clone(), event.regarding.key.clone());
            let written = AssertUnwindSafe(self.write(event)).catch_unwind().await;
            let written = written.map_err(|payload| Error::unexpected(Panicked::new(Closure::Runtime, &*payload)));
            match written {
                Ok(Ok(())) => self.log_lost(),
                Ok(Err(error)) if error.is_in_ending_namespace() => {
                    tracing::debug!(kind = %kind, %object, "event not recorded: its namespace is being deleted");
                }
                // The watches log that the server is away.
                Ok(Err(error)) if error.is_outage() => {
                    self.lost += 1;
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

    fn log_lost(&mut self) {
        match std::mem::take(&mut self.lost) {
            0 => {}
            events => tracing::warn!(events, "events were not recorded while the API server was away"),
        }
    }

    async fn write(&mut self, event: Event) -> Result<(), crate::client::CallError> {
        let now = self.environment.now();
        self.series.retain(|_, series| now.duration_since(series.last) < SERIES);
        let namespace = event.regarding.key.namespace().unwrap_or("default").to_owned();
        let kind = kind();
        if let Some(series) = self.series.get_mut(&event) {
            (series.count, series.last) = (series.count.saturating_add(1), now);
            let target = Target { kind: &kind, namespace: Some(&namespace), name: &series.name };
            let patch = json!({"series": {"count": series.count, "lastObservedTime": micro(now)}});
            match self.client.patch(target, &Patch::Merge(&patch), &self.operator).await {
                Err(error) if error.is_not_found() => drop(self.series.remove(&event)),
                other => return other.map(drop),
            }
        }
        let name = bounds::event_name(event.regarding.key.name(), self.environment.random());
        let target = Target { kind: &kind, namespace: Some(&namespace), name: &name };
        self.client.create(target, &self.body(&event, &namespace, &name, now), &self.operator).await?;
        self.series.insert(event, Series { name, count: 1, last: now });
        Ok(())
    }

    fn body(&self, event: &Event, namespace: &str, name: &str, now: Timestamp) -> Value {
        let Regarding { kind, key, uid } = &event.regarding;
        json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "eventTime": micro(now),
            "reportingController": self.operator, "reportingInstance": self.instance,
            "type": event.type_.as_str(), "reason": event.reason, "action": event.action, "note": event.note,
            "regarding": {
                "apiVersion": kind.api_version(), "kind": kind.kind, "name": key.name(),
                "namespace": key.namespace(), "uid": uid.to_string(),
            },
        })
    }
}

fn micro(now: Timestamp) -> String {
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

    /// A server that is away for the first calls.
    fn away_for(calls: usize) -> Client {
        let asked = Arc::new(AtomicUsize::new(0));
        let answer = move |_: Request<Body>| {
            let is_away = asked.fetch_add(1, Ordering::Relaxed) < calls;
            let refused = || std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
            std::future::ready(if is_away { Err(refused()) } else { Ok(Response::new(Body::from(b"{}".to_vec()))) })
        };
        Client::new(kube::Client::new(tower::service_fn(answer), "default"))
    }

    #[tokio::test]
    async fn the_events_that_an_outage_costs_are_one_line_when_it_is_over() {
        let (log, regarding) =
            (Log::capture(), Regarding { kind: kind_of::<Pod>(), key: ObjectKey::cluster("a"), uid: Uid::default() });
        let (recorder, written) = EventRecorder::new(away_for(3), Environment::system(), "shop");
        for number in 0..5 {
            recorder.normal(&regarding, "Created", "Apply", &format!("created number {number}"));
        }
        drop(recorder);
        written.await;
        assert_eq!(log.lines(), ["WARN events were not recorded while the API server was away events=3"]);
    }
}

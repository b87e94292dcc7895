//! `ConnectionEvents`: the events of a connection to NATS, for the calls that wait for an answer.

use async_nats::{Event, ServerError};
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::broadcast::{self, error::RecvError};

/// The number of events by which a call may lag behind before it misses some.
const CAPACITY: usize = 256;

/// An event that concerns calls that wait for an answer.
#[derive(Clone, Debug)]
pub(super) enum ConnectionEvent {
    /// A lost connection was made again.
    Connected,
    /// The server dropped a message or a subscription for lack of a permission. The text names the subject.
    Violation(Arc<str>),
}

/// The receivers of the events of a connection, with the last errors.
#[derive(Clone, Debug)]
pub(super) struct ConnectionEvents {
    sender: broadcast::Sender<ConnectionEvent>,
    state: Arc<Mutex<LastEvents>>,
}

#[derive(Debug, Default)]
struct LastEvents {
    error: Option<String>,
    subscription_violation: Option<Arc<str>>,
}

impl ConnectionEvents {
    pub(super) fn new() -> Self {
        Self { sender: broadcast::Sender::new(CAPACITY), state: Arc::default() }
    }

    /// Handles an event of the NATS client: passes a missing permission on to the waiting calls, remembers any other error, and ignores the
    /// rest.
    pub(super) fn handle(&self, event: Event) {
        let event = match event {
            Event::ServerError(ServerError::Other(text)) if text.contains("Permissions Violation") => {
                let text = Arc::<str>::from(text.trim_matches('\''));
                tracing::debug!(message = %text, "NATS refused a message or a subscription");
                if text.contains("for Subscription") {
                    self.state.lock().subscription_violation = Some(Arc::clone(&text));
                }
                ConnectionEvent::Violation(text)
            }
            Event::ServerError(error) => return self.remember(error.to_string()),
            Event::ClientError(error) => return self.remember(error.to_string()),
            Event::Connected
            | Event::Disconnected
            | Event::Closed
            | Event::LameDuckMode
            | Event::Draining
            | Event::SlowConsumer(_) => return,
        };
        // Nobody may be waiting.
        let _ = self.sender.send(event);
    }

    /// Clears the remembered errors and wakes the waiting calls, because a new client is connected.
    pub(super) fn connected(&self) {
        *self.state.lock() = LastEvents::default();
        // Nobody may be waiting.
        let _ = self.sender.send(ConnectionEvent::Connected);
    }

    /// Remembers an error until a connection is made.
    pub(super) fn remember(&self, error: String) {
        tracing::debug!(%error, "the connection to NATS has an error");
        self.state.lock().error = Some(error);
    }

    /// Returns the last error since the connection was made.
    pub(super) fn last_error(&self) -> Option<String> {
        self.state.lock().error.clone()
    }

    /// Returns the error of the server if it has refused the subscription to an inbox for lack of a permission. No call gets an answer
    /// then.
    pub(super) fn inbox_violation(&self, inbox_prefix: &str) -> Option<Arc<str>> {
        let violation = self.state.lock().subscription_violation.clone()?;
        violation.contains(&format!("\"{inbox_prefix}.")).then_some(violation)
    }

    pub(super) fn subscribe(&self) -> EventReceiver {
        EventReceiver(self.sender.subscribe())
    }
}

/// Receives the events of a connection from the time of the subscription on.
#[derive(Debug)]
pub(super) struct EventReceiver(broadcast::Receiver<ConnectionEvent>);

impl EventReceiver {
    /// Waits for the next event, and never returns if the connection has been dropped. Events that are missed because too many came at once
    /// are skipped.
    pub(super) async fn next(&mut self) -> ConnectionEvent {
        loop {
            match self.0.recv().await {
                Ok(event) => return event,
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_violation_reaches_receivers_and_that_of_an_inbox_is_remembered_until_the_next_connection() {
        let events = ConnectionEvents::new();
        let mut receiver = events.subscribe();
        let text = "'Permissions Violation for Subscription to \"_INBOX.a.*\"'".to_owned();
        events.handle(Event::ServerError(ServerError::Other(text)));
        let ConnectionEvent::Violation(text) = receiver.next().await else { panic!("a violation") };
        assert_eq!(&*text, "Permissions Violation for Subscription to \"_INBOX.a.*\"");
        assert_eq!(events.inbox_violation("_INBOX"), Some(text));
        assert_eq!(events.inbox_violation("_OTHER"), None);
        events.connected();
        assert!(matches!(receiver.next().await, ConnectionEvent::Connected));
        assert_eq!(events.inbox_violation("_INBOX"), None);
    }
}

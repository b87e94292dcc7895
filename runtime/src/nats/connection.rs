//! The connection to a NATS server or cluster, and calls with answers.

use super::{
    connection_event::{ConnectionEvent, ConnectionEvents, EventReceiver},
    error::NatsError,
    options::NatsOptions,
};
use async_nats::{
    Client, ConnectErrorKind, HeaderMap, Message, Request, RequestErrorKind, SubscribeErrorKind, Subscriber,
    connection::State,
};
use bytes::Bytes;
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use tokio::{
    sync::Mutex,
    time::{Instant, sleep, sleep_until},
};

/// How often a call checks the state of the connection, beside the events.
const STATE_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The time in which the client must take a message without an answer.
const SEND_TIMEOUT: Duration = Duration::from_millis(100);

/// A connection to a NATS server or cluster. Clones share it.
///
/// It connects again by itself, for ever, with delays that grow up to eight seconds and are random, so that many operators don't come
/// back at once.
#[derive(Clone, Debug)]
pub struct NatsConnection {
    options: Arc<NatsOptions>,
    events: ConnectionEvents,
    current: Arc<Mutex<Current>>,
    /// Held while the client is replaced.
    dialing: Arc<Mutex<()>>,
}

/// The client that is used now. It is replaced if its task has ended.
#[derive(Clone, Debug)]
struct Current {
    client: Client,
    generation: u64,
}

/// Why a call has no answer.
#[derive(Clone, Debug)]
pub(super) enum CallFailure {
    /// The server dropped the message for lack of a permission.
    Forbidden(String),
    /// Nobody subscribes to the subject.
    NoResponders,
    /// The message has more bytes than the server takes.
    TooLarge,
    /// The subject of the message or of the inbox is no valid subject.
    Invalid(String),
    /// No answer came, or not in time. The message may have arrived.
    Unanswered(String),
}

impl NatsConnection {
    /// Connects to one of the servers.
    ///
    /// # Errors
    /// Fails if no server answers, if the server refuses the credentials, and if a file of the options can't be used.
    pub async fn connect(options: NatsOptions) -> Result<Self, NatsError> {
        let events = ConnectionEvents::new();
        let client = dial(&options, &events).await?;
        let current = Arc::new(Mutex::new(Current { client, generation: 0 }));
        Ok(Self { options: Arc::new(options), events, current, dialing: Arc::default() })
    }

    pub(super) fn options(&self) -> &NatsOptions {
        &self.options
    }

    /// Returns the largest message that the server takes, with its headers, in bytes.
    pub(super) async fn max_payload(&self) -> usize {
        self.current.lock().await.client.max_payload()
    }

    /// Sends a message and waits for the answer, at most for the request timeout. It is not sent before there is a connection.
    ///
    /// # Errors
    /// See [`CallFailure`].
    pub(super) async fn request(
        &self,
        subject: String,
        headers: HeaderMap,
        payload: Bytes,
    ) -> Result<Message, CallFailure> {
        let deadline = Instant::now() + self.options.timeout();
        let mut events = self.events.subscribe();
        let current = self.connected(&mut events, deadline).await?;
        let request = Request::new().payload(payload).headers(headers).timeout(None);
        let answer = tokio::select! {
            biased;
            answer = current.client.send_request(subject.clone(), request) => answer,
            failure = self.failure_of(&subject, &mut events) => return Err(failure),
            () = sleep_until(deadline) => return Err(self.no_answer(&subject)),
        };
        match answer {
            Ok(message) => Ok(message),
            Err(error) => match error.kind() {
                RequestErrorKind::NoResponders => Err(CallFailure::NoResponders),
                RequestErrorKind::MaxPayloadExceeded => Err(CallFailure::TooLarge),
                RequestErrorKind::TimedOut => Err(self.no_answer(&subject)),
                RequestErrorKind::InvalidSubject => Err(CallFailure::Invalid(format!("{subject:?} is no subject"))),
                RequestErrorKind::Other => {
                    self.replace(current.generation).await;
                    Err(CallFailure::Unanswered(format!("the connection was closed: {error}")))
                }
            },
        }
    }

    /// Subscribes to a new inbox.
    ///
    /// # Errors
    /// Fails if there is no connection within the request timeout.
    pub(super) async fn subscribe_to_inbox(&self) -> Result<Inbox, CallFailure> {
        let deadline = Instant::now() + self.options.timeout();
        let mut events = self.events.subscribe();
        let current = self.connected(&mut events, deadline).await?;
        let connects = connects(&current.client);
        let subject = current.client.new_inbox();
        let Ok(subscribed) = tokio::time::timeout_at(deadline, current.client.subscribe(subject.clone())).await else {
            return Err(self.no_answer(&subject));
        };
        match subscribed {
            Ok(messages) => Ok(Inbox { subject, messages, events, client: current.client, connects }),
            Err(error) if error.kind() == SubscribeErrorKind::InvalidSubject => {
                Err(CallFailure::Invalid(format!("{subject:?} is no subject")))
            }
            Err(error) => {
                self.replace(current.generation).await;
                Err(CallFailure::Unanswered(format!("the connection was closed: {error}")))
            }
        }
    }

    /// Waits until there is a connection.
    async fn connected(&self, events: &mut EventReceiver, deadline: Instant) -> Result<Current, CallFailure> {
        loop {
            let current = self.current.lock().await.clone();
            if current.client.connection_state() == State::Connected {
                return match self.events.inbox_violation(self.options.prefix_of_inboxes()) {
                    Some(violation) => Err(CallFailure::Forbidden(violation.to_string())),
                    None => Ok(current),
                };
            }
            tokio::select! {
                _ = events.next() => {}
                () = sleep(STATE_CHECK_INTERVAL) => {}
                () = sleep_until(deadline) => {
                    let error = self.events.last_error().map(|error| format!(": {error}")).unwrap_or_default();
                    let servers = self.options.shown_servers();
                    return Err(CallFailure::Unanswered(format!("there is no connection to {servers}{error}")));
                }
            }
        }
    }

    /// Waits for an event after which an answer to a call can't come anymore.
    async fn failure_of(&self, subject: &str, events: &mut EventReceiver) -> CallFailure {
        let named = format!("\"{subject}\"");
        loop {
            match events.next().await {
                ConnectionEvent::Violation(text) if text.contains(&named) => {
                    return CallFailure::Forbidden(text.to_string());
                }
                ConnectionEvent::Violation(_) => {
                    if let Some(text) = self.events.inbox_violation(self.options.prefix_of_inboxes()) {
                        return CallFailure::Forbidden(text.to_string());
                    }
                }
                ConnectionEvent::Disconnected => {
                    return CallFailure::Unanswered("the connection was lost before the answer came".into());
                }
                ConnectionEvent::Connected => {}
            }
        }
    }

    fn no_answer(&self, subject: &str) -> CallFailure {
        CallFailure::Unanswered(format!("no answer to {subject} within {:?}", self.options.timeout()))
    }

    /// Connects with a new client in place of the one of this generation, whose task has ended. Other calls go on meanwhile, and one
    /// that has to do the same leaves it to this one.
    async fn replace(&self, generation: u64) {
        let Ok(_dialing) = self.dialing.try_lock() else { return };
        if self.current.lock().await.generation != generation {
            return;
        }
        match dial(&self.options, &self.events).await {
            Ok(client) => *self.current.lock().await = Current { client, generation: generation + 1 },
            Err(error) => tracing::warn!(%error, "the connection to NATS was closed, and can't be made again yet"),
        }
    }
}

/// A subscription to a subject of its own.
#[derive(Debug)]
pub(super) struct Inbox {
    subject: String,
    messages: Subscriber,
    events: EventReceiver,
    client: Client,
    connects: u64,
}

/// A message in an inbox, or the reason why messages can be missing.
#[derive(Debug)]
pub(super) enum Received {
    Message(Message),
    /// Messages can be missing from now on.
    Interrupted(String),
    /// The server refused the subscription, or a message to a subject with a prefix that the caller named.
    Forbidden(String),
}

impl Inbox {
    pub(super) fn subject(&self) -> &str {
        &self.subject
    }

    /// Returns a name that no other inbox has, without dots.
    pub(super) fn unique_name(&self) -> &str {
        self.subject.rsplit_once('.').map_or(self.subject.as_str(), |(_, name)| name)
    }

    /// Waits for the next message, at most for `patience`. `prefix` is that of the subjects to which the caller sends.
    pub(super) async fn next(&mut self, prefix: &str, patience: Duration) -> Received {
        use futures::StreamExt as _;
        let (inbox, sent) = (format!("\"{}\"", self.subject), format!("\"{prefix}"));
        let deadline = Instant::now() + patience;
        loop {
            tokio::select! {
                biased;
                message = self.messages.next() => return match message {
                    Some(message) => Received::Message(message),
                    None => Received::Interrupted("the connection was closed".into()),
                },
                event = self.events.next() => match event {
                    ConnectionEvent::Violation(text) if text.contains(&inbox) || text.contains(&sent) => {
                        return Received::Forbidden(text.to_string());
                    }
                    ConnectionEvent::Connected if connects(&self.client) != self.connects => {
                        return Received::Interrupted("the connection was lost and made again".into());
                    }
                    ConnectionEvent::Violation(_) | ConnectionEvent::Connected | ConnectionEvent::Disconnected => {}
                },
                () = sleep_until(deadline) => return Received::Interrupted(format!("nothing arrived for {patience:?}")),
            }
        }
    }

    /// Sends an empty message. It is lost if there is no connection, which the next call of [`next`](Self::next) reports.
    pub(super) async fn send(&self, subject: String) {
        let _ = tokio::time::timeout(SEND_TIMEOUT, self.client.publish(subject, Bytes::new())).await;
    }
}

/// Returns how often a client has connected.
fn connects(client: &Client) -> u64 {
    client.statistics().connects.load(Ordering::Relaxed)
}

async fn dial(options: &NatsOptions, events: &ConnectionEvents) -> Result<Client, NatsError> {
    let client = options.for_client(events.clone())?;
    client.connect(options.servers()).await.map_err(|error| {
        let (servers, message) = (options.shown_servers(), error.to_string());
        match error.kind() {
            ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                NatsError::Unauthorized { servers, message }
            }
            _ => NatsError::Unreachable { servers, message },
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
        sync::oneshot,
    };

    const GREETING: &[u8] = b"INFO {\"server_id\":\"a\",\"server_name\":\"a\",\"host\":\"127.0.0.1\",\"port\":4222,\
        \"version\":\"2.11.0\",\"go\":\"go\",\"proto\":1,\"headers\":true,\"max_payload\":4096,\"client_id\":1}\r\n";

    /// Answers the first connection, and says by `second` that there is another one, which it never answers.
    async fn answer_once(listener: TcpListener, second: oneshot::Sender<()>) {
        let (mut first, _) = listener.accept().await.unwrap();
        first.write_all(GREETING).await.unwrap();
        let (mut received, mut chunk) = (Vec::new(), [0; 4096]);
        while !received.windows(6).any(|part| part == b"PING\r\n") {
            let length = first.read(&mut chunk).await.unwrap();
            assert!(length > 0, "the client has closed its connection");
            received.extend_from_slice(&chunk[..length]);
        }
        first.write_all(b"PONG\r\n").await.unwrap();
        let _silent = listener.accept().await.unwrap();
        second.send(()).unwrap();
        std::future::pending::<()>().await;
    }

    #[tokio::test]
    async fn calls_go_on_while_the_client_is_replaced() {
        let patience = Duration::from_secs(20);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let options = NatsOptions::new([format!("nats://{}", listener.local_addr().unwrap())]);
        let (second, dialed) = oneshot::channel();
        let server = tokio::spawn(answer_once(listener, second));
        let connection = NatsConnection::connect(options.request_timeout(Duration::from_secs(60))).await.unwrap();
        let replaced = connection.clone();
        let replacing = tokio::spawn(async move { replaced.replace(0).await });
        tokio::time::timeout(patience, dialed).await.unwrap().unwrap();
        let payload = tokio::time::timeout(patience, connection.max_payload()).await;
        assert_eq!(payload, Ok(4096));
        // Another call that found the same leaves it to the first.
        assert_eq!(tokio::time::timeout(patience, connection.replace(0)).await, Ok(()));
        replacing.abort();
        server.abort();
    }
}

//! `NatsConnection`: the connection to a NATS server or cluster, which sends requests and waits for the responses.

use super::{
    backoff,
    connection_event::{ConnectionEvent, ConnectionEvents, EventReceiver},
    error::NatsError,
    options::NatsOptions,
    single_connection::SingleConnection,
};
use async_nats::{
    Client, ConnectErrorKind, HeaderMap, Message, Request, RequestErrorKind, SubscribeErrorKind, Subscriber,
    connection::State,
};
use bytes::Bytes;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{Mutex, OwnedMutexGuard},
    time::{Instant, sleep, sleep_until},
};

/// How often a call checks the state of the connection, beside the events.
const STATE_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The time in which the client must accept a message that gets no answer.
const SEND_TIMEOUT: Duration = Duration::from_millis(100);

/// A connection to a NATS server or cluster. Clones share it.
///
/// A lost connection is made again as long as calls need one, for ever, with delays that grow up to eight seconds and are random, so
/// that many operators don't come back at once. A call whose connection is lost fails, and its message is not sent over a later one.
#[derive(Clone, Debug)]
pub struct NatsConnection {
    options: Arc<NatsOptions>,
    events: ConnectionEvents,
    current: Arc<Mutex<Current>>,
    /// The number of consecutive failed attempts to connect again. Locked during an attempt.
    failures: Arc<Mutex<usize>>,
}

/// The client that is used now. It has one connection, and is replaced when that is lost.
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
        let client = dial(&options, &[], &events).await?;
        let current = Arc::new(Mutex::new(Current { client, generation: 0 }));
        Ok(Self { options: Arc::new(options), events, current, failures: Arc::default() })
    }

    pub(super) fn options(&self) -> &NatsOptions {
        &self.options
    }

    /// Returns the largest message that the server takes, with its headers, in bytes.
    pub(super) async fn max_payload(&self) -> usize {
        self.current.lock().await.client.max_payload()
    }

    /// Sends a message and waits for the answer, at most for the request timeout. Waits for a connection first. If the connection is lost,
    /// the call fails, and the message is not sent over the next connection.
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
                // The client has ended with its connection.
                RequestErrorKind::Other => {
                    Err(CallFailure::Unanswered("the connection was lost before the answer came".into()))
                }
            },
        }
    }

    /// Subscribes to a new inbox, which is a subject that no other subscription has.
    ///
    /// # Errors
    /// Fails if there is no connection within the request timeout.
    pub(super) async fn subscribe_to_inbox(&self) -> Result<Inbox, CallFailure> {
        let deadline = Instant::now() + self.options.timeout();
        let mut events = self.events.subscribe();
        let current = self.connected(&mut events, deadline).await?;
        let subject = current.client.new_inbox();
        let Ok(subscribed) = tokio::time::timeout_at(deadline, current.client.subscribe(subject.clone())).await else {
            return Err(self.no_answer(&subject));
        };
        match subscribed {
            Ok(messages) => Ok(Inbox { subject, messages, events, client: current.client }),
            Err(error) if error.kind() == SubscribeErrorKind::InvalidSubject => {
                Err(CallFailure::Invalid(format!("{subject:?} is no subject")))
            }
            Err(error) => Err(CallFailure::Unanswered(format!("the connection was lost: {error}"))),
        }
    }

    /// Returns a connected client. If the connection is lost, starts to connect again, and waits for it until the deadline.
    async fn connected(&self, events: &mut EventReceiver, deadline: Instant) -> Result<Current, CallFailure> {
        loop {
            let current = self.current.lock().await.clone();
            if current.client.connection_state() == State::Connected {
                // Answers arrive in an inbox, so no call gets one if the server has refused the subscription to inboxes.
                return match self.events.inbox_violation(self.options.prefix_of_inboxes()) {
                    Some(violation) => Err(CallFailure::Forbidden(violation.to_string())),
                    None => Ok(current),
                };
            }
            self.reconnect(current.generation);
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

    /// Waits until the server refuses the message to `subject` or the subscription to the inbox of answers for lack of a permission: then
    /// the call gets no answer, and this returns its failure.
    async fn failure_of(&self, subject: &str, events: &mut EventReceiver) -> CallFailure {
        let quoted_subject = format!("\"{subject}\"");
        loop {
            match events.next().await {
                ConnectionEvent::Violation(text) if text.contains(&quoted_subject) => {
                    return CallFailure::Forbidden(text.to_string());
                }
                ConnectionEvent::Violation(_) => {
                    if let Some(text) = self.events.inbox_violation(self.options.prefix_of_inboxes()) {
                        return CallFailure::Forbidden(text.to_string());
                    }
                }
                ConnectionEvent::Connected => {}
            }
        }
    }

    fn no_answer(&self, subject: &str) -> CallFailure {
        CallFailure::Unanswered(format!("no answer to {subject} within {:?}", self.options.timeout()))
    }

    /// Starts a task that replaces the client of this generation by a new one with a connection, unless such a task already runs. The task
    /// goes on if the caller stops waiting.
    fn reconnect(&self, generation: u64) {
        let Ok(failures) = Arc::clone(&self.failures).try_lock_owned() else { return };
        let connection = self.clone();
        tokio::spawn(async move { connection.replace(generation, failures).await });
    }

    /// Makes one attempt to replace the client of this generation by a new one with a connection, after a backoff that grows with the
    /// failures. Does nothing if the client has been replaced already.
    async fn replace(&self, generation: u64, mut failures: OwnedMutexGuard<usize>) {
        let lost = self.current.lock().await.clone();
        if lost.generation != generation {
            return;
        }
        backoff::wait(*failures).await;
        match dial(&self.options, &lost.client.server_info().connect_urls, &self.events).await {
            Ok(client) => {
                *failures = 0;
                *self.current.lock().await = Current { client, generation: generation + 1 };
                self.events.connected();
            }
            Err(error) => {
                if *failures == 0 {
                    tracing::warn!(%error, "the connection to NATS was lost, and can't be made again yet");
                }
                *failures = failures.saturating_add(1);
                self.events.remember(match error {
                    NatsError::Unreachable { message, .. } | NatsError::Unauthorized { message, .. } => message,
                    error => error.to_string(),
                });
            }
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

    /// Waits for the next message, at most for `patience`. `prefix` is the prefix of the subjects to which the caller sends messages: it
    /// also returns if the server refuses one of them, or the subscription, for lack of a permission.
    pub(super) async fn next(&mut self, prefix: &str, patience: Duration) -> Received {
        use futures::StreamExt as _;
        let (quoted_inbox, quoted_prefix) = (format!("\"{}\"", self.subject), format!("\"{prefix}"));
        let deadline = Instant::now() + patience;
        loop {
            tokio::select! {
                biased;
                message = self.messages.next() => return match message {
                    Some(message) => Received::Message(message),
                    // The client has ended with its connection.
                    None => Received::Interrupted("the connection was lost".into()),
                },
                event = self.events.next() => match event {
                    ConnectionEvent::Violation(text) if text.contains(&quoted_inbox) || text.contains(&quoted_prefix) => {
                        return Received::Forbidden(text.to_string());
                    }
                    ConnectionEvent::Violation(_) | ConnectionEvent::Connected => {}
                },
                () = sleep_until(deadline) => return Received::Interrupted(format!("nothing arrived for {patience:?}")),
            }
        }
    }

    /// Sends an empty message without waiting for an answer. A failure is ignored: [`next`](Self::next) reports a lost connection.
    pub(super) async fn send(&self, subject: String) {
        let _ = tokio::time::timeout(SEND_TIMEOUT, self.client.publish(subject, Bytes::new())).await;
    }
}

/// Connects with a new client, to one of the servers of the options, or to one of the `discovered` servers that the last server has named
/// as members of its cluster.
async fn dial(options: &NatsOptions, discovered: &[String], events: &ConnectionEvents) -> Result<Client, NatsError> {
    let connection = SingleConnection::default();
    let client = options.for_client(events.clone(), connection.clone())?;
    let others = discovered.iter().filter(|url| !options.servers().contains(url));
    let servers: Vec<String> = options.servers().iter().chain(others).cloned().collect();
    let client = client.connect(servers).await.map_err(|error| {
        let (servers, message) = (options.shown_servers(), error.to_string());
        match error.kind() {
            ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                NatsError::Unauthorized { servers, message }
            }
            _ => NatsError::Unreachable { servers, message },
        }
    })?;
    connection.begin();
    Ok(client)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use futures::FutureExt as _;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{TcpListener, TcpStream},
        time::timeout,
    };

    const PATIENCE: Duration = Duration::from_secs(20);

    /// The size of the largest message that the server takes.
    const LIMIT: usize = 1024 * 1024;

    /// Accepts a connection, and completes its handshake.
    async fn accept(listener: &TcpListener) -> TcpStream {
        let (mut stream, _) = listener.accept().await.unwrap();
        let greeting = format!(
            "INFO {{\"server_id\":\"a\",\"server_name\":\"a\",\"host\":\"127.0.0.1\",\"port\":4222,\"version\":\"2.11.0\",\
             \"go\":\"go\",\"proto\":1,\"headers\":true,\"max_payload\":{LIMIT},\"client_id\":1}}\r\n"
        );
        stream.write_all(greeting.as_bytes()).await.unwrap();
        read_until(&mut stream, &["PING\r\n"]).await;
        stream.write_all(b"PONG\r\n").await.unwrap();
        stream
    }

    /// Reads until one of these texts has arrived, and returns it.
    async fn read_until<'a>(stream: &mut TcpStream, texts: &[&'a str]) -> &'a str {
        let (mut received, mut chunk) = (Vec::new(), vec![0; 64 * 1024]);
        loop {
            let length = stream.read(&mut chunk).await.unwrap();
            assert!(length > 0, "the client has closed its connection");
            received.extend_from_slice(&chunk[..length]);
            let has = |text: &str| received.windows(text.len()).any(|part| part == text.as_bytes());
            if let Some(text) = texts.iter().copied().find(|text| has(text)) {
                return text;
            }
        }
    }

    /// Returns the listener of a server, a connection to it, and the server's end of the connection.
    async fn connected() -> (TcpListener, NatsConnection, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let options = NatsOptions::new([format!("nats://{}", listener.local_addr().unwrap())]);
        let options = options.request_timeout(Duration::from_secs(60));
        let (connection, stream) = tokio::join!(NatsConnection::connect(options), accept(&listener));
        (listener, connection.unwrap(), stream)
    }

    #[tokio::test]
    async fn calls_go_on_while_the_client_is_replaced() {
        let (listener, connection, _first) = connected().await;
        connection.reconnect(0);
        // Nobody answers the new client.
        let _second = timeout(PATIENCE, listener.accept()).await.unwrap().unwrap();
        assert_eq!(timeout(PATIENCE, connection.max_payload()).await, Ok(LIMIT));
        // Another call that needs a connection leaves it to the first.
        assert!(connection.failures.try_lock().is_err());
        connection.reconnect(0);
    }

    #[tokio::test]
    async fn a_call_that_is_queued_when_the_connection_is_lost_is_never_sent() {
        let (listener, connection, first) = connected().await;
        // More than the sockets take.
        let payload = Bytes::from(vec![0; LIMIT / 4]);
        for _ in 0..64 {
            let call = connection.request("early".to_owned(), HeaderMap::new(), payload.clone());
            assert!(tokio::task::unconstrained(call).now_or_never().is_none(), "it is queued");
        }
        // The task of the client has not run meanwhile.
        drop(first);
        let calls = tokio::spawn(async move {
            loop {
                // The first ones fail, since their connection is lost.
                let _ = connection.request("later".to_owned(), HeaderMap::new(), Bytes::new()).await;
            }
        });
        let second = async {
            let mut stream = accept(&listener).await;
            read_until(&mut stream, &["PUB early", "PUB later"]).await
        };
        assert_eq!(timeout(PATIENCE, second).await, Ok("PUB later"));
        calls.abort();
    }
}

//! `Consumer`: reads the last message of each key of a bucket, then the changes, through a JetStream consumer of its own. It fails when a
//! message may be missing, so that the caller lists the keys again.

use super::{
    connection::{Inbox, Received},
    jetstream::{JetStreamFailure, StreamApi},
    tombstone::is_tombstone,
};
use crate::bucket::BucketError;
use async_nats::{HeaderMap, Message};
use std::time::Duration;

/// How many heartbeats may be missing.
const MISSING_HEARTBEATS: u32 = 3;

/// The header of a heartbeat with the number of messages that the consumer has sent.
const LAST_CONSUMER: &str = "Nats-Last-Consumer";
/// The header of a heartbeat with the last revision that the consumer has looked at.
const LAST_STREAM: &str = "Nats-Last-Stream";
/// The header of a heartbeat of a consumer that waits for its reader; a message to its value lets it go on.
const STALLED: &str = "Nats-Consumer-Stalled";

/// A reader of the messages of a bucket. It fails when a message may be missing; a new one then lists again.
///
/// The consumers of the client library go on by themselves after such a gap, at the revision that they had reached. A key can be
/// deleted in the gap, and its tombstone removed; nothing would tell that it is gone.
#[derive(Debug)]
pub(super) struct Consumer {
    bucket: String,
    subject_prefix: String,
    flow_control_prefix: String,
    api_prefix: String,
    heartbeat: Duration,
    inbox: Inbox,
    /// How many messages have arrived.
    received: u64,
    /// The highest revision that has arrived.
    reached: u64,
}

/// The new state of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyChange {
    pub(super) key: String,
    pub(super) revision: u64,
    /// The value; `None` if the key has no entry anymore.
    pub(super) value: Option<Vec<u8>>,
}

/// A message or a heartbeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Delivery {
    pub(super) change: Option<KeyChange>,
    /// The revision up to which all changes have arrived; `None` if the consumer has more to send.
    pub(super) caught_up: Option<u64>,
}

impl Consumer {
    /// Creates a consumer on the server that sends the last message of each key of a bucket to an inbox, and then each new message. While
    /// there is no message, the server sends a heartbeat after each `heartbeat`.
    pub(super) async fn start(api: &StreamApi, bucket: &str, heartbeat: Duration) -> Result<Self, BucketError> {
        let options = api.connection().options();
        let api_prefix = options.prefix_of_api().to_owned();
        let failed = |failure: JetStreamFailure| failure.into_error(bucket, "watch", &api_prefix);
        let inbox = api
            .connection()
            .subscribe_to_inbox()
            .await
            .map_err(|failure| failed(JetStreamFailure::Request(failure)))?;
        let subject_prefix = format!("$KV.{bucket}.");
        let filter = format!("{subject_prefix}>");
        let nanoseconds = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let config = serde_json::json!({
            "name": inbox.unique_name(),
            "deliver_subject": inbox.subject(),
            "deliver_policy": "last_per_subject",
            "filter_subject": filter,
            "ack_policy": "none",
            "max_deliver": 1,
            "replay_policy": "instant",
            "flow_control": true,
            "idle_heartbeat": nanoseconds(heartbeat),
            // The server removes the consumer this long after its reader has gone.
            "inactive_threshold": nanoseconds(Duration::from_secs(5)),
            "num_replicas": 1,
            "mem_storage": true,
        });
        api.create_consumer(inbox.unique_name(), &filter, config).await.map_err(failed)?;
        Ok(Self {
            bucket: bucket.to_owned(),
            subject_prefix,
            flow_control_prefix: format!("$JS.FC.{}.", api.stream()),
            api_prefix,
            heartbeat,
            inbox,
            received: 0,
            reached: 0,
        })
    }

    /// Waits for the next message or heartbeat. Answers flow control meanwhile.
    ///
    /// # Errors
    /// Fails if a message may be missing.
    pub(super) async fn next(&mut self) -> Result<Delivery, BucketError> {
        loop {
            let patience = self.heartbeat.saturating_mul(MISSING_HEARTBEATS);
            let message = match self.inbox.next(&self.flow_control_prefix, patience).await {
                Received::Message(message) => message,
                Received::Interrupted(why) => return Err(self.interrupted(&why)),
                Received::Forbidden(why) => return Err(BucketError::forbidden(&self.bucket, "watch", why)),
            };
            // Status 100 is a heartbeat or flow control, and 503 means that no JetStream answers.
            match message.status.map(|status| status.as_u16()) {
                None => return self.read(message),
                Some(100) => {
                    if let Some(delivery) = self.handle_control(message).await? {
                        return Ok(delivery);
                    }
                }
                Some(503) => return Err(self.interrupted(&format!("nobody answers on {}", self.api_prefix))),
                Some(_) => {
                    let why = message.description.unwrap_or_default();
                    return Err(self.interrupted(&format!("the server ended the consumer: {why}")));
                }
            }
        }
    }

    /// Decodes a message of the stream, and checks by its number that no message before it is missing.
    fn read(&mut self, message: Message) -> Result<Delivery, BucketError> {
        let reply = message.reply.as_ref().map(|reply| reply.as_str()).unwrap_or_default();
        let Some(position) = Position::parse(reply) else {
            return Err(self.interrupted(&format!("a message has no position in the stream: {reply:?}")));
        };
        if position.consumer != self.received + 1 {
            return Err(self.interrupted("messages are missing"));
        }
        self.received = position.consumer;
        // A message that was written while the server collects the last messages of the keys is sent twice.
        let is_new = position.stream > self.reached;
        self.reached = self.reached.max(position.stream);
        let key = message.subject.as_str().strip_prefix(self.subject_prefix.as_str());
        let change = key.filter(|_| is_new).map(|key| KeyChange {
            key: key.to_owned(),
            revision: position.stream,
            value: (!is_tombstone(message.headers.as_ref())).then(|| message.payload.to_vec()),
        });
        Ok(Delivery { change, caught_up: (position.pending == 0).then_some(self.reached) })
    }

    /// Handles a message with the status 100: answers flow control, for which it returns `None`, or reads a heartbeat, which tells the
    /// number of the messages that the consumer has sent and the revision that it has reached.
    async fn handle_control(&mut self, message: Message) -> Result<Option<Delivery>, BucketError> {
        if let Some(reply) = message.reply {
            self.inbox.send(reply.into_string()).await;
            return Ok(None);
        }
        let headers = message.headers.unwrap_or_default();
        if number(&headers, LAST_CONSUMER).is_some_and(|sent| sent != self.received) {
            return Err(self.interrupted("messages are missing"));
        }
        if let Some(stalled) = headers.get(STALLED) {
            self.inbox.send(stalled.as_str().to_owned()).await;
            return Ok(Some(Delivery { change: None, caught_up: None }));
        }
        // The revision of a heartbeat also counts messages that were removed from the stream.
        let caught_up = number(&headers, LAST_STREAM);
        self.reached = self.reached.max(caught_up.unwrap_or_default());
        Ok(Some(Delivery { change: None, caught_up }))
    }

    /// Returns the error that ends the consumer because messages may be missing.
    fn interrupted(&self, why: &str) -> BucketError {
        BucketError::unavailable(
            &self.bucket,
            format!("changes can be missing, so the entries are listed again: {why}"),
        )
    }
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.as_str().trim().parse().ok()
}

/// The position of a message in the stream and in the consumer, from its reply subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    /// The revision.
    stream: u64,
    /// The number of the message among those of the consumer; the first one is 1.
    consumer: u64,
    /// How many messages follow.
    pending: u64,
}

impl Position {
    /// Parses a reply subject: `$JS.ACK.<stream name>.<consumer name>.<deliveries>.<stream number>.<consumer number>.<time>.<pending>`, and
    /// the longer form with a domain and an account after `ACK`.
    fn parse(reply: &str) -> Option<Self> {
        let tokens: Vec<_> = reply.strip_prefix("$JS.ACK.")?.split('.').collect();
        let numbers = match tokens.len() {
            7 => tokens.get(3..)?,
            9.. => tokens.get(5..)?,
            _ => return None,
        };
        let [stream, consumer, _time, pending, ..] = numbers else { return None };
        Some(Self { stream: stream.parse().ok()?, consumer: consumer.parse().ok()?, pending: pending.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_from_both_forms_of_a_reply_subject() {
        let position = Some(Position { stream: 12, consumer: 3, pending: 4 });
        assert_eq!(Position::parse("$JS.ACK.KV_a.name.1.12.3.1700000000.4"), position);
        assert_eq!(Position::parse("$JS.ACK.domain.hash.KV_a.name.1.12.3.1700000000.4.random"), position);
        assert_eq!(Position::parse("$JS.ACK._.hash.KV_a.name.1.12.3.1700000000.4"), position);
        for reply in ["", "$JS.ACK.KV_a.name.1.12.3", "$JS.ACK.KV_a.name.1.x.3.1700000000.4", "_INBOX.a.b"] {
            assert_eq!(Position::parse(reply), None, "{reply}");
        }
    }
}

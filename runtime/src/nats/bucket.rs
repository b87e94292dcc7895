//! `NatsBucket`: a key-value bucket in NATS JetStream.

use super::{
    consumer::Consumer,
    jetstream::{JetStreamFailure, StreamApi, StreamConfig},
    known_revisions::KnownRevisions,
    tombstone::{OPERATION, PURGE, is_stored_tombstone},
    watch,
};
use crate::bucket::{
    Bucket, BucketEntry, BucketError, BucketEvent, EntryList, Expected,
    key::{CLAIM_PREFIX, check_key},
};
use async_nats::HeaderMap;
use bytes::Bytes;
use futures::{
    future::{BoxFuture, FutureExt as _},
    stream::BoxStream,
};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// The space for the headers of a write, which count for the limits of the server.
const HEADERS: usize = 256;

/// The header with the time after which the server removes a message.
const MESSAGE_TTL: &str = "Nats-TTL";

/// The time to live of a message that stays longer than the maximum age of its stream.
const NEVER: &str = "never";

/// The time after which the server removes the marker of a removed key, where it may. A watch that was interrupted for longer compares
/// all keys.
const TOMBSTONE_TTL: &str = "24h";

/// The maximum number of attempts to create a key, while other clients write and delete it.
const CREATION_ATTEMPTS: usize = 4;

/// The time between heartbeats while a list is read.
const LIST_HEARTBEAT: Duration = Duration::from_millis(250);

/// A bucket in NATS JetStream. Clones share the connection.
///
/// Reads are answered by the leader of the bucket's stream, and lists go on until they contain all writes that ended before,
/// whichever server they are read from.
#[derive(Clone, Debug)]
pub struct NatsBucket {
    api: StreamApi,
    name: Arc<str>,
    /// The largest message that the bucket takes, if it has a limit of its own.
    limit: Option<usize>,
    /// Whether a message may have a time to live of its own.
    allows_message_ttl: bool,
    differences: Arc<[String]>,
    known: KnownRevisions,
}

impl NatsBucket {
    /// Creates the bucket from the settings `config` of its stream. `differences` are the settings that differ from the definition.
    pub(super) fn new(api: StreamApi, name: &str, config: &StreamConfig, differences: Vec<String>) -> Self {
        Self {
            api,
            name: name.into(),
            limit: usize::try_from(config.max_msg_size).ok().filter(|limit| *limit > 0),
            allows_message_ttl: config.allow_msg_ttl,
            differences: differences.into(),
            known: KnownRevisions::default(),
        }
    }

    /// Returns the settings of the bucket that differ from its definition, for example `history is 3 in place of 5`.
    #[must_use]
    pub fn differences(&self) -> &[String] {
        &self.differences
    }

    /// Returns the subject of the messages of a key.
    fn subject(&self, key: &str) -> String {
        format!("$KV.{}.{key}", self.name)
    }

    /// Converts the failure of an operation on this bucket to the error for its caller.
    fn error(&self, operation: &str, failure: JetStreamFailure) -> BucketError {
        failure.into_error(&self.name, operation, self.api.connection().options().prefix_of_api())
    }

    /// Reads the entry of a key from the leader of the stream; `None` if the last message of the key is a tombstone (the message of a
    /// deletion), or if there is no message. Remembers the revision, so that a later write with it needs no read.
    async fn read(&self, key: &str) -> Result<Option<BucketEntry>, BucketError> {
        check_key(key)?;
        let message = self.api.last_message(&self.subject(key)).await.map_err(|failure| self.error("get", failure))?;
        let live = message.filter(|message| !is_stored_tombstone(&message.hdrs.0));
        Ok(live.map(|message| {
            self.known.remember(message.revision);
            BucketEntry::new(key, message.data.0, message.revision)
        }))
    }

    /// Reads the entries of all keys with a consumer. The list has all writes up to the last revision that the leader of the stream had at
    /// the start, even if the consumer reads from a server that is behind the leader.
    async fn list_all(&self) -> Result<EntryList, BucketError> {
        let report = self.api.report().await.map_err(|failure| self.error("list", failure))?;
        if report.state.messages == 0 {
            return Ok(EntryList::default());
        }
        let mut entries = EntryList::builder();
        let mut consumer = Consumer::start(&self.api, &self.name, LIST_HEARTBEAT).await?;
        let started = Instant::now();
        loop {
            let delivery = consumer.next().await?;
            let is_idle = delivery.change.is_none();
            if let Some(change) = delivery.change {
                match change.value {
                    Some(value) => entries.put(&change.key, &value, change.revision),
                    None => entries.remove(&change.key),
                }
            }
            if delivery.caught_up.is_some_and(|reached| reached >= report.state.last_revision) {
                let entries = entries.build();
                entries.revisions().for_each(|revision| self.known.remember(revision));
                return Ok(entries);
            }
            if is_idle && delivery.caught_up.is_some() {
                if started.elapsed() > self.api.connection().options().timeout() {
                    return Err(BucketError::unavailable(&*self.name, watch::LAGGING));
                }
                // The consumer has stopped before the last revision: its server is behind the leader, or it waits at a message that was
                // removed after the consumer was created. A new consumer reads everything again.
                consumer = Consumer::start(&self.api, &self.name, LIST_HEARTBEAT).await?;
                entries = EntryList::builder();
            }
        }
    }

    /// Sends a message for a key to the stream, and returns its revision. The server stores it only if the last message of the key has the
    /// revision `expected`; 0 stands for a key without messages.
    async fn send(
        &self,
        key: &str,
        mut headers: HeaderMap,
        value: Bytes,
        expected: u64,
    ) -> Result<u64, JetStreamFailure> {
        headers.insert("Nats-Expected-Last-Subject-Sequence", expected.to_string());
        let subject = format!("{}{}", self.api.connection().options().prefix_of_writes(), self.subject(key));
        self.api.write(subject, headers, value).await
    }

    /// Converts the failure of a write of `size` bytes to the error for the caller. If nobody has answered, it asks for the stream to tell
    /// whether the bucket is missing or has no leader.
    async fn write_error(&self, key: &str, operation: &str, size: usize, failure: JetStreamFailure) -> BucketError {
        if failure.is_wrong_revision() {
            BucketError::conflict(key)
        } else if failure.is_too_large() {
            BucketError::too_large(key, size, self.value_limit().await)
        } else if failure.is_no_responders() {
            // The stream has no leader at the moment, or there is no stream.
            match self.api.report().await {
                Ok(_) => BucketError::unavailable(&*self.name, "it had no leader"),
                Err(failure) => self.error(operation, failure),
            }
        } else {
            self.error(operation, failure)
        }
    }

    /// Returns the largest size of a value in bytes, by the limits of the bucket and of the server, less the space for headers.
    async fn value_limit(&self) -> usize {
        let of_connection = self.api.connection().max_payload().await;
        self.limit.map_or(of_connection, |limit| limit.min(of_connection)).saturating_sub(HEADERS)
    }

    /// Writes a value if the key is in the expected state, and returns the revision. Checks the size before, since the server would refuse
    /// a larger message.
    async fn write(&self, key: &str, value: Vec<u8>, expected: Expected) -> Result<u64, BucketError> {
        check_key(key)?;
        let (size, limit) = (value.len(), self.value_limit().await);
        if size > limit {
            return Err(BucketError::too_large(key, size, limit));
        }
        let value = Bytes::from(value);
        let written = match expected {
            Expected::Revision(revision) => {
                self.check_revision(key, revision).await?;
                self.send(key, headers_of_value(key, self.allows_message_ttl), value, revision).await
            }
            Expected::Absent => return self.create(key, value).await,
        };
        match written {
            Ok(revision) => Ok(self.written(revision)),
            Err(failure) => Err(self.write_error(key, "put", size, failure).await),
        }
    }

    /// Writes the first value of a key, which must have no message, or only a tombstone (the message of a deletion). The first attempt
    /// expects no message; if the server refuses it, the next one expects the tombstone that a read has found.
    async fn create(&self, key: &str, value: Bytes) -> Result<u64, BucketError> {
        let mut expected = 0;
        for _ in 0..CREATION_ATTEMPTS {
            match self.send(key, headers_of_value(key, self.allows_message_ttl), value.clone(), expected).await {
                Ok(revision) => return Ok(self.written(revision)),
                Err(failure) if failure.is_wrong_revision() => {}
                Err(failure) => return Err(self.write_error(key, "put", value.len(), failure).await),
            }
            let last = self.api.last_message(&self.subject(key)).await;
            expected = match last.map_err(|failure| self.error("get", failure))? {
                Some(message) if is_stored_tombstone(&message.hdrs.0) => message.revision,
                Some(_) => return Err(BucketError::conflict(key)),
                None => 0,
            };
        }
        Err(BucketError::conflict(key))
    }

    /// Removes an entry: replaces its messages by a tombstone, the message that marks a key as deleted. Returns the revision of the
    /// tombstone.
    async fn purge(&self, key: &str, revision: u64) -> Result<u64, BucketError> {
        check_key(key)?;
        self.check_revision(key, revision).await?;
        let headers = headers_of_removal(self.allows_message_ttl);
        match self.send(key, headers, Bytes::new(), revision).await {
            Ok(revision) => Ok(revision),
            Err(failure) => Err(self.write_error(key, "remove", 0, failure).await),
        }
    }

    /// Remembers the revision of a written value, and returns it.
    fn written(&self, revision: u64) -> u64 {
        self.known.remember(revision);
        revision
    }

    /// Checks that the expected revision of a write is that of an entry. The server itself compares it with the last message of the key,
    /// but would also accept 0 for a key without messages, and the revision of a tombstone (the message of a deletion). Reads the key,
    /// unless the revision is one of the [known](KnownRevisions) revisions of values.
    ///
    /// # Errors
    /// A conflict for another revision.
    async fn check_revision(&self, key: &str, revision: u64) -> Result<(), BucketError> {
        let matches = revision > 0
            && (self.known.contains(revision) || self.read(key).await?.is_some_and(|entry| entry.revision == revision));
        if matches { Ok(()) } else { Err(BucketError::conflict(key)) }
    }
}

impl Bucket for NatsBucket {
    fn name(&self) -> &str {
        &self.name
    }

    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<BucketEntry>, BucketError>> {
        self.read(key).boxed()
    }

    fn list(&self) -> BoxFuture<'_, Result<EntryList, BucketError>> {
        self.list_all().boxed()
    }

    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, expected: Expected) -> BoxFuture<'a, Result<u64, BucketError>> {
        self.write(key, value, expected).boxed()
    }

    fn remove<'a>(&'a self, key: &'a str, revision: u64) -> BoxFuture<'a, Result<u64, BucketError>> {
        self.purge(key, revision).boxed()
    }

    fn watch(&self) -> BoxStream<'static, Result<BucketEvent, BucketError>> {
        watch::follow(self.api.clone(), Arc::clone(&self.name), self.known.clone())
    }
}

/// Returns the headers of a message with a value of this key.
fn headers_of_value(key: &str, allows_message_ttl: bool) -> HeaderMap {
    let mut headers = HeaderMap::new();
    // The maximum age of the bucket does not apply to claims, which are copies of objects with finalizers in a second entry: a claim must
    // not be removed before its object.
    if allows_message_ttl && key.starts_with(CLAIM_PREFIX) {
        headers.insert(MESSAGE_TTL, NEVER);
    }
    headers
}

/// Returns the headers of a tombstone, the message that removes a key with its history. The server removes the tombstone itself after
/// [`TOMBSTONE_TTL`] if the stream allows that.
fn headers_of_removal(allows_message_ttl: bool) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(OPERATION, PURGE);
    headers.insert("Nats-Rollup", "sub");
    if allows_message_ttl {
        headers.insert(MESSAGE_TTL, TOMBSTONE_TTL);
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_stay_and_the_markers_of_removed_keys_end_where_messages_may_have_a_ttl() {
        let ttl = |headers: HeaderMap| headers.get(MESSAGE_TTL).map(|value| value.as_str().to_owned());
        assert_eq!(ttl(headers_of_value("_claim.default.a", true)).as_deref(), Some("never"));
        assert_eq!(ttl(headers_of_value("default.a", true)), None);
        assert_eq!(ttl(headers_of_removal(true)).as_deref(), Some("24h"));
        // A server refuses the header for other streams.
        assert_eq!(ttl(headers_of_value("_claim.default.a", false)), None);
        assert_eq!(ttl(headers_of_removal(false)), None);
    }
}

//! Watches a NATS bucket: lists its entries, delivers each change, and lists them again whenever a change may have been missed.

use super::{
    backoff,
    consumer::{Consumer, Delivery, KeyChange},
    jetstream::StreamApi,
    known_revisions::KnownRevisions,
    tracked_keys::TrackedKeys,
};
use crate::bucket::{BucketEntry, BucketError, BucketEvent};
use futures::stream::{self, BoxStream, StreamExt as _};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};
use tokio::time::Instant;

/// The message of a read from a server that doesn't get to the revision of the leader in time.
pub(super) const LAGGING: &str = "the server that is read from lags behind the leader of the stream";

/// The time between heartbeats. A consumer whose three last ones are missing is replaced.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// How many starts of a list may end without its last entry before that is an error.
const MAX_RESTARTS: u32 = 3;

/// The time between comparisons with the keys of the stream.
const COMPARISON: Duration = Duration::from_secs(10);

type WatchResult = Result<BucketEvent, BucketError>;

/// Returns the events of a watch of a bucket: a list of its entries, and then each change. The stream does not end; after an error it lists
/// the entries again. Adds the revisions of values to `known`.
pub(super) fn follow(api: StreamApi, bucket: Arc<str>, known: KnownRevisions) -> BoxStream<'static, WatchResult> {
    let watch = BucketWatch { api, bucket, known, queue: VecDeque::new(), reader: None, failures: 0, restarts: 0 };
    let next = |mut watch: BucketWatch| async move { Some((watch.next().await, watch)) };
    stream::unfold(watch, next).boxed()
}

/// A watch of a bucket, which reads with one consumer after the other.
#[derive(Debug)]
struct BucketWatch {
    api: StreamApi,
    bucket: Arc<str>,
    known: KnownRevisions,
    queue: VecDeque<WatchResult>,
    /// `None` before the first list, and after an error.
    reader: Option<BucketReader>,
    /// How many attempts have failed since a list was complete.
    failures: usize,
    /// How often the current list was begun again.
    restarts: u32,
}

/// A list and the changes after it, read from one consumer.
#[derive(Debug)]
struct BucketReader {
    consumer: Consumer,
    tracked: TrackedKeys,
    /// The list, until it is complete.
    list: Option<UnfinishedList>,
    compare_at: Instant,
}

/// A list that is being read.
#[derive(Debug)]
struct UnfinishedList {
    /// The last revision of the leader before the list began.
    until: u64,
    /// Keys that were put in this list and then deleted, with the revision of the deletion.
    deleted: BTreeMap<String, u64>,
}

impl BucketWatch {
    /// Returns the next event or error. After an error, the next call starts a new list, after a backoff.
    async fn next(&mut self) -> WatchResult {
        loop {
            if let Some(item) = self.queue.pop_front() {
                return item;
            }
            // The reader stays empty after an error, so that the next turn starts a new one.
            let reader = match self.reader.take() {
                None => self.start().await,
                Some(reader) => self.read(reader).await,
            };
            match reader {
                Ok(reader) => self.reader = Some(reader),
                Err(error) => {
                    self.failures = self.failures.saturating_add(1);
                    return Err(error);
                }
            }
        }
    }

    /// Starts a consumer and a list of the entries. The list is complete when the consumer has reached the last revision that the leader of
    /// the stream has now.
    async fn start(&mut self) -> Result<BucketReader, BucketError> {
        backoff::wait(self.failures).await;
        let prefix = self.api.connection().options().prefix_of_api();
        let report = self.api.report().await.map_err(|failure| failure.into_error(&self.bucket, "watch", prefix))?;
        self.known.forget();
        let consumer = Consumer::start(&self.api, &self.bucket, HEARTBEAT).await?;
        self.queue.push_back(Ok(BucketEvent::ListStarted));
        let list = UnfinishedList { until: report.state.last_revision, deleted: BTreeMap::new() };
        let mut reader = BucketReader {
            consumer,
            tracked: TrackedKeys::default(),
            list: Some(list),
            compare_at: Instant::now() + COMPARISON,
        };
        if report.state.messages == 0 {
            // The consumer of an empty bucket sends no message that could complete the list.
            self.end_list(&mut reader);
        }
        Ok(reader)
    }

    /// Starts the list again with a new consumer, because the current one has nothing more to send and the list is not complete. Either its
    /// server is behind the leader of the stream, or nats-server waits at a message that was removed after the consumer was created.
    ///
    /// # Errors
    /// The bucket counts as unavailable after [`MAX_RESTARTS`] starts.
    async fn restart_list(&mut self) -> Result<BucketReader, BucketError> {
        self.restarts += 1;
        if self.restarts < MAX_RESTARTS {
            return self.start().await;
        }
        self.restarts = 0;
        Err(BucketError::unavailable(&*self.bucket, LAGGING))
    }

    /// Reads the next message or heartbeat, and queues its event. Ends the list when the consumer has reached its last revision, and after
    /// that compares the keys from time to time.
    async fn read(&mut self, mut reader: BucketReader) -> Result<BucketReader, BucketError> {
        let Delivery { change, caught_up } = reader.consumer.next().await?;
        let is_heartbeat = change.is_none();
        if let Some(change) = change {
            self.handle(&mut reader, change);
        }
        let Some(reached) = caught_up else { return Ok(reader) };
        if let Some(list) = &reader.list {
            if reached >= list.until {
                self.end_list(&mut reader);
            } else if is_heartbeat {
                return self.restart_list().await;
            }
        } else if Instant::now() >= reader.compare_at {
            self.compare(&mut reader, reached).await?;
        }
        Ok(reader)
    }

    /// Queues the event of a change. While a list is read, a removal has no event of its own: if the list has already had the key, the
    /// removal is queued after the end of the list.
    fn handle(&mut self, reader: &mut BucketReader, change: KeyChange) {
        let was_live = reader.tracked.is_live(&change.key);
        reader.tracked.handle(&change);
        let KeyChange { key, revision, value } = change;
        match (value, &mut reader.list) {
            (Some(value), list) => {
                if let Some(list) = list {
                    list.deleted.remove(&key);
                }
                self.known.remember(revision);
                self.queue.push_back(Ok(BucketEvent::Put(BucketEntry::new(key, value, revision))));
            }
            (None, list) => match list {
                Some(list) if was_live => {
                    list.deleted.insert(key, revision);
                }
                Some(_) => {}
                None => self.queue.push_back(Ok(BucketEvent::Removed { key, revision })),
            },
        }
    }

    /// Queues the end of the list, and the removals that happened while it was read.
    fn end_list(&mut self, reader: &mut BucketReader) {
        (self.failures, self.restarts) = (0, 0);
        self.queue.push_back(Ok(BucketEvent::ListEnded));
        let deleted = reader.list.take().map(|list| list.deleted).unwrap_or_default();
        let mut deleted: Vec<_> = deleted.into_iter().collect();
        deleted.sort_unstable_by_key(|(_, revision)| *revision);
        self.queue.extend(deleted.into_iter().map(|(key, revision)| Ok(BucketEvent::Removed { key, revision })));
    }

    /// Compares the keys of the watch with those in the stream, and queues a removal for each key that the server has removed without a
    /// message.
    async fn compare(&mut self, reader: &mut BucketReader, reached: u64) -> Result<(), BucketError> {
        let prefix = format!("$KV.{}.", self.bucket);
        let wait = match reader.tracked.compare(&self.api, &prefix, reached).await {
            Ok(Some(lost)) => {
                let removed = |key| Ok(BucketEvent::Removed { key, revision: lost.revision });
                self.queue.extend(lost.keys.into_iter().map(removed));
                COMPARISON
            }
            Ok(None) => HEARTBEAT,
            Err(failure) if failure.is_no_bucket() => return Err(BucketError::no_bucket(&*self.bucket)),
            Err(failure) => {
                // The failure is not reported: if the bucket can't be read, the consumer fails, too.
                tracing::debug!(bucket = %self.bucket, ?failure, "the keys could not be compared");
                COMPARISON
            }
        };
        reader.compare_at = Instant::now() + wait;
        Ok(())
    }
}

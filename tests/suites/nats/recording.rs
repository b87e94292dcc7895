//! Buckets that record the writes of replicas, so that the messages of a stream can be attributed.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::{FutureExt as _, future::BoxFuture, stream::BoxStream};
use k8s_openapi::jiff::Timestamp;
use opgen::{
    bucket::{Bucket, BucketDefinition, BucketEntry, BucketError, BucketEvent, EntryList, Expected, OpenBuckets},
    nats::NatsBuckets,
};

use crate::barrel::{LEASE, LEASES};

/// The writes of all replicas. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording(Arc<Mutex<Recorded>>);

#[derive(Debug, Default)]
struct Recorded {
    /// The numbers of the replicas of all runs.
    runs: Vec<usize>,
    writes: Vec<RecordedWrite>,
}

/// A write that a replica has sent.
#[derive(Clone, Debug)]
pub(crate) struct RecordedWrite {
    /// The number of the run of an operator, from 0.
    pub(crate) run: usize,
    pub(crate) bucket: String,
    pub(crate) key: String,
    /// The [`digest`] of the value; that of an empty value for a removal.
    pub(crate) digest: u64,
    /// When it was sent, or soon before.
    pub(crate) begun: Timestamp,
    pub(crate) outcome: WriteOutcome,
}

/// What a replica knows of its write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    /// There was no answer: it may have happened, or happen later.
    Unknown,
    /// It made this revision.
    Written(u64),
    /// It did not happen.
    Refused,
}

/// Returns a number that is equal for equal values.
pub(crate) fn digest(value: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Recording {
    /// Returns the buckets of a new run of a replica.
    pub(crate) fn of_new_run(&self, replica: usize, buckets: NatsBuckets) -> RecordedBuckets {
        let mut recorded = self.lock();
        recorded.runs.push(replica);
        RecordedBuckets { inner: buckets, recording: self.clone(), run: recorded.runs.len() - 1 }
    }

    /// Returns the number of the replica that was the last to write the Lease; `None` if none has.
    pub(crate) fn leader(&self) -> Option<usize> {
        let recorded = self.lock();
        let is_of_lease = |write: &&RecordedWrite| {
            let is_written = matches!(write.outcome, WriteOutcome::Written(_));
            is_written && write.bucket == LEASES && write.key.ends_with(LEASE)
        };
        let last = recorded.writes.iter().rev().find(is_of_lease)?;
        recorded.runs.get(last.run).copied()
    }

    pub(crate) fn writes(&self) -> Vec<RecordedWrite> {
        self.lock().writes.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a write without an answer, and returns its index.
    fn begin(&self, run: usize, bucket: &str, key: &str, value: &[u8]) -> usize {
        let write = RecordedWrite {
            run,
            bucket: bucket.to_owned(),
            key: key.to_owned(),
            digest: digest(value),
            begun: Timestamp::now(),
            outcome: WriteOutcome::Unknown,
        };
        let mut recorded = self.lock();
        recorded.writes.push(write);
        recorded.writes.len() - 1
    }

    fn end(&self, index: usize, result: &Result<u64, BucketError>) {
        self.lock().writes[index].outcome = match result {
            Ok(revision) => WriteOutcome::Written(*revision),
            Err(BucketError::Unavailable { .. }) => WriteOutcome::Unknown,
            Err(_) => WriteOutcome::Refused,
        };
    }
}

/// The buckets of one run of an operator.
#[derive(Clone, Debug)]
pub(crate) struct RecordedBuckets {
    inner: NatsBuckets,
    recording: Recording,
    run: usize,
}

impl OpenBuckets for RecordedBuckets {
    fn open<'a>(&'a self, definition: &'a BucketDefinition) -> BoxFuture<'a, Result<Arc<dyn Bucket>, BucketError>> {
        async move {
            let inner = OpenBuckets::open(&self.inner, definition).await?;
            let bucket = RecordedBucket { inner, recording: self.recording.clone(), run: self.run };
            Ok(Arc::new(bucket) as Arc<dyn Bucket>)
        }
        .boxed()
    }
}

#[derive(Debug)]
struct RecordedBucket {
    inner: Arc<dyn Bucket>,
    recording: Recording,
    run: usize,
}

impl Bucket for RecordedBucket {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<BucketEntry>, BucketError>> {
        self.inner.get(key)
    }

    fn list(&self) -> BoxFuture<'_, Result<EntryList, BucketError>> {
        self.inner.list()
    }

    /// If the caller gives up, the outcome stays unknown.
    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, expected: Expected) -> BoxFuture<'a, Result<u64, BucketError>> {
        async move {
            let index = self.recording.begin(self.run, self.name(), key, &value);
            let result = self.inner.put(key, value, expected).await;
            self.recording.end(index, &result);
            result
        }
        .boxed()
    }

    fn remove<'a>(&'a self, key: &'a str, revision: u64) -> BoxFuture<'a, Result<u64, BucketError>> {
        async move {
            let index = self.recording.begin(self.run, self.name(), key, b"");
            let result = self.inner.remove(key, revision).await;
            self.recording.end(index, &result);
            result
        }
        .boxed()
    }

    fn watch(&self) -> BoxStream<'static, Result<BucketEvent, BucketError>> {
        self.inner.watch()
    }
}

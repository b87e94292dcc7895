//! `Client`: calls a bucket under test; each call ends before the deadline of the check.

use std::sync::Arc;

use futures::StreamExt as _;
use opgen::bucket::{Bucket, BucketEntry, BucketError, Expected};

use super::{
    deadline::{CheckResult, Deadline, Obstacle, expect, expect_equal, failed},
    follower::{Follower, keys},
    subject::{BucketDisturbance, SubjectBucket},
};

/// The number of writes of [`Client::fill`] that run at once.
const WRITES_AT_ONCE: usize = 32;

/// A client of a bucket.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) bucket: Arc<dyn Bucket>,
    pub(super) store: Arc<dyn SubjectBucket>,
    pub(super) deadline: Deadline,
}

impl Client {
    /// Connects to a bucket, and returns a client whose calls fail the check if they don't end before the deadline.
    pub(super) async fn connect(store: &Arc<dyn SubjectBucket>, deadline: Deadline) -> CheckResult<Self> {
        let bucket = deadline.within("`connect`", store.connect()).await?;
        let bucket = bucket.map_err(|error| Obstacle::Failed(format!("`connect` fails: {error}")))?;
        Ok(Self { bucket, store: store.clone(), deadline })
    }

    /// Returns another client of the same bucket.
    pub(super) async fn another(&self) -> CheckResult<Self> {
        Self::connect(&self.store, self.deadline).await
    }

    /// Calls `put` of the bucket, and returns its result, also if it is an error. The check fails if the call does not end in time.
    pub(super) async fn try_put(
        &self,
        key: &str,
        value: impl Into<Vec<u8>>,
        expected: Expected,
    ) -> CheckResult<Result<u64, BucketError>> {
        let call = format!("put({:?}, {expected:?})", name(key));
        self.deadline.within(&call, self.bucket.put(key, value.into(), expected)).await
    }

    /// Calls `put`, which must succeed, and returns the revision.
    pub(super) async fn put(&self, key: &str, value: impl Into<Vec<u8>>, expected: Expected) -> CheckResult<u64> {
        succeeds(&format!("put({:?}, {expected:?})", name(key)), self.try_put(key, value, expected).await?)
    }

    /// Writes a key that has no entry.
    pub(super) async fn create(&self, key: &str, value: impl Into<Vec<u8>>) -> CheckResult<u64> {
        self.put(key, value, Expected::Absent).await
    }

    /// Writes a key whose entry has this revision.
    pub(super) async fn replace(&self, key: &str, value: impl Into<Vec<u8>>, revision: u64) -> CheckResult<u64> {
        self.put(key, value, Expected::Revision(revision)).await
    }

    /// Calls `remove` of the bucket, and returns its result, also if it is an error. The check fails if the call does not end in time.
    pub(super) async fn try_remove(&self, key: &str, revision: u64) -> CheckResult<Result<u64, BucketError>> {
        let call = format!("remove({:?}, {revision})", name(key));
        self.deadline.within(&call, self.bucket.remove(key, revision)).await
    }

    /// Calls `remove`, which must succeed, and returns the revision.
    pub(super) async fn remove(&self, key: &str, revision: u64) -> CheckResult<u64> {
        succeeds(&format!("remove({:?}, {revision})", name(key)), self.try_remove(key, revision).await?)
    }

    /// Calls `get`.
    pub(super) async fn try_get(&self, key: &str) -> CheckResult<Result<Option<BucketEntry>, BucketError>> {
        self.deadline.within(&format!("get({:?})", name(key)), self.bucket.get(key)).await
    }

    /// Calls `get`, which must succeed.
    pub(super) async fn get(&self, key: &str) -> CheckResult<Option<BucketEntry>> {
        succeeds(&format!("get({:?})", name(key)), self.try_get(key).await?)
    }

    /// Calls `list`, which must succeed.
    pub(super) async fn list(&self) -> CheckResult<Vec<BucketEntry>> {
        let listed = succeeds("list()", self.deadline.within("list()", self.bucket.list()).await?)?;
        Ok(listed.into_iter().collect())
    }

    /// Starts a watch.
    pub(super) fn follow(&self) -> Follower {
        Follower::new(self.bucket.watch(), self.deadline)
    }

    /// Creates `count` keys that begin with `prefix`, up to 32 at once, and returns their entries in the order of the keys.
    pub(super) async fn fill(&self, prefix: &str, count: usize) -> CheckResult<Vec<BucketEntry>> {
        let writes = (0..count).map(|number| self.create_numbered(prefix, number));
        let results: Vec<CheckResult<BucketEntry>> =
            futures::stream::iter(writes).buffered(WRITES_AT_ONCE).collect().await;
        results.into_iter().collect()
    }

    /// Creates the key `<prefix><number>`, whose number has five digits, and returns its entry.
    async fn create_numbered(&self, prefix: &str, number: usize) -> CheckResult<BucketEntry> {
        let (key, value) = (format!("{prefix}{number:05}"), format!("value {number}"));
        let revision = self.create(&key, value.as_str()).await?;
        Ok(BucketEntry::new(key, value, revision))
    }

    /// Writes a value to a key, with or without an entry, and returns the revision. Repeats the read and the write while one of them fails,
    /// as in an interruption. If the read returns the value, an earlier write that failed was stored, so nothing is left to write.
    pub(super) async fn write_surely(&self, key: &str, value: &str) -> CheckResult<u64> {
        loop {
            if let Ok(entry) = self.try_get(key).await? {
                if let Some(written) = entry.as_ref().filter(|entry| entry.value == value.as_bytes()) {
                    return Ok(written.revision);
                }
                let expected = entry.map_or(Expected::Absent, |entry| Expected::Revision(entry.revision));
                if let Ok(revision) = self.try_put(key, value, expected).await? {
                    return Ok(revision);
                }
            }
            self.pause(&format!("a write of key {key:?}")).await?;
        }
    }

    /// Removes the entry of a key, whatever its revision is. Repeats the read and the removal while one of them fails, as in an
    /// interruption, until the key has no entry.
    pub(super) async fn remove_surely(&self, key: &str) -> CheckResult {
        loop {
            if let Ok(entry) = self.try_get(key).await? {
                let Some(entry) = entry else { return Ok(()) };
                if self.try_remove(key, entry.revision).await?.is_ok() {
                    return Ok(());
                }
            }
            self.pause(&format!("a removal of key {key:?}")).await?;
        }
    }

    /// Lists the entries, and repeats the call while it fails, as in an interruption.
    pub(super) async fn list_surely(&self) -> CheckResult<Vec<BucketEntry>> {
        loop {
            if let Ok(entries) = self.deadline.within("list()", self.bucket.list()).await? {
                return Ok(entries.into_iter().collect());
            }
            self.pause("a list").await?;
        }
    }

    /// Waits before the next try of `what`, which has failed. Fails after the deadline.
    async fn pause(&self, what: &str) -> CheckResult {
        expect(!self.deadline.is_over(), || format!("expected {what} to succeed; each try failed until the deadline"))?;
        self.deadline.pause().await;
        Ok(())
    }

    /// Fails unless the key has this entry, in `get` and in `list`.
    pub(super) async fn expect_entry(&self, key: &str, value: impl Into<Vec<u8>>, revision: u64) -> CheckResult {
        let expected = BucketEntry::new(key, value, revision);
        expect_equal(&format!("get({:?})", name(key)), self.get(key).await?, Some(expected.clone()))?;
        let listed = self.list().await?.into_iter().find(|entry| entry.key == key);
        expect_equal(&format!("key {:?} in list()", name(key)), listed, Some(expected))
    }

    /// Fails if the key has an entry, in `get` or in `list`.
    pub(super) async fn expect_absent(&self, key: &str) -> CheckResult {
        expect_equal(&format!("get({key:?})"), self.get(key).await?, None)?;
        let listed = self.list().await?;
        let has_key = listed.iter().any(|entry| entry.key == key);
        expect(!has_key, || format!("expected list() without key {key:?}; seen {}", keys(&listed)))
    }

    /// Fails unless `put` returns `Conflict` for the key.
    pub(super) async fn expect_put_conflict(&self, key: &str, expected: Expected) -> CheckResult {
        let result = self.try_put(key, "conflicting", expected).await?;
        conflicts(&format!("put({key:?}, {expected:?})"), key, result)
    }

    /// Fails unless `remove` returns `Conflict` for the key.
    pub(super) async fn expect_remove_conflict(&self, key: &str, revision: u64) -> CheckResult {
        let result = self.try_remove(key, revision).await?;
        conflicts(&format!("remove({key:?}, {revision})"), key, result)
    }

    /// Lets the store disturb the bucket, for example by a deletion by another client, or by an interruption of all connections.
    ///
    /// # Errors
    /// [`Obstacle::Unsupported`] if the store has no such disturbance, so that the statement is skipped.
    pub(super) async fn disturb(&self, disturbance: BucketDisturbance) -> CheckResult {
        let name = disturbance.name();
        let call = format!("the disturbance `{name}`");
        match self.deadline.within(&call, self.store.disturb(disturbance)).await? {
            Ok(true) => Ok(()),
            Ok(false) => Err(Obstacle::Unsupported(format!("the subject has no disturbance `{name}`"))),
            Err(error) => failed(format!("{call} fails: {error}")),
        }
    }
}

/// Returns the value of a call that must succeed.
fn succeeds<T>(call: &str, result: Result<T, BucketError>) -> CheckResult<T> {
    result.map_err(|error| Obstacle::Failed(format!("{call}: expected success, seen the error {error:?}")))
}

/// Fails unless the result of a call is `Conflict` for the key.
fn conflicts(call: &str, key: &str, result: Result<u64, BucketError>) -> CheckResult {
    expect_equal(call, result, Err(BucketError::conflict(key)))
}

/// Returns the beginning of a long key.
fn name(key: &str) -> &str {
    const SHOWN: usize = 80;
    key.char_indices().nth(SHOWN).and_then(|(at, _)| key.get(..at)).unwrap_or(key)
}

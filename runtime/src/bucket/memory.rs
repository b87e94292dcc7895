//! `MemoryBucket`: a key-value bucket in the memory of the process, which behaves as a bucket of NATS.

use super::{
    entry::BucketEntry,
    entry_list::EntryList,
    error::BucketError,
    key::check_key,
    store::{Bucket, BucketEvent, Expected},
};
use futures::{
    FutureExt as _, StreamExt as _,
    future::{BoxFuture, ready},
    stream::{self, BoxStream},
};
use parking_lot::Mutex;
use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    ops::Bound,
    sync::Arc,
};
use tokio::sync::watch;

/// The maximum size of a value by default, in bytes: that of a message of NATS.
const DEFAULT_LIMIT: usize = 1024 * 1024;

/// The maximum number of changes that a watch reads at a time.
const MAX_BATCH: usize = 64;

/// A bucket in the memory of the process, which behaves as a NATS key-value bucket. Clones share the entries.
///
/// Tests use it, and the verbs of an operator's program in place of a bucket that does not exist. The raw writes are those of another
/// client, which knows nothing of Kubernetes.
///
/// ```
/// # use opgen::bucket::{Bucket, BucketError, Expected, MemoryBucket};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BucketError> {
/// let bucket = MemoryBucket::new("apps");
/// let revision = bucket.put_raw("shop.web", br#"{"spec": {"replicas": 2}}"#);
/// assert_eq!(bucket.get("shop.web").await?.map(|entry| entry.revision), Some(revision));
/// bucket.put("shop.web", b"{}".to_vec(), Expected::Revision(revision)).await?;
/// assert_eq!(bucket.remove("shop.web", revision).await, Err(BucketError::conflict("shop.web")));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MemoryBucket {
    store: Arc<MemoryStore>,
}

/// The state that the clones of a bucket and its watches share.
struct MemoryStore {
    name: String,
    /// The maximum size of a value in bytes.
    limit: usize,
    writes: Mutex<MemoryWrites>,
    /// Wakes the watches. The value is the number of wakes.
    wake: watch::Sender<u64>,
}

/// The last write of each key.
#[derive(Default)]
struct MemoryWrites {
    keys: BTreeMap<String, KeyWrite>,
    /// The keys by the revisions of their last writes.
    by_revision: BTreeMap<u64, String>,
    /// The revision of the last write.
    last: u64,
    /// The highest revision of a deletion that is forgotten.
    forgotten: u64,
    /// The number of interruptions of the watches.
    interruptions: u64,
}

/// The last write of a key: its value, or a deletion.
struct KeyWrite {
    revision: u64,
    value: Option<Vec<u8>>,
}

impl MemoryBucket {
    /// Returns an empty bucket, whose values have at most 1 MiB.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self::with_limit(name, DEFAULT_LIMIT)
    }

    /// Returns an empty bucket, whose values have at most `limit` bytes.
    #[must_use]
    pub fn with_limit(name: impl Into<String>, limit: usize) -> Self {
        let store = MemoryStore { name: name.into(), limit, writes: Mutex::default(), wake: watch::Sender::new(0) };
        Self { store: Arc::new(store) }
    }

    /// Writes a value without any condition, and returns its revision. It checks neither the key nor the size of the value.
    pub fn put_raw(&self, key: &str, value: impl Into<Vec<u8>>) -> u64 {
        self.write(|writes| writes.write(key, Some(value.into())))
    }

    /// Deletes a key without any condition, and returns the revision of the deletion.
    pub fn delete_raw(&self, key: &str) -> u64 {
        self.write(|writes| writes.write(key, None))
    }

    /// Purges a key without any condition, and returns the revision of the deletion. It does the same as [`delete_raw`](Self::delete_raw),
    /// since a bucket in memory has no history.
    pub fn purge_raw(&self, key: &str) -> u64 {
        self.delete_raw(key)
    }

    /// Interrupts all watches: each delivers [`BucketError::Unavailable`], and lists the entries again.
    pub fn interrupt(&self) {
        self.write(|writes| writes.interruptions += 1);
    }

    /// Forgets the deletions. A watch that has not delivered one of them lists the entries again.
    pub fn compact(&self) {
        self.write(MemoryWrites::forget_deletions);
    }

    /// Calls `change` with the locked writes, wakes all watches, and returns the result of `change`.
    fn write<T>(&self, change: impl FnOnce(&mut MemoryWrites) -> T) -> T {
        let result = change(&mut self.store.writes.lock());
        self.store.wake.send_modify(|wakes| *wakes += 1);
        result
    }

    /// Writes a value, or deletes the key if `value` is `None`, and returns the revision of the write. Does so only if the key is in the
    /// expected state.
    ///
    /// # Errors
    /// A conflict if the key is in another state. Also fails for an invalid key or a too large value.
    fn write_if(&self, key: &str, value: Option<Vec<u8>>, expected: Expected) -> Result<u64, BucketError> {
        check_key(key)?;
        if let Some(size) = value.as_ref().map(Vec::len).filter(|size| *size > self.store.limit) {
            return Err(BucketError::too_large(key, size, self.store.limit));
        }
        self.write(|writes| {
            let is_expected = match (writes.live_revision(key), expected) {
                (None, Expected::Absent) => true,
                (Some(revision), Expected::Revision(expected)) => revision == expected,
                _ => false,
            };
            if is_expected { Ok(writes.write(key, value)) } else { Err(BucketError::conflict(key)) }
        })
    }
}

impl MemoryWrites {
    /// Records a write of a value, or a deletion if `value` is `None`, as the last write of a key. Returns its revision.
    fn write(&mut self, key: &str, value: Option<Vec<u8>>) -> u64 {
        self.last += 1;
        let revision = self.last;
        if let Some(before) = self.keys.insert(key.to_owned(), KeyWrite { revision, value }) {
            self.by_revision.remove(&before.revision);
        }
        self.by_revision.insert(revision, key.to_owned());
        revision
    }

    /// Returns the revision of the live entry with a key; `None` if the key was never written or is deleted.
    fn live_revision(&self, key: &str) -> Option<u64> {
        self.keys.get(key).filter(|write| write.value.is_some()).map(|write| write.revision)
    }

    /// Returns the live entries in the order of their keys.
    fn live_entries(&self) -> impl Iterator<Item = BucketEntry> {
        self.keys.iter().filter_map(|(key, write)| Some(BucketEntry::new(key, write.value.clone()?, write.revision)))
    }

    /// Forgets the keys whose last write is a deletion, and records the highest revision of these deletions.
    fn forget_deletions(&mut self) {
        let Self { keys, by_revision, forgotten, .. } = self;
        keys.retain(|_, write| {
            if write.value.is_none() {
                by_revision.remove(&write.revision);
                *forgotten = write.revision.max(*forgotten);
            }
            write.value.is_some()
        });
    }

    /// Returns the events of the next writes after a revision, at most [`MAX_BATCH`], each with its revision. Only the last write of each
    /// key has an event.
    fn events_after(&self, revision: u64) -> impl Iterator<Item = (u64, BucketEvent)> {
        let later = self.by_revision.range((Bound::Excluded(revision), Bound::Unbounded));
        later.take(MAX_BATCH).filter_map(|(revision, key)| {
            let removed = || BucketEvent::Removed { key: key.clone(), revision: *revision };
            let value = self.keys.get(key)?.value.clone();
            let event = value.map_or_else(removed, |value| BucketEvent::Put(BucketEntry::new(key, value, *revision)));
            Some((*revision, event))
        })
    }
}

impl Bucket for MemoryBucket {
    fn name(&self) -> &str {
        &self.store.name
    }

    /// Returns the live entry of a key; `None` if the key was never written or is deleted.
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<BucketEntry>, BucketError>> {
        let read = || -> Result<Option<BucketEntry>, BucketError> {
            check_key(key)?;
            let writes = self.store.writes.lock();
            let live = |write: &KeyWrite| Some(BucketEntry::new(key, write.value.clone()?, write.revision));
            Ok(writes.keys.get(key).and_then(live))
        };
        ready(read()).boxed()
    }

    fn list(&self) -> BoxFuture<'_, Result<EntryList, BucketError>> {
        let entries = self.store.writes.lock().live_entries().collect();
        ready(Ok(entries)).boxed()
    }

    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, expected: Expected) -> BoxFuture<'a, Result<u64, BucketError>> {
        ready(self.write_if(key, Some(value), expected)).boxed()
    }

    fn remove<'a>(&'a self, key: &'a str, revision: u64) -> BoxFuture<'a, Result<u64, BucketError>> {
        ready(self.write_if(key, None, Expected::Revision(revision))).boxed()
    }

    /// Lists all live entries, and then delivers each later write. Lists again after an interruption and after a missed deletion.
    fn watch(&self) -> BoxStream<'static, Result<BucketEvent, BucketError>> {
        let interruptions = self.store.writes.lock().interruptions;
        let watch = MemoryWatch {
            wake: self.store.wake.subscribe(),
            store: self.store.clone(),
            delivered: None,
            interruptions,
            queue: VecDeque::new(),
        };
        stream::unfold(watch, |mut watch| async move {
            let event = watch.next().await;
            Some((event, watch))
        })
        .boxed()
    }
}

impl fmt::Debug for MemoryBucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBucket").field("name", &self.store.name).finish_non_exhaustive()
    }
}

/// A watch of a bucket.
struct MemoryWatch {
    store: Arc<MemoryStore>,
    wake: watch::Receiver<u64>,
    /// The revision up to which the changes are in the queue or delivered; `None` before the first list.
    delivered: Option<u64>,
    /// The number of interruptions that are in the queue or delivered.
    interruptions: u64,
    queue: VecDeque<Result<BucketEvent, BucketError>>,
}

impl MemoryWatch {
    /// Returns the next event of the watch. Waits for a write if all events are delivered.
    async fn next(&mut self) -> Result<BucketEvent, BucketError> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return event;
            }
            // A write after this line wakes the watch.
            self.wake.mark_unchanged();
            self.queue_events();
            // The channel does not close: `self.store` has its sender.
            if self.queue.is_empty() && self.wake.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Adds the next events to the queue: the error of an interruption, a list of all entries if the watch starts or has missed a deletion,
    /// and otherwise the writes since the last event. Adds nothing if there is no write.
    fn queue_events(&mut self) {
        let writes = self.store.writes.lock();
        if writes.interruptions > self.interruptions {
            self.interruptions = writes.interruptions;
            self.delivered = None;
            self.queue.push_back(Err(BucketError::unavailable(&self.store.name, "the watch was interrupted")));
        }
        let Some(delivered) = self.delivered.filter(|delivered| *delivered >= writes.forgotten) else {
            // The watch has not listed the entries yet, or has not delivered a deletion that is forgotten.
            self.delivered = Some(writes.last);
            self.queue.push_back(Ok(BucketEvent::ListStarted));
            self.queue.extend(writes.live_entries().map(BucketEvent::Put).map(Ok));
            self.queue.push_back(Ok(BucketEvent::ListEnded));
            return;
        };
        for (revision, event) in writes.events_after(delivered) {
            self.delivered = Some(revision);
            self.queue.push_back(Ok(event));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

//! `FlawedLayer`: a layer between an operator and its buckets that makes one mistake, such as ignoring revisions.

use std::{sync::Arc, time::Duration};

use futures::{
    FutureExt as _, StreamExt as _,
    future::{BoxFuture, ready},
    stream::{self, BoxStream},
};
use opgen::bucket::{
    Bucket, BucketDefinition, BucketEntry, BucketError, BucketEvent, EntryList, Expected, OpenBuckets,
};

/// How often a client writes at rest.
const HEARTBEAT: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    None,
    /// It writes entries whatever their revision is.
    WithoutCondition,
    /// It removes no claim.
    KeepsClaims,
    /// Its watches deliver no removal.
    DropsRemovals,
    /// Its watches deliver the first list only.
    DropsChanges,
    /// Its watches deliver no list after an error.
    ListsOnce,
    /// The lists of its watches lack the entries of the unit and the line.
    ListsIncompletely,
    /// It writes an entry of its own from time to time.
    WritesAtRest,
    /// It takes a read without an answer for one of a key without an entry.
    MissesWithoutAnswer,
    /// It deletes the entries that are not JSON.
    DeletesInvalid,
    /// It writes each entry again when it opens a bucket.
    WritesAgain,
    /// It keeps a copy of each value that it writes.
    KeepsCopies,
}

#[derive(Debug)]
pub struct FlawedLayer {
    buckets: Arc<dyn OpenBuckets>,
    mistake: Mistake,
}

impl FlawedLayer {
    pub fn new(buckets: Arc<dyn OpenBuckets>, mistake: Mistake) -> Self {
        Self { buckets, mistake }
    }
}

impl OpenBuckets for FlawedLayer {
    fn open<'a>(&'a self, definition: &'a BucketDefinition) -> BoxFuture<'a, Result<Arc<dyn Bucket>, BucketError>> {
        async move {
            let bucket = self.buckets.open(definition).await?;
            match self.mistake {
                Mistake::DeletesInvalid => delete_invalid(&*bucket).await?,
                Mistake::WritesAgain => write_again(&*bucket).await?,
                Mistake::WritesAtRest => drop(tokio::spawn(write_at_rest(bucket.clone()))),
                _ => {}
            }
            let flawed: Arc<dyn Bucket> = Arc::new(FlawedLayerBucket { bucket, mistake: self.mistake });
            Ok(flawed)
        }
        .boxed()
    }
}

async fn delete_invalid(bucket: &dyn Bucket) -> Result<(), BucketError> {
    for entry in bucket.list().await? {
        if serde_json::from_slice::<serde_json::Value>(&entry.value).is_err() {
            bucket.remove(&entry.key, entry.revision).await?;
        }
    }
    Ok(())
}

async fn write_again(bucket: &dyn Bucket) -> Result<(), BucketError> {
    for entry in bucket.list().await? {
        bucket.put(&entry.key, entry.value, Expected::Revision(entry.revision)).await?;
    }
    Ok(())
}

/// Writes until the process ends.
async fn write_at_rest(bucket: Arc<dyn Bucket>) {
    let mut times = tokio::time::interval(HEARTBEAT);
    loop {
        times.tick().await;
        let Ok(entry) = bucket.get("heartbeat").await else { continue };
        let expected = entry.map_or(Expected::Absent, |entry| Expected::Revision(entry.revision));
        drop(bucket.put("heartbeat", b"alive".to_vec(), expected).await);
    }
}

#[derive(Clone, Debug)]
struct FlawedLayerBucket {
    bucket: Arc<dyn Bucket>,
    mistake: Mistake,
}

impl FlawedLayerBucket {
    /// Returns the state that a key is in.
    async fn current(&self, key: &str) -> Result<Expected, BucketError> {
        let entry = self.bucket.get(key).await?;
        Ok(entry.map_or(Expected::Absent, |entry| Expected::Revision(entry.revision)))
    }
}

impl Bucket for FlawedLayerBucket {
    fn name(&self) -> &str {
        self.bucket.name()
    }

    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<BucketEntry>, BucketError>> {
        async move {
            match self.bucket.get(key).await {
                Err(BucketError::Unavailable { .. }) if self.mistake == Mistake::MissesWithoutAnswer => Ok(None),
                result => result,
            }
        }
        .boxed()
    }

    fn list(&self) -> BoxFuture<'_, Result<EntryList, BucketError>> {
        self.bucket.list()
    }

    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, expected: Expected) -> BoxFuture<'a, Result<u64, BucketError>> {
        async move {
            let copy = format!("_copy.{key}");
            match self.mistake {
                Mistake::WithoutCondition => {
                    let current = self.current(key).await?;
                    self.bucket.put(key, value, current).await
                }
                Mistake::KeepsCopies => {
                    let current = self.current(&copy).await?;
                    self.bucket.put(&copy, value.clone(), current).await?;
                    self.bucket.put(key, value, expected).await
                }
                _ => self.bucket.put(key, value, expected).await,
            }
        }
        .boxed()
    }

    fn remove<'a>(&'a self, key: &'a str, revision: u64) -> BoxFuture<'a, Result<u64, BucketError>> {
        if self.mistake == Mistake::KeepsClaims && key.starts_with("_claim.") {
            return ready(Ok(revision + 1)).boxed();
        }
        self.bucket.remove(key, revision)
    }

    fn watch(&self) -> BoxStream<'static, Result<BucketEvent, BucketError>> {
        let watch =
            FlawedLayerWatch { events: self.bucket.watch(), mistake: self.mistake, lists: 0, is_listing: false };
        stream::unfold(watch, |mut watch| async move {
            let event = watch.next().await?;
            Some((event, watch))
        })
        .boxed()
    }
}

struct FlawedLayerWatch {
    events: BoxStream<'static, Result<BucketEvent, BucketError>>,
    mistake: Mistake,
    /// The number of lists that have begun.
    lists: u32,
    is_listing: bool,
}

impl FlawedLayerWatch {
    async fn next(&mut self) -> Option<Result<BucketEvent, BucketError>> {
        loop {
            let event = self.events.next().await?;
            let (lists, was_listing) = (self.lists, self.is_listing);
            match &event {
                Ok(BucketEvent::ListStarted) => (self.lists, self.is_listing) = (lists + 1, true),
                Ok(BucketEvent::ListEnded) => self.is_listing = false,
                _ => {}
            }
            let is_list = was_listing || self.is_listing;
            let is_dropped = match (self.mistake, &event) {
                (Mistake::DropsRemovals, Ok(BucketEvent::Removed { .. })) => true,
                (Mistake::DropsChanges, Ok(_)) => !is_list,
                (Mistake::ListsOnce, Ok(_)) => is_list && self.lists > 1,
                (Mistake::ListsOnce, Err(_)) => true,
                (Mistake::ListsIncompletely, Ok(BucketEvent::Put(entry))) => is_list && entry.key == "default.one",
                _ => false,
            };
            if !is_dropped {
                return Some(event);
            }
        }
    }
}

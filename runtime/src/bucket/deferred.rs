//! `DeferredBucket`: a bucket that is not open at first; its calls fail until it is opened.

use super::{
    entry::BucketEntry,
    entry_list::EntryList,
    error::BucketError,
    store::{Bucket, BucketEvent, Expected},
};
use futures::{
    FutureExt as _, StreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use std::{future::ready, sync::Arc};
use tokio::sync::watch;

/// The opened bucket, or the error of the last attempt to open it.
type Opened = Result<Arc<dyn Bucket>, BucketError>;

/// A bucket that another part of the process opens. Until then, its calls fail with the error of the last attempt.
#[derive(Debug)]
pub(crate) struct DeferredBucket {
    name: String,
    opened: watch::Receiver<Opened>,
}

/// Opens a [`DeferredBucket`].
#[derive(Debug)]
pub(crate) struct BucketOpener(watch::Sender<Opened>);

impl DeferredBucket {
    /// Returns a bucket of this name that could not be opened because of `error`, and the opener that opens it later.
    pub(crate) fn new(name: impl Into<String>, error: BucketError) -> (Self, BucketOpener) {
        let (opener, opened) = watch::channel(Err(error));
        (Self { name: name.into(), opened }, BucketOpener(opener))
    }

    /// Returns the opened bucket itself if it is open by now, and otherwise this deferred bucket.
    pub(crate) fn into_opened(self) -> Arc<dyn Bucket> {
        match self.bucket() {
            Ok(opened) => opened,
            Err(_) => Arc::new(self),
        }
    }

    /// Returns the opened bucket, or the error of the last attempt to open it.
    fn bucket(&self) -> Opened {
        self.opened.borrow().clone()
    }
}

impl BucketOpener {
    /// Passes all further calls to this bucket.
    pub(crate) fn open(&self, bucket: Arc<dyn Bucket>) {
        drop(self.0.send_replace(Ok(bucket)));
    }

    /// Sets the error of further calls.
    pub(crate) fn fail(&self, error: BucketError) {
        drop(self.0.send_replace(Err(error)));
    }
}

impl Bucket for DeferredBucket {
    fn name(&self) -> &str {
        &self.name
    }

    /// Reads from the opened bucket, or fails with the error of the last attempt to open it.
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<BucketEntry>, BucketError>> {
        async move {
            let bucket = self.bucket()?;
            bucket.get(key).await
        }
        .boxed()
    }

    /// Lists the opened bucket, or fails with the error of the last attempt to open it.
    fn list(&self) -> BoxFuture<'_, Result<EntryList, BucketError>> {
        async move {
            let bucket = self.bucket()?;
            bucket.list().await
        }
        .boxed()
    }

    /// Writes to the opened bucket, or fails with the error of the last attempt to open it.
    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, expected: Expected) -> BoxFuture<'a, Result<u64, BucketError>> {
        async move {
            let bucket = self.bucket()?;
            bucket.put(key, value, expected).await
        }
        .boxed()
    }

    /// Removes from the opened bucket, or fails with the error of the last attempt to open it.
    fn remove<'a>(&'a self, key: &'a str, revision: u64) -> BoxFuture<'a, Result<u64, BucketError>> {
        async move {
            let bucket = self.bucket()?;
            bucket.remove(key, revision).await
        }
        .boxed()
    }

    /// Delivers the error of each failed attempt to open the bucket, and then the events of the opened bucket. The watch does not end while
    /// the bucket is not open.
    fn watch(&self) -> BoxStream<'static, Result<BucketEvent, BucketError>> {
        let mut opened = self.opened.clone();
        // The first turn reads the current state.
        opened.mark_changed();
        let attempts = stream::unfold(Some(opened), |opened| async move {
            let mut opened = opened?;
            if opened.changed().await.is_err() {
                // The opener is dropped because the operator stops: the watch waits until it is dropped, too.
                std::future::pending::<()>().await;
            }
            let current = opened.borrow_and_update().clone();
            Some(match current {
                Ok(bucket) => (bucket.watch(), None),
                Err(error) => (stream::once(ready(Err(error))).boxed(), Some(opened)),
            })
        });
        attempts.flatten().boxed()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::bucket::MemoryBucket;

    #[tokio::test]
    async fn calls_fail_until_the_bucket_is_open() {
        let error = BucketError::no_bucket("pumps");
        let (bucket, opener) = DeferredBucket::new("pumps", error.clone());
        assert_eq!(bucket.name(), "pumps");
        assert_eq!(bucket.list().await, Err(error.clone()));
        assert_eq!(bucket.put("a", Vec::new(), Expected::Absent).await, Err(error.clone()));
        let later = BucketError::unavailable("pumps", "no answer");
        opener.fail(later.clone());
        assert_eq!(bucket.get("a").await, Err(later.clone()));
        assert_eq!(bucket.remove("a", 1).await, Err(later));
        opener.open(Arc::new(MemoryBucket::new("pumps")));
        let revision = bucket.put("a", Vec::new(), Expected::Absent).await.unwrap();
        assert_eq!(bucket.get("a").await.unwrap().unwrap().revision, revision);
        assert!(bucket.remove("a", revision).await.is_ok());
        assert_eq!(bucket.list().await, Ok(EntryList::default()));
    }

    #[tokio::test]
    async fn a_bucket_that_is_opened_at_once_is_the_opened_one() {
        let error = BucketError::no_bucket("pumps");
        let (unopened, _opener) = DeferredBucket::new("pumps", error.clone());
        assert_eq!(unopened.into_opened().list().await, Err(error.clone()));
        let (deferred, opener) = DeferredBucket::new("pumps", error);
        opener.open(Arc::new(MemoryBucket::new("pumps-7")));
        assert_eq!(deferred.into_opened().name(), "pumps-7");
    }

    #[tokio::test]
    async fn a_watch_has_the_errors_and_then_the_entries() {
        let [first, second] = ["no answer", "wrong settings"].map(|text| BucketError::unavailable("pumps", text));
        let (bucket, opener) = DeferredBucket::new("pumps", first.clone());
        let mut events = bucket.watch();
        assert_eq!(events.next().await, Some(Err(first)));
        assert_eq!(events.next().now_or_never(), None);
        opener.fail(second.clone());
        assert_eq!(events.next().await, Some(Err(second)));
        let opened = MemoryBucket::new("pumps");
        opener.open(Arc::new(opened.clone()));
        assert_eq!(events.next().await, Some(Ok(BucketEvent::ListStarted)));
        assert_eq!(events.next().await, Some(Ok(BucketEvent::ListEnded)));
        opened.put("a", Vec::new(), Expected::Absent).await.unwrap();
        assert!(matches!(events.next().await, Some(Ok(BucketEvent::Put(_)))));
        // A watch that begins now has no error.
        assert_eq!(bucket.watch().next().await, Some(Ok(BucketEvent::ListStarted)));
    }

    #[tokio::test]
    async fn a_watch_of_a_bucket_that_nobody_opens_does_not_end() {
        let (bucket, opener) = DeferredBucket::new("pumps", BucketError::no_bucket("pumps"));
        let mut events = bucket.watch();
        assert!(events.next().await.is_some());
        drop(opener);
        assert_eq!(events.next().now_or_never(), None);
    }
}

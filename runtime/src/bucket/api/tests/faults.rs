//! Tests the API over a bucket whose calls fail or return outdated answers.

use super::harness::{APPS, FINALIZER, Harness, WEB, definition, environment, kind, web};
use crate::bucket::{
    Bucket, BucketEntry, BucketError, BucketEvent, EntryList, Expected, MemoryBucket,
    api::{BucketApi, BucketKind},
};
use futures::{
    FutureExt as _, StreamExt as _,
    future::{BoxFuture, ready},
    stream::{self, BoxStream},
};
use parking_lot::Mutex;
use serde_json::json;
use std::sync::Arc;

const CLAIM: &str = "_claim.shop.web";

/// A bucket with faults.
#[derive(Clone, Debug)]
struct FaultyBucket {
    bucket: MemoryBucket,
    faults: Arc<Mutex<Faults>>,
}

/// The faults of the next calls. Each happens once.
#[derive(Debug, Default)]
struct Faults {
    /// The answer to the next read of its key.
    old_entry: Option<BucketEntry>,
    /// The key whose next removal fails, and the error.
    removal: Option<(String, BucketError)>,
    /// What the next watch delivers in place of entries.
    watch: Option<BucketError>,
}

impl Bucket for FaultyBucket {
    fn name(&self) -> &str {
        self.bucket.name()
    }

    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<BucketEntry>, BucketError>> {
        match self.faults.lock().old_entry.take_if(|entry| entry.key == key) {
            Some(entry) => ready(Ok(Some(entry))).boxed(),
            None => self.bucket.get(key),
        }
    }

    fn list(&self) -> BoxFuture<'_, Result<EntryList, BucketError>> {
        self.bucket.list()
    }

    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, expected: Expected) -> BoxFuture<'a, Result<u64, BucketError>> {
        self.bucket.put(key, value, expected)
    }

    fn remove<'a>(&'a self, key: &'a str, revision: u64) -> BoxFuture<'a, Result<u64, BucketError>> {
        match self.faults.lock().removal.take_if(|(failing, _)| failing == key) {
            Some((_, error)) => ready(Err(error)).boxed(),
            None => self.bucket.remove(key, revision),
        }
    }

    fn watch(&self) -> BoxStream<'static, Result<BucketEvent, BucketError>> {
        match self.faults.lock().watch.take() {
            Some(error) => stream::once(ready(Err(error))).chain(stream::pending()).boxed(),
            None => self.bucket.watch(),
        }
    }
}

/// Returns an API over a bucket without entries, and the faults of the bucket.
fn faulty() -> (Harness, Arc<Mutex<Faults>>) {
    let (bucket, faults) = (MemoryBucket::new("apps"), Arc::<Mutex<Faults>>::default());
    let faulty = FaultyBucket { bucket: bucket.clone(), faults: faults.clone() };
    let kind = BucketKind::defined(kind(), Arc::new(faulty), &definition());
    (Harness { bucket, api: BucketApi::new(vec![kind], environment(1)) }, faults)
}

#[tokio::test]
async fn an_old_answer_does_not_end_the_object_that_came_later() {
    let (harness, faults) = faulty();
    harness.create(&web(json!({"image": "old"}))).await;
    let old = harness.bucket.get("shop.web").await.unwrap();
    harness.delete(WEB).await;
    harness.create(&web(json!({"image": "new"}))).await;
    let new = harness.set_finalizers(&[FINALIZER]).await;
    faults.lock().old_entry = old;
    assert_eq!(harness.web().await, new);
    assert!(faults.lock().old_entry.is_none());
}

#[tokio::test]
async fn a_deletion_that_only_the_claim_has_goes_on_after_a_failure() {
    let (harness, faults) = faulty();
    harness.create(&web(json!({"image": "a"}))).await;
    harness.set_finalizers(&[FINALIZER]).await;
    let copy = harness.stored("shop.web").await;
    harness.delete(WEB).await;
    harness.bucket.put_raw("shop.web", copy.to_string());
    faults.lock().removal = Some(("shop.web".to_owned(), BucketError::unavailable("apps", "no answer")));
    let without = json!({"metadata": {"finalizers": []}});
    assert_eq!(harness.merge(WEB, without.clone()).await.0, 503);
    assert!(harness.web().await["metadata"]["deletionTimestamp"].is_string(), "it does not live again");
    assert_eq!(harness.merge(WEB, without).await.0, 200);
    assert_eq!(harness.get(WEB).await.0, 404);
}

#[tokio::test]
async fn a_write_that_leaves_its_claim_is_tried_again() {
    for (error, code) in [(BucketError::conflict(CLAIM), 200), (BucketError::unavailable("apps", "no answer"), 503)] {
        let (harness, faults) = faulty();
        harness.create(&web(json!({"image": "a"}))).await;
        harness.set_finalizers(&[FINALIZER]).await;
        faults.lock().removal = Some((CLAIM.to_owned(), error));
        let without = json!({"metadata": {"finalizers": []}});
        assert_eq!(harness.merge(WEB, without.clone()).await.0, code);
        assert!(faults.lock().removal.is_none());
        assert_eq!(harness.merge(WEB, without).await.0, 200);
        assert_eq!(harness.revision(CLAIM).await, None);
        harness.bucket.purge_raw("shop.web");
        assert_eq!(harness.get(WEB).await.0, 404, "no claim shows it again");
    }
}

#[tokio::test]
async fn a_bucket_that_may_not_be_watched_is_named_as_forbidden() {
    let (harness, faults) = faulty();
    faults.lock().watch = Some(BucketError::forbidden("apps", "watch", "no subject"));
    for uri in [APPS.to_owned(), format!("{APPS}?watch=true")] {
        let (code, status) = harness.get(&uri).await;
        assert_eq!((code, &status["reason"]), (403, &json!("Forbidden")), "{uri}: {status}");
        assert!(status["message"].as_str().unwrap().contains("no permission for watch"), "{status}");
    }
}

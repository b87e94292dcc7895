//! `FaultyBuckets`: opens buckets (key-value stores) for the operator whose calls and watches have the faults of the test run's schedule.

use std::{fmt, sync::Arc, time::Duration};

use futures::{
    FutureExt as _, StreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use opgen::bucket::{
    Bucket, BucketDefinition, BucketEntry, BucketError, BucketEvent, EntryList, Expected, MemoryBucket, OpenBuckets,
};
use opgen_sandbox::fault::{EventFault, NoAnswer, OpenStoreCall, StoreCalls};

use super::{bucket_stores::BucketStores, write_log::WriteLog};

/// The time until a watch lists again after an error.
const WATCH_RETRY: Duration = Duration::from_secs(1);

/// Opens the buckets of a run for one process of the program.
pub(super) struct FaultyBuckets {
    stores: BucketStores,
    calls: StoreCalls,
    log: WriteLog,
    /// The user in the log of writes.
    user: String,
}

impl FaultyBuckets {
    pub(super) fn new(stores: BucketStores, calls: StoreCalls, log: WriteLog, user: String) -> Self {
        Self { stores, calls, log, user }
    }
}

impl OpenBuckets for FaultyBuckets {
    /// Opens the bucket of the run with the name in the definition, with faults in its calls. Never fails.
    fn open<'a>(&'a self, definition: &'a BucketDefinition) -> BoxFuture<'a, Result<Arc<dyn Bucket>, BucketError>> {
        let bucket: Arc<dyn Bucket> = Arc::new(FaultyBucket {
            bucket: self.stores.bucket(&definition.name),
            calls: self.calls.clone(),
            log: self.log.clone(),
            user: self.user.clone(),
        });
        async move { Ok(bucket) }.boxed()
    }
}

impl fmt::Debug for FaultyBuckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyBuckets").field("calls", &self.calls).finish_non_exhaustive()
    }
}

/// A bucket whose calls are numbered with those to the API server, and have their faults.
#[derive(Clone)]
struct FaultyBucket {
    bucket: MemoryBucket,
    calls: StoreCalls,
    log: WriteLog,
    user: String,
}

impl FaultyBucket {
    /// Returns the target of a call, for the timeline: the name of the bucket, with the key behind a slash.
    fn target(&self, key: &str) -> String {
        let name = self.bucket.name();
        if key.is_empty() { name.to_owned() } else { format!("{name}/{key}") }
    }

    /// Returns the error for a call without an answer.
    fn unavailable(&self, _: NoAnswer) -> BucketError {
        BucketError::unavailable(self.bucket.name(), "the trial injected a fault")
    }

    /// Begins a call to the bucket: numbers and records it, and injects its faults, by which it may wait or fail.
    async fn begin(&self, method: &str, key: &str) -> Result<OpenStoreCall, BucketError> {
        self.calls.begin(method, self.target(key)).await.map_err(|error| self.unavailable(error))
    }

    /// Ends a call and returns its result, or an error if an injected fault loses the result of the executed call.
    async fn end<T: Send>(&self, call: OpenStoreCall, result: Result<T, BucketError>) -> Result<T, BucketError> {
        let code = result.as_ref().map_or_else(code_of, |_| 200);
        call.end(code).await.map_err(|error| self.unavailable(error))?;
        result
    }

    /// Makes the call `write` with its faults, and logs it. If the fault is a conflict, another client writes the key first, so that the
    /// write fails by its expected revision.
    async fn write(
        &self,
        method: &str,
        key: &str,
        write: BoxFuture<'_, Result<u64, BucketError>>,
    ) -> Result<u64, BucketError> {
        let call = self.begin(method, key).await?;
        let has_conflict = call.has_conflict();
        // A key without a value can't be written again, so the conflict is returned directly.
        let result = if has_conflict && !self.write_as_another_client(key).await {
            Err(BucketError::conflict(key))
        } else {
            write.await
        };
        let (code, message) = match &result {
            Ok(_) => (200, String::new()),
            Err(error) => (code_of(error), error.to_string()),
        };
        self.log.record_write(format!("{method} {}", self.target(key)), &self.user, code, message);
        self.end(call, result).await
    }

    /// Writes the current value of a key again, as another client that writes between a read and a write of the program. Returns `false`,
    /// and writes nothing, if the key has no value.
    async fn write_as_another_client(&self, key: &str) -> bool {
        let Ok(Some(entry)) = self.bucket.get(key).await else { return false };
        self.bucket.put_raw(key, entry.value);
        true
    }
}

/// Returns the HTTP status code that stands for an error of a bucket in the timeline.
fn code_of(error: &BucketError) -> u16 {
    match error {
        BucketError::Conflict { .. } => 409,
        BucketError::InvalidKey { .. } => 422,
        BucketError::TooLarge { .. } => 413,
        BucketError::Forbidden { .. } => 403,
        BucketError::NoBucket { .. } => 404,
        _ => 503,
    }
}

impl Bucket for FaultyBucket {
    fn name(&self) -> &str {
        self.bucket.name()
    }

    /// Reads an entry, as a numbered call with its faults.
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<BucketEntry>, BucketError>> {
        async move {
            let call = self.begin("get", key).await?;
            let result = self.bucket.get(key).await;
            self.end(call, result).await
        }
        .boxed()
    }

    /// Lists the entries, as a numbered call with its faults.
    fn list(&self) -> BoxFuture<'_, Result<EntryList, BucketError>> {
        async move {
            let call = self.begin("list", "").await?;
            let result = self.bucket.list().await;
            self.end(call, result).await
        }
        .boxed()
    }

    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, expected: Expected) -> BoxFuture<'a, Result<u64, BucketError>> {
        let write = async move { self.bucket.put(key, value, expected).await }.boxed();
        self.write("put", key, write).boxed()
    }

    fn remove<'a>(&'a self, key: &'a str, revision: u64) -> BoxFuture<'a, Result<u64, BucketError>> {
        let write = async move { self.bucket.remove(key, revision).await }.boxed();
        self.write("remove", key, write).boxed()
    }

    /// Returns a stream that lists and then watches the bucket with faults, and begins again after each error. It never ends.
    fn watch(&self) -> BoxStream<'static, Result<BucketEvent, BucketError>> {
        let watch = FaultyWatch { bucket: self.clone(), events: None, call: 0, has_list: false };
        stream::unfold(watch, |mut watch| async move {
            let event = watch.next().await;
            Some((event, watch))
        })
        .boxed()
    }
}

impl fmt::Debug for FaultyBucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyBucket").field("bucket", &self.bucket).finish_non_exhaustive()
    }
}

/// A watch whose changes have the faults of a schedule.
struct FaultyWatch {
    bucket: FaultyBucket,
    /// The events of the bucket; `None` before they are watched, and after an error.
    events: Option<BoxStream<'static, Result<BucketEvent, BucketError>>>,
    /// The number of the call that began the watch.
    call: u64,
    /// Whether the list is complete, so that the next events are changes.
    has_list: bool,
}

impl FaultyWatch {
    /// Returns the next event, or an error after which the watch lists again. Delays or loses an event that has such a fault. Never returns
    /// once the process of the client has been stopped.
    async fn next(&mut self) -> Result<BucketEvent, BucketError> {
        loop {
            self.bucket.calls.wait_if_ended().await;
            let Some(events) = &mut self.events else {
                self.begin().await?;
                continue;
            };
            let Some(event) = events.next().await else {
                self.events = None;
                continue;
            };
            self.bucket.calls.wait_if_ended().await;
            let event = event?;
            match self.fault_of(&event) {
                Some(EventFault::Delay { seconds }) => {
                    self.bucket.calls.delay(Duration::from_secs(seconds.into())).await;
                }
                // A store delivers no change twice, so this fault has no effect.
                None | Some(EventFault::Duplicate) => {}
                // A client of a store notices a lost change or connection: it gets an error, and lists again.
                Some(_) => {
                    self.events = None;
                    return Err(BucketError::unavailable(self.bucket.bucket.name(), "the watch lost its connection"));
                }
            }
            return Ok(event);
        }
    }

    /// Begins to watch the bucket as a numbered call with its faults; after a pause if it is not the first attempt.
    async fn begin(&mut self) -> Result<(), BucketError> {
        if self.call > 0 {
            self.bucket.calls.delay(WATCH_RETRY).await;
        }
        // Marks the first attempt, so that a pause comes before the next one if the call fails.
        self.call = self.call.max(1);
        let call = self.bucket.begin("watch", "").await?;
        self.call = call.number();
        let events = self.bucket.bucket.watch();
        self.bucket.end(call, Ok(())).await?;
        (self.events, self.has_list) = (Some(events), false);
        Ok(())
    }

    /// Records a change that the watch delivers, and returns its fault; `None` for a change without a fault, and for the entries and marks
    /// of a list, which are not recorded.
    fn fault_of(&mut self, event: &BucketEvent) -> Option<EventFault> {
        let (type_, key, revision) = match event {
            BucketEvent::ListStarted => {
                self.has_list = false;
                return None;
            }
            BucketEvent::ListEnded => {
                self.has_list = true;
                return None;
            }
            BucketEvent::Put(entry) => ("PUT", entry.key.as_str(), entry.revision),
            BucketEvent::Removed { key, revision } => ("REMOVED", key.as_str(), *revision),
            _ => return None,
        };
        if !self.has_list {
            return None;
        }
        self.bucket.calls.record_event(self.call, type_, (self.bucket.bucket.name(), key), revision)
    }
}

#[cfg(test)]
mod tests {
    use opgen_sandbox::{
        Sandbox, User,
        fault::{Fault, Faults},
    };

    use super::*;

    /// Returns a bucket, and the same bucket with faults in its calls, for the first process of a client.
    fn buckets(faults: &Faults) -> (MemoryBucket, FaultyBucket) {
        let bucket = MemoryBucket::new("units");
        // A client begins the first life, as the start of a process does.
        drop(Sandbox::new().client_through(User::admin("admin"), faults));
        let log = WriteLog::new();
        let faulty =
            FaultyBucket { bucket: bucket.clone(), calls: faults.store_calls(), log, user: "somebody".to_owned() };
        (bucket, faulty)
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_without_an_answer_is_executed_or_not() {
        let faults = Faults::none().at_call(1, Fault::CutBefore).at_call(2, Fault::CutAfter);
        let (bucket, faulty) = buckets(&faults);
        let put = || faulty.put("shop.web", b"{}".to_vec(), Expected::Absent);
        assert!(matches!(put().await, Err(BucketError::Unavailable { .. })));
        assert_eq!(bucket.get("shop.web").await, Ok(None));
        assert!(matches!(put().await, Err(BucketError::Unavailable { .. })));
        assert!(bucket.get("shop.web").await.is_ok_and(|entry| entry.is_some()));
        assert_eq!(put().await, Err(BucketError::conflict("shop.web")));
    }

    #[tokio::test(start_paused = true)]
    async fn a_conflict_is_a_write_of_another_client() {
        let faults = Faults::none().at_call(1, Fault::Refuse { code: 409, retry_after: None });
        let (bucket, faulty) = buckets(&faults);
        let revision = bucket.put_raw("shop.web", b"{}");
        let put = faulty.put("shop.web", b"[]".to_vec(), Expected::Revision(revision)).await;
        assert_eq!(put, Err(BucketError::conflict("shop.web")));
        assert_eq!(bucket.get("shop.web").await, Ok(Some(BucketEntry::new("shop.web", "{}", revision + 1))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_event_is_an_error_and_a_new_list() {
        let faults = Faults::none().at_event(1, EventFault::Lose);
        let (bucket, faulty) = buckets(&faults);
        let mut events = faulty.watch();
        assert_eq!(events.next().await, Some(Ok(BucketEvent::ListStarted)));
        assert_eq!(events.next().await, Some(Ok(BucketEvent::ListEnded)));
        let revision = bucket.put_raw("shop.web", b"{}");
        assert!(matches!(events.next().await, Some(Err(BucketError::Unavailable { .. }))));
        assert_eq!(events.next().await, Some(Ok(BucketEvent::ListStarted)));
        let entry = BucketEntry::new("shop.web", "{}", revision);
        assert_eq!(events.next().await, Some(Ok(BucketEvent::Put(entry))));
    }
}

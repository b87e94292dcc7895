//! `FlawedBucket`: a bucket in memory with a planted mistake.

use std::{fmt, sync::Arc};

use futures::{FutureExt as _, future::BoxFuture, stream::BoxStream};
use opgen::bucket::{Bucket, BucketEntry, BucketError, BucketEvent, EntryList, Expected, MemoryBucket};

use crate::{flawed_watch, mistake::Mistake, notes::SharedNotes};

pub(crate) struct FlawedBucket {
    pub(crate) mistake: Mistake,
    pub(crate) memory: MemoryBucket,
    /// The number of the client.
    pub(crate) client: u64,
    pub(crate) notes: SharedNotes,
    /// Ends with the client.
    pub(crate) life: Arc<()>,
}

impl FlawedBucket {
    pub(crate) fn new(mistake: Mistake, memory: MemoryBucket, client: u64, notes: SharedNotes) -> Self {
        Self { mistake, memory, client, notes, life: Arc::new(()) }
    }
}

impl Bucket for FlawedBucket {
    fn name(&self) -> &str {
        if self.mistake == Mistake::HasNoName { " " } else { self.memory.name() }
    }

    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<BucketEntry>, BucketError>> {
        self.read(key).boxed()
    }

    fn list(&self) -> BoxFuture<'_, Result<EntryList, BucketError>> {
        self.read_all().boxed()
    }

    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, expected: Expected) -> BoxFuture<'a, Result<u64, BucketError>> {
        self.write(key, value, expected).boxed()
    }

    fn remove<'a>(&'a self, key: &'a str, revision: u64) -> BoxFuture<'a, Result<u64, BucketError>> {
        self.erase(key, revision).boxed()
    }

    fn watch(&self) -> BoxStream<'static, Result<BucketEvent, BucketError>> {
        flawed_watch::watch(self)
    }
}

impl fmt::Debug for FlawedBucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("FlawedBucket");
        text.field("name", &self.name());
        if self.mistake == Mistake::DebugHasValues {
            text.field("entries", &self.memory.list().now_or_never());
        }
        text.finish()
    }
}

//! Models the bucket that keeps the objects of a kind: `#[managed(nats(...))]`.

use super::duration::parse_duration;
use crate::attrs::bucket::BucketArgs;
use std::time::Duration;
use syn::{LitInt, LitStr, Path};

/// The largest history of a bucket: the number of values of a key that NATS keeps.
pub(crate) const MAX_HISTORY: u64 = 64;
/// The largest number of replicas of a bucket.
pub(crate) const MAX_REPLICAS: u64 = 5;

/// A bucket and its settings, as written.
pub(crate) struct Bucket {
    /// The key `nats`.
    pub(crate) key: Path,
    pub(crate) name: Option<LitStr>,
    pub(crate) history: Option<LitInt>,
    pub(crate) replicas: Option<LitInt>,
    pub(crate) max_age: Option<LitStr>,
    pub(crate) storage: Option<LitStr>,
}

impl Bucket {
    /// Creates the model of `nats(...)` from its parsed keys. `key` is the word `nats` in the attribute.
    pub(super) fn new(key: Path, args: BucketArgs) -> Self {
        let BucketArgs { bucket, history, replicas, max_age, storage } = args;
        Self { key, name: bucket, history, replicas, max_age, storage }
    }

    /// Returns the time after which NATS deletes an entry; `None` if it is not set or is no duration.
    pub(crate) fn age(&self) -> Option<Duration> {
        parse_duration(&self.max_age.as_ref()?.value())
    }

    /// Returns whether the bucket is in memory, and not in files.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.storage.as_ref().is_some_and(|storage| storage.value() == "memory")
    }
}

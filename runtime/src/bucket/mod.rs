//! Key-value stores (buckets) for objects that an operator does not keep in a Kubernetes API server.
//!
//! A [`Bucket`] is what a NATS key-value bucket is: entries with revisions, conditional writes, and a watch. opgen serves the
//! Kubernetes API for the kinds in a bucket from it, so trees, conditions, finalizers and references work as they do for objects
//! in Kubernetes.

mod api;
mod deferred;
mod entry;
mod entry_list;
mod error;
pub(crate) mod key;
pub(crate) mod kinds;
mod memory;
mod open;
mod route;
pub(crate) mod shared_bucket;
mod store;

pub(crate) use api::{BucketApi, BucketKind};
pub(crate) use deferred::{BucketOpener, DeferredBucket};
pub use entry::BucketEntry;
pub use entry_list::{EntryList, EntryListBuilder, EntryListIntoIter};
pub use error::BucketError;
pub use memory::MemoryBucket;
pub use open::{MemoryBuckets, OpenBuckets};
pub use opgen_api::bucket::{BucketDefinition, BucketStorage, KindInBucket};
pub use store::{Bucket, BucketEvent, Expected};

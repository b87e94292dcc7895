//! `OpenBuckets`: the trait that opens the key-value buckets of an operator by their definitions. `MemoryBuckets`: an implementation with
//! buckets in memory.

use super::{Bucket, BucketError, MemoryBucket};
use futures::{FutureExt, future::BoxFuture};
use opgen_api::bucket::BucketDefinition;
use parking_lot::Mutex;
use std::{collections::BTreeMap, fmt::Debug, sync::Arc};

/// Opens the buckets of an operator: [`MemoryBuckets`], or a connection to NATS.
/// [`Operator::buckets`](crate::Operator::buckets) takes it.
pub trait OpenBuckets: Debug + Send + Sync + 'static {
    /// Opens the bucket of this definition, and creates it first if it does not exist. The settings of a bucket that exists stay as
    /// they are.
    ///
    /// The operator opens its buckets when it starts. It calls this again after [`BucketError::Unavailable`] and
    /// [`BucketError::NoBucket`], and is not ready meanwhile: the controllers that need the bucket wait, and the others run. Other errors
    /// end its run.
    ///
    /// # Errors
    /// [`BucketError::Unavailable`] if the store does not answer, [`BucketError::NoBucket`] if the bucket neither exists nor can be
    /// created, [`BucketError::Forbidden`] if the store refuses the credentials, and [`BucketError::Invalid`] if the settings of the
    /// connection or the definition can't be used.
    fn open<'a>(&'a self, definition: &'a BucketDefinition) -> BoxFuture<'a, Result<Arc<dyn Bucket>, BucketError>>;
}

impl<B: OpenBuckets + ?Sized> OpenBuckets for Arc<B> {
    fn open<'a>(&'a self, definition: &'a BucketDefinition) -> BoxFuture<'a, Result<Arc<dyn Bucket>, BucketError>> {
        (**self).open(definition)
    }
}

/// Buckets in this process, by name, for tests and trials. Clones share them, and they end with the last clone. An entry is never
/// deleted for its age.
///
/// ```
/// use opgen::{Operator, bucket::MemoryBuckets};
///
/// let buckets = MemoryBuckets::default();
/// let operator = Operator::new("units").buckets(buckets.clone());
/// # drop(operator);
/// // What other clients write, the operator sees, and the other way round.
/// let units = buckets.bucket("units");
/// # drop(units);
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryBuckets(Arc<Mutex<BTreeMap<String, MemoryBucket>>>);

impl MemoryBuckets {
    /// Returns the bucket of this name, which is empty at first.
    pub fn bucket(&self, name: &str) -> MemoryBucket {
        self.0.lock().entry(name.to_owned()).or_insert_with(|| MemoryBucket::new(name)).clone()
    }
}

impl OpenBuckets for MemoryBuckets {
    fn open<'a>(&'a self, definition: &'a BucketDefinition) -> BoxFuture<'a, Result<Arc<dyn Bucket>, BucketError>> {
        let bucket: Arc<dyn Bucket> = Arc::new(self.bucket(&definition.name));
        async move { Ok(bucket) }.boxed()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::bucket::Expected;

    #[tokio::test]
    async fn clones_and_openings_of_one_name_share_a_bucket() {
        let buckets = MemoryBuckets::default();
        let opened = buckets.clone().open(&BucketDefinition::new("units")).await.unwrap();
        opened.put("shop.web", b"{}".to_vec(), Expected::Absent).await.unwrap();
        assert!(buckets.bucket("units").get("shop.web").await.unwrap().is_some());
        assert!(buckets.bucket("pools").get("shop.web").await.unwrap().is_none());
    }
}

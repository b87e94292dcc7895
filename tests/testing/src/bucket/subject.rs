//! `BucketSubject` and `SubjectBucket`: the traits by which the suite creates, opens and disturbs buckets of an implementation.

use std::sync::Arc;

use futures::future::BoxFuture;
use opgen::bucket::Bucket;

/// An implementation of [`Bucket`] as the subject of the suite: it makes buckets.
pub trait BucketSubject: Send + Sync + 'static {
    /// Returns a new, empty bucket, which no other client uses. The suite calls this once or twice for each statement.
    ///
    /// # Errors
    /// A text that says why there is no bucket. It is a finding of each statement.
    fn create(&self) -> BoxFuture<'_, Result<Arc<dyn SubjectBucket>, String>>;
}

/// A bucket of a [`BucketSubject`].
pub trait SubjectBucket: Send + Sync + 'static {
    /// Returns a client of the bucket. Each call returns another client, with a connection of its own if the store has connections.
    ///
    /// # Errors
    /// A text that says why there is no client.
    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn Bucket>, String>>;

    /// Disturbs the bucket, or the connections of all its clients, and returns when that is done. Returns `false` if the store has no
    /// such disturbance, which is the default: the statements that need it are skipped then.
    ///
    /// # Errors
    /// A text that says why the disturbance failed.
    fn disturb(&self, disturbance: BucketDisturbance) -> BoxFuture<'_, Result<bool, String>> {
        let _ = disturbance;
        Box::pin(async { Ok(false) })
    }

    /// Returns the greatest size of a value in bytes; `None`, which is the default, if the store has no limit that a test could reach.
    fn value_limit(&self) -> Option<usize> {
        None
    }
}

/// A change of a bucket, or of the connections to it, beside the calls of the trait [`Bucket`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BucketDisturbance {
    /// Another client deletes an entry, whatever its revision is. The history of the key may stay.
    #[non_exhaustive]
    Delete {
        /// The key.
        key: String,
    },
    /// Another client deletes an entry and its history, whatever its revision is.
    #[non_exhaustive]
    Purge {
        /// The key.
        key: String,
    },
    /// Another client writes a value, whatever the revision of the entry is.
    #[non_exhaustive]
    Put {
        /// The key.
        key: String,
        /// The value.
        value: Vec<u8>,
    },
    /// The connections of all clients are interrupted, and can be made again at once.
    Interrupt,
    /// The store drops the tombstones of removed entries. A watch learns of these removals only from a new list.
    DropTombstones,
    /// The store stops and starts again with its entries.
    Restart,
}

impl BucketDisturbance {
    /// Returns the name for messages.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Delete { .. } => "Delete",
            Self::Purge { .. } => "Purge",
            Self::Put { .. } => "Put",
            Self::Interrupt => "Interrupt",
            Self::DropTombstones => "DropTombstones",
            Self::Restart => "Restart",
        }
    }
}

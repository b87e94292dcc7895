//! `Bucket`: the trait of a key-value store with conditional writes and a watch. Also defines the write conditions and the watch events.

use super::{entry::BucketEntry, entry_list::EntryList, error::BucketError};
use futures::{future::BoxFuture, stream::BoxStream};
use std::fmt::Debug;

/// The state in which a key must be for a write to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// The key has no live entry: it was never written, or it was deleted or purged.
    Absent,
    /// The last write of the key has this revision, and was not a deletion.
    Revision(u64),
}

/// What a [`watch`](Bucket::watch) delivers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BucketEvent {
    /// The entries are about to be listed, at the start and after each gap in the changes.
    ListStarted,
    /// An entry: one of the list, or a new value.
    Put(BucketEntry),
    /// The list is complete. A key that was not in it has no entry.
    ListEnded,
    /// A key has no entry anymore: it was deleted or purged.
    Removed {
        /// The key.
        key: String,
        /// The revision of the deletion.
        revision: u64,
    },
}

/// A store of entries with revisions, conditional writes, and a watch.
///
/// The conformance suite `opgen_testing::bucket` checks an implementation by numbered statements.
pub trait Bucket: Debug + Send + Sync + 'static {
    /// Returns the name, for messages.
    fn name(&self) -> &str;

    /// Reads an entry, including all writes that ended before; `None` if the key has no live entry.
    ///
    /// # Errors
    /// [`BucketError::Unavailable`] if the store does not answer, [`BucketError::NoBucket`], [`BucketError::Forbidden`],
    /// [`BucketError::Invalid`] and [`BucketError::InvalidKey`].
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<BucketEntry>, BucketError>>;

    /// Lists the live entries, including all writes that ended before.
    ///
    /// # Errors
    /// [`BucketError::Unavailable`] if the store does not answer, [`BucketError::NoBucket`], [`BucketError::Forbidden`] and
    /// [`BucketError::Invalid`]. A part of the entries is never returned for all of them.
    fn list(&self) -> BoxFuture<'_, Result<EntryList, BucketError>>;

    /// Writes a value if the key is in the expected state, and returns the revision of the write.
    ///
    /// # Errors
    /// [`BucketError::Conflict`] if the key is in another state. [`BucketError::Unavailable`] if the store did not answer: the
    /// write may have happened. [`BucketError::TooLarge`], [`BucketError::NoBucket`], [`BucketError::Forbidden`],
    /// [`BucketError::Invalid`] and [`BucketError::InvalidKey`].
    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, expected: Expected) -> BoxFuture<'a, Result<u64, BucketError>>;

    /// Removes an entry, with its history, if its last write has this revision. Returns the revision of the deletion.
    ///
    /// # Errors
    /// As those of [`put`](Self::put).
    fn remove<'a>(&'a self, key: &'a str, revision: u64) -> BoxFuture<'a, Result<u64, BucketError>>;

    /// Lists the entries, then follows the changes: [`ListStarted`](BucketEvent::ListStarted), a
    /// [`Put`](BucketEvent::Put) for each entry, [`ListEnded`](BucketEvent::ListEnded), then changes in the order of their
    /// revisions. Intermediate values of a key may be left out, its last one may not.
    ///
    /// The stream doesn't end. An error is not its end either: it goes on by itself, and starts a new list
    /// ([`ListStarted`](BucketEvent::ListStarted)) whenever changes may have been lost. The errors are those of
    /// [`list`](Self::list).
    fn watch(&self) -> BoxStream<'static, Result<BucketEvent, BucketError>>;
}

//! `Entry`: one cached object: a header with the metadata that controllers read on every event, and the object itself or a part of it.

use super::{Header, ObjectKey};
use std::{
    borrow::Borrow,
    hash::{Hash, Hasher},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

/// One cached object: its header and its value.
#[derive(Debug)]
pub struct Entry<V> {
    /// The metadata that controllers read on every event.
    pub header: Header,
    /// The whole object, encoded, or a projection of it.
    pub value: V,
    /// The number of the last listing that contained the object. A store counts its listings: the first one and each relist.
    listing: AtomicU32,
}

impl<V> Entry<V> {
    pub(crate) fn new(header: Header, value: V) -> Self {
        Self { header, value, listing: AtomicU32::default() }
    }

    /// Returns the number of the last listing that contained the object.
    pub(super) fn listing(&self) -> u32 {
        self.listing.load(Ordering::Relaxed)
    }

    /// Records that a listing contained the object. `Relaxed` is enough: the lock of the store orders this with the end of the listing.
    pub(super) fn set_listing(&self, listing: u32) {
        self.listing.store(listing, Ordering::Relaxed);
    }
}

/// An entry that hashes and compares by its key, so that a set of entries needs no copy of the keys.
pub(super) struct EntryByKey<V>(pub(super) Arc<Entry<V>>);

impl<V> Borrow<ObjectKey> for EntryByKey<V> {
    fn borrow(&self) -> &ObjectKey {
        &self.0.header.key
    }
}

impl<V> Hash for EntryByKey<V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.header.key.hash(state);
    }
}

impl<V> PartialEq for EntryByKey<V> {
    fn eq(&self, other: &Self) -> bool {
        self.0.header.key == other.0.header.key
    }
}

impl<V> Eq for EntryByKey<V> {}

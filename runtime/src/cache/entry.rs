//! One cached object.

use super::{Header, ObjectKey};
use std::{
    borrow::Borrow,
    hash::{Hash, Hasher},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

/// One cached object: its header, and what the store keeps of the rest.
#[derive(Debug)]
pub struct Entry<V> {
    /// The metadata that is asked about all the time.
    pub header: Header,
    /// The whole object, encoded, or a projection of it.
    pub value: V,
    /// The last listing that contained the object.
    listing: AtomicU32,
}

impl<V> Entry<V> {
    pub(super) fn new(header: Header, value: V) -> Self {
        Self { header, value, listing: AtomicU32::default() }
    }

    /// The same object with another value.
    pub(super) fn with_value(&self, value: V) -> Self {
        Self { header: self.header.clone(), value, listing: self.listing().into() }
    }

    pub(super) fn listing(&self) -> u32 {
        self.listing.load(Ordering::Relaxed)
    }

    // The store's lock orders this with the end of the listing.
    pub(super) fn set_listing(&self, listing: u32) {
        self.listing.store(listing, Ordering::Relaxed);
    }
}

/// An entry as a set sees it, which so needs no copy of the key.
pub(super) struct ByKey<V>(pub(super) Arc<Entry<V>>);

impl<V> Borrow<ObjectKey> for ByKey<V> {
    fn borrow(&self) -> &ObjectKey {
        &self.0.header.key
    }
}

impl<V> Hash for ByKey<V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.header.key.hash(state);
    }
}

impl<V> PartialEq for ByKey<V> {
    fn eq(&self, other: &Self) -> bool {
        self.0.header.key == other.0.header.key
    }
}

impl<V> Eq for ByKey<V> {}

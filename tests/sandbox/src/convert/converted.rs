//! `Converted`: a cache of the conversions by webhook, for synchronous readers.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;
use tokio::sync::{Notify, futures::Notified};

use crate::store::Stored;

/// The number of entries at which the cache is cleared.
const MAX_ENTRIES: usize = 4096;

/// A converted object, or the error of the conversion.
pub(crate) type ConversionResult = Result<Value, String>;

/// The cached conversions, by key and resourceVersion.
#[derive(Debug, Default)]
pub(crate) struct Converted {
    entries: Mutex<BTreeMap<(String, u64), ConversionResult>>,
    subscription: Notify,
}

impl Converted {
    /// Returns the cached conversion of an object; `None` if it was not converted yet.
    pub(crate) fn get(&self, stored: &Stored) -> Option<ConversionResult> {
        self.lock().get(&(stored.key(), stored.version)).cloned()
    }

    /// Returns whether the cache has a conversion of an object, successful or not.
    pub(super) fn has(&self, stored: &Stored) -> bool {
        self.lock().contains_key(&(stored.key(), stored.version))
    }

    /// Adds conversions, and wakes the subscribers. The entries stay at least until the next call.
    pub(super) fn put<'a>(&self, converted: impl Iterator<Item = (&'a Stored, ConversionResult)>) {
        let mut entries = self.lock();
        if entries.len() > MAX_ENTRIES {
            entries.clear();
        }
        entries.extend(converted.map(|(stored, object)| ((stored.key(), stored.version), object)));
        drop(entries);
        self.subscription.notify_waiters();
    }

    /// Returns a future that completes at the next conversion.
    pub(crate) fn subscribe(&self) -> Notified<'_> {
        self.subscription.notified()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(String, u64), ConversionResult>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

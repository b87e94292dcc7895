//! `Converted`: a cache of the objects that conversion webhooks have converted, for synchronous readers.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;
use tokio::sync::{Notify, futures::Notified};

use crate::store::Stored;

/// The number of newer conversions for which a conversion stays cached at least.
const MAX_ENTRIES: usize = 4096;

/// A converted object, or the error of the conversion.
pub(crate) type ConversionResult = Result<Value, String>;

/// Conversions by key and resourceVersion of the object.
type Conversions = BTreeMap<(String, u64), ConversionResult>;

/// The cached conversions.
#[derive(Debug, Default)]
pub(crate) struct Converted {
    entries: Mutex<Generations>,
    subscription: Notify,
}

/// Two generations of conversions. When the new one is full it becomes the old one, and the old one is dropped, so that the latest
/// [`MAX_ENTRIES`] conversions are always there.
#[derive(Debug, Default)]
struct Generations {
    new: Conversions,
    old: Conversions,
}

impl Converted {
    /// Returns the cached conversion of an object; `None` if it was not converted yet, or long ago.
    pub(crate) fn get(&self, stored: &Stored) -> Option<ConversionResult> {
        let (entries, key) = (self.lock(), (stored.key(), stored.version));
        entries.new.get(&key).or_else(|| entries.old.get(&key)).cloned()
    }

    /// Returns whether the cache has a conversion of an object, successful or not.
    pub(super) fn has(&self, stored: &Stored) -> bool {
        let (entries, key) = (self.lock(), (stored.key(), stored.version));
        entries.new.contains_key(&key) || entries.old.contains_key(&key)
    }

    /// Adds conversions, and wakes the subscribers. If the new generation is full, the old one is dropped before.
    pub(super) fn put<'a>(&self, converted: impl Iterator<Item = (&'a Stored, ConversionResult)>) {
        let mut entries = self.lock();
        if entries.new.len() >= MAX_ENTRIES {
            entries.old = std::mem::take(&mut entries.new);
        }
        entries.new.extend(converted.map(|(stored, object)| ((stored.key(), stored.version), object)));
        drop(entries);
        self.subscription.notify_waiters();
    }

    /// Returns a future that completes at the next conversion.
    pub(crate) fn subscribe(&self) -> Notified<'_> {
        self.subscription.notified()
    }

    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stored(version: u64) -> Stored {
        Stored::new(json!({"metadata": {"name": "a"}}), version, "v1")
    }

    #[test]
    fn a_conversion_is_cached_until_as_many_newer_ones_as_the_cache_holds_are_added() {
        let cache = Converted::default();
        for version in 0..10_000 {
            let object = stored(version);
            cache.put([(&object, Ok(json!(version)))].into_iter());
            let oldest = version.saturating_sub(MAX_ENTRIES as u64 - 1);
            for kept in [oldest, version] {
                assert_eq!(cache.get(&stored(kept)), Some(Ok(json!(kept))), "after {version}");
            }
        }
        assert!(!cache.has(&stored(0)));
    }
}

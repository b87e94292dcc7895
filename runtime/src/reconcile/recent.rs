//! `RecentValues` caches values that are computed from recently changed objects.

use crate::cache::{Encoded, Entry, ObjectKey, ResourceVersion, Uid};
use parking_lot::Mutex;
use std::collections::HashMap;

/// The maximum number of objects in each of the two generations; both together take about 1 MB.
const GENERATION_SIZE: usize = 4_096;

/// Caches the value that was computed from the last state of an object. A comparison of the old and the new state of an object
/// then costs one computation instead of two. It keeps the objects that change most often.
#[derive(Debug)]
pub(super) struct RecentValues<T>(Mutex<Generations<T>>);

/// When the young generation is full, the old one is dropped and the young one becomes the old one.
#[derive(Debug)]
struct Generations<T> {
    young: HashMap<ObjectKey, CachedValue<T>>,
    old: HashMap<ObjectKey, CachedValue<T>>,
}

/// A value, with the state of the object from which it was computed.
#[derive(Debug)]
struct CachedValue<T> {
    uid: Uid,
    version: ResourceVersion,
    value: T,
}

impl<T> Default for RecentValues<T> {
    fn default() -> Self {
        Self(Mutex::new(Generations { young: HashMap::new(), old: HashMap::new() }))
    }
}

impl<T: Clone> RecentValues<T> {
    /// Returns the cached value if it was computed from this state of the object, else computes and caches it. `None` is not cached.
    pub(super) fn get(&self, entry: &Entry<Encoded>, compute: impl FnOnce() -> Option<T>) -> Option<T> {
        let header = &entry.header;
        let is_current =
            |cached: &&CachedValue<T>| cached.version == header.resource_version && cached.uid == header.uid;
        {
            let generations = self.0.lock();
            let cached = generations.young.get(&header.key).or_else(|| generations.old.get(&header.key));
            if let Some(cached) = cached.filter(is_current) {
                return Some(cached.value.clone());
            }
        }
        let value = compute()?;
        let cached =
            CachedValue { uid: header.uid.clone(), version: header.resource_version.clone(), value: value.clone() };
        // The lock was released during the computation, which may run user code.
        let mut generations = self.0.lock();
        if generations.young.len() >= GENERATION_SIZE {
            generations.old = std::mem::take(&mut generations.young);
        }
        generations.young.insert(header.key.clone(), cached);
        Some(value)
    }

    /// Drops the value of a deleted object.
    pub(super) fn forget(&self, key: &ObjectKey) {
        let mut generations = self.0.lock();
        generations.young.remove(key);
        generations.old.remove(key);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{GENERATION_SIZE, RecentValues};
    use crate::cache::{Encoded, Entry, PrimaryCache};
    use std::{cell::Cell, sync::Arc};

    fn state(objects: &PrimaryCache, name: &str, version: u64) -> Arc<Entry<Encoded>> {
        let json = format!(r#"{{"metadata":{{"name":"{name}","uid":"u","resourceVersion":"{version}"}}}}"#);
        objects.apply(json.as_bytes()).unwrap().new_entry().unwrap().clone()
    }

    #[test]
    fn a_change_costs_one_computation() {
        let (objects, recent, computed) = (PrimaryCache::default(), RecentValues::default(), Cell::new(0));
        let value = |entry: &Entry<Encoded>| {
            recent.get(entry, || {
                computed.set(computed.get() + 1);
                entry.header.resource_version.number()
            })
        };
        let mut before = state(&objects, "a", 1);
        assert_eq!(value(&before), Some(1));
        for version in 2..10 {
            let after = state(&objects, "a", version);
            assert_eq!((value(&before), value(&after)), (Some(version - 1), Some(version)));
            before = after;
        }
        assert_eq!(computed.get(), 9);
    }

    #[test]
    fn the_number_of_objects_is_bounded() {
        let (objects, recent) = (PrimaryCache::default(), RecentValues::default());
        for number in 0..3 * GENERATION_SIZE {
            recent.get(&state(&objects, &format!("a-{number}"), 1), || Some(number));
        }
        let generations = recent.0.lock();
        assert!(generations.young.len() + generations.old.len() <= 2 * GENERATION_SIZE);
    }
}

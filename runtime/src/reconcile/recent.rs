//! Values computed from objects, kept for those that changed lately.

use crate::cache::{Encoded, Entry, ObjectKey, ResourceVersion, Uid};
use parking_lot::Mutex;
use std::collections::HashMap;

/// How many objects one of two generations holds: about a megabyte in all.
const GENERATION: usize = 4_096;

/// What was computed from the last state of an object, so that its next change costs one computation, and not one of the state
/// before as well. Objects that change all the time are the ones it holds.
#[derive(Debug)]
pub(super) struct Recent<T>(Mutex<Generations<T>>);

/// When the young generation is full, the old one goes and the young one becomes old.
#[derive(Debug)]
struct Generations<T> {
    young: HashMap<ObjectKey, Computed<T>>,
    old: HashMap<ObjectKey, Computed<T>>,
}

#[derive(Debug)]
struct Computed<T> {
    uid: Uid,
    version: ResourceVersion,
    value: T,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self(Mutex::new(Generations { young: HashMap::new(), old: HashMap::new() }))
    }
}

impl<T: Clone> Recent<T> {
    /// What `compute` gives for this state of an object; `None` is not kept.
    pub(super) fn get(&self, entry: &Entry<Encoded>, compute: impl FnOnce() -> Option<T>) -> Option<T> {
        let header = &entry.header;
        let is_of = |held: &&Computed<T>| held.version == header.resource_version && held.uid == header.uid;
        {
            let held = self.0.lock();
            let found = held.young.get(&header.key).or_else(|| held.old.get(&header.key)).filter(is_of);
            if let Some(found) = found {
                return Some(found.value.clone());
            }
        }
        let value = compute()?;
        let computed =
            Computed { uid: header.uid.clone(), version: header.resource_version.clone(), value: value.clone() };
        let mut held = self.0.lock();
        if held.young.len() >= GENERATION {
            held.old = std::mem::take(&mut held.young);
        }
        held.young.insert(header.key.clone(), computed);
        Some(value)
    }

    /// The object is gone.
    pub(super) fn forget(&self, key: &ObjectKey) {
        let mut held = self.0.lock();
        held.young.remove(key);
        held.old.remove(key);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{GENERATION, Recent};
    use crate::cache::{Encoded, Entry, PrimaryCache};
    use std::{cell::Cell, sync::Arc};

    fn state(objects: &PrimaryCache, name: &str, version: u64) -> Arc<Entry<Encoded>> {
        let json = format!(r#"{{"metadata":{{"name":"{name}","uid":"u","resourceVersion":"{version}"}}}}"#);
        objects.apply(json.as_bytes()).unwrap().new_entry().unwrap().clone()
    }

    #[test]
    fn a_change_costs_one_computation() {
        let (objects, recent, computed) = (PrimaryCache::default(), Recent::default(), Cell::new(0));
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
        let (objects, recent) = (PrimaryCache::default(), Recent::default());
        for number in 0..3 * GENERATION {
            recent.get(&state(&objects, &format!("a-{number}"), 1), || Some(number));
        }
        let held = recent.0.lock();
        assert!(held.young.len() + held.old.len() <= 2 * GENERATION);
    }
}

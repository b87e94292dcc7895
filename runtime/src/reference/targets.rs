//! The objects of a kind that are named by others, as a watch shows them.

use crate::{
    cache::{Change, Entry, Header, ObjectKey, PackedList},
    error::Result,
    informer::watch::{Health, WatchedKind},
    kind::Kind,
    readiness::{Readiness, managed_readiness, readiness},
    reference::is_reference,
};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash, Hasher},
    ops::Bound,
    sync::Arc,
};
use tokio::sync::MutexGuard;

/// What is kept of each: its metadata and its readiness; and by each reference, who holds it.
#[derive(Debug)]
pub(crate) struct Targets {
    pub(crate) watched: Arc<WatchedKind<Readiness>>,
    /// Whether the operator has a controller for the kind.
    managed: bool,
    holders: Mutex<BTreeMap<String, BTreeSet<ObjectKey>>>,
    /// Of each object one, which is that of some others, too.
    writers: [tokio::sync::Mutex<()>; WRITERS],
}

/// How many objects can have their finalizers written at a time.
const WRITERS: usize = 64;

#[derive(Deserialize)]
struct ProjectedTarget {
    #[serde(default)]
    spec: Value,
    #[serde(default)]
    status: Value,
}

/// The objects of all kinds that controllers of this operator name.
pub(crate) type Graph = BTreeMap<Kind, Arc<Targets>>;

impl Targets {
    pub(crate) fn new(kind: Kind, managed: bool, health: Health) -> Self {
        Self {
            watched: Arc::new(WatchedKind { health, ..WatchedKind::new(kind, false) }),
            managed,
            holders: Mutex::default(),
            writers: [const { tokio::sync::Mutex::const_new(()) }; WRITERS],
        }
    }

    pub(crate) fn get(&self, key: &ObjectKey) -> Option<Arc<Entry<Readiness>>> {
        self.watched.store.get(key)
    }

    /// Waits for the turn to write the finalizers of an object: each write starts from the answer to the one before, so that
    /// workers that write at once do not refuse each other. Read the object after this.
    pub(crate) async fn turn(&self, key: &ObjectKey) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        self.writers[hasher.finish() as usize % WRITERS].lock().await
    }

    /// The objects that a reference stands on.
    pub(crate) fn with(&self, reference: &str) -> Vec<ObjectKey> {
        self.holders.lock().get(reference).into_iter().flatten().cloned().collect()
    }

    /// All references that begin like this.
    pub(crate) fn beginning(&self, begin: &str) -> Vec<String> {
        let holders = self.holders.lock();
        let from = holders.range::<str, _>((Bound::Included(begin), Bound::Unbounded));
        from.map(|(reference, _)| reference).take_while(|reference| reference.starts_with(begin)).cloned().collect()
    }

    /// Takes in an object as the server sent it.
    ///
    /// # Errors
    /// If it isn't an object of the API.
    pub(crate) fn apply(&self, json: &[u8]) -> Result<Change<Readiness>> {
        let header = Header::parse(json)?;
        let readiness = if self.managed { managed_readiness } else { readiness };
        // Taken before the store changes: the watch and a pass may both take in the object, and the holders have to follow the
        // store in the same order.
        let mut holders = self.holders.lock();
        let project = |header: &Header| {
            let parts: ProjectedTarget = serde_json::from_slice(json)?;
            Ok::<_, serde_json::Error>(readiness(&self.watched.kind, header.generation, &parts.spec, &parts.status))
        };
        let change = self.watched.store.try_project(header, project)?;
        if let Some(old) = change.old() {
            unlist(&mut holders, old);
        }
        if let Some(new) = change.new_entry() {
            list(&mut holders, new);
        }
        drop(holders);
        Ok(change)
    }

    /// Takes in the answer to an own write of an object. The watch may have shown the end of the object before that.
    ///
    /// # Errors
    /// If it isn't an object of the API.
    pub(crate) fn apply_answer(&self, object: &Value) -> Result<()> {
        if let Change::Added { new } = self.apply(object.to_string().as_bytes())?
            && let Change::Deleted { old } = self.watched.store.delete(&new.header)
        {
            self.forget(&old);
        }
        Ok(())
    }

    /// Takes note that an object is gone from the store. Another one may have its name by now.
    pub(crate) fn forget(&self, old: &Entry<Readiness>) {
        let mut holders = self.holders.lock();
        unlist(&mut holders, old);
        if let Some(new) = self.get(&old.header.key) {
            list(&mut holders, &new);
        }
    }
}

fn list(holders: &mut BTreeMap<String, BTreeSet<ObjectKey>>, new: &Entry<Readiness>) {
    for reference in references(&new.header.finalizers) {
        holders.entry(reference.to_owned()).or_default().insert(new.header.key.clone());
    }
}

fn unlist(holders: &mut BTreeMap<String, BTreeSet<ObjectKey>>, old: &Entry<Readiness>) {
    for reference in references(&old.header.finalizers) {
        if let Some(keys) = holders.get_mut(reference) {
            keys.remove(&old.header.key);
            if keys.is_empty() {
                holders.remove(reference);
            }
        }
    }
}

/// The references among finalizers.
pub(crate) fn references(finalizers: &PackedList) -> impl Iterator<Item = &str> {
    finalizers.iter().filter(|finalizer| is_reference(finalizer))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    const REFERENCE: &str = "desks.live.example.com/reference_shop_a";

    fn targets() -> Targets {
        let kind = kind_of::<ConfigMap>();
        Targets::new(kind.clone(), false, Health::new(kind))
    }

    fn object(uid: &str, version: u64, finalizers: &[&str]) -> Vec<u8> {
        let metadata = json!({
            "name": "a", "namespace": "shop", "uid": uid, "resourceVersion": version.to_string(), "finalizers": finalizers,
        });
        json!({"metadata": metadata}).to_string().into_bytes()
    }

    #[test]
    fn the_end_of_an_object_takes_no_reference_from_the_next_of_its_name() {
        let targets = targets();
        assert!(is_reference(REFERENCE));
        targets.apply(&object("one", 1, &[REFERENCE])).unwrap();
        let header = Header::parse(&object("one", 2, &[REFERENCE])).unwrap();
        let Change::Deleted { old } = targets.watched.store.delete(&header) else { panic!("it was there") };
        targets.apply(&object("two", 3, &[REFERENCE])).unwrap();
        targets.forget(&old);
        assert_eq!(targets.with(REFERENCE), [ObjectKey::namespaced("shop", "a")]);
    }

    #[test]
    fn the_answer_to_a_write_does_not_bring_back_an_object_that_is_gone() {
        let targets = targets();
        let answer = |version| serde_json::from_slice(&object("one", version, &[REFERENCE])).unwrap();
        targets.apply(&object("one", 1, &[])).unwrap();
        targets.apply_answer(&answer(2)).unwrap();
        assert_eq!(targets.with(REFERENCE).len(), 1);
        let header = Header::parse(&object("one", 3, &[])).unwrap();
        let Change::Deleted { old } = targets.watched.store.delete(&header) else { panic!("it was there") };
        targets.forget(&old);
        targets.apply_answer(&answer(2)).unwrap();
        assert!(targets.watched.store.is_empty() && targets.with(REFERENCE).is_empty());
    }

    #[test]
    fn holders_follow_the_store_whoever_takes_an_object_in() {
        for round in 0..200 {
            let targets = targets();
            targets.apply(&object("one", 1, &[])).unwrap();
            let take_in = |from: u64| {
                for version in (from..from + 40).step_by(2) {
                    let held = [REFERENCE];
                    targets
                        .apply(&object("one", version, if version.is_multiple_of(4) { &held } else { &[] }))
                        .unwrap();
                }
            };
            std::thread::scope(|threads| {
                threads.spawn(|| take_in(2));
                threads.spawn(|| take_in(3));
            });
            let shown = targets.get(&ObjectKey::namespaced("shop", "a")).unwrap();
            let (held, listed) = (shown.header.finalizers.contains(REFERENCE), !targets.with(REFERENCE).is_empty());
            assert_eq!(held, listed, "round {round}");
        }
    }
}

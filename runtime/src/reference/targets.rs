//! `Targets`: the cached objects of a kind that other objects reference, indexed by the reference finalizers that they have.

use crate::{
    cache::{Change, Entry, Header, ObjectKey, PackedList},
    error::Result,
    informer::watch::{Health, WatchedKind},
    kind::Kind,
    readiness::{Readiness, is_ready_once_created, managed_readiness, readiness},
    reference::{
        content::{ContentDigest, has_heartbeats},
        is_reference,
    },
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

/// The cached objects of a referenced kind: metadata, state, and an index from references to the objects that have them.
#[derive(Debug)]
pub(crate) struct Targets {
    pub(crate) watched: Arc<WatchedKind<TargetState>>,
    /// Whether the operator has a controller for the kind.
    managed: bool,
    /// Whether the metadata is enough: the kind has no status from which readiness follows, and no heartbeats.
    pub(crate) metadata_only: bool,
    index: Mutex<BTreeMap<String, BTreeSet<ObjectKey>>>,
    /// One lock for the finalizer writes of an object. Several objects can share a lock.
    write_locks: [tokio::sync::Mutex<()>; WRITE_LOCKS],
}

/// The cached state of a referenced object, besides its metadata.
#[derive(Debug)]
pub(crate) struct TargetState {
    pub(crate) readiness: Readiness,
    /// Shows whether an event changed the content of the object.
    pub(crate) content: ContentDigest,
}

/// The number of objects whose finalizers can be written at the same time.
const WRITE_LOCKS: usize = 64;

/// The parts of an object that decide its readiness.
#[derive(Deserialize)]
struct ProjectedTarget {
    #[serde(default)]
    spec: Value,
    #[serde(default)]
    status: Value,
}

/// The targets of all kinds that controllers of this operator reference.
pub(crate) type Graph = BTreeMap<Kind, Arc<Targets>>;

impl Targets {
    /// Returns an empty store for the referenced objects of a kind. `managed` is whether the operator has a controller for the kind, and
    /// `health` the state of the watch that fills the store.
    pub(crate) fn new(kind: Kind, managed: bool, health: Health) -> Self {
        Self {
            // Objects of such a kind are ready without a status, and no heartbeat has to be told from other writes.
            metadata_only: is_ready_once_created(&kind) && !has_heartbeats(&kind),
            watched: Arc::new(WatchedKind { health, ..WatchedKind::new(kind, false) }),
            managed,
            index: Mutex::default(),
            write_locks: [const { tokio::sync::Mutex::const_new(()) }; WRITE_LOCKS],
        }
    }

    /// Returns the cached object of a key; `None` if the cache does not have it.
    pub(crate) fn get(&self, key: &ObjectKey) -> Option<Arc<Entry<TargetState>>> {
        self.watched.store.get(key)
    }

    /// Waits for the lock under which a worker writes the finalizers of an object. Each write starts from the response to the previous
    /// write, so that concurrent workers cause no conflicts. The caller reads the object from the store only after this call.
    pub(crate) async fn lock_writes(&self, key: &ObjectKey) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        self.write_locks[hasher.finish() as usize % WRITE_LOCKS].lock().await
    }

    /// Returns the keys of the objects that have the reference finalizer `reference`.
    pub(crate) fn keys_with_reference(&self, reference: &str) -> Vec<ObjectKey> {
        self.index.lock().get(reference).into_iter().flatten().cloned().collect()
    }

    /// Returns all reference finalizers in the index that begin with `prefix`.
    pub(crate) fn references_with_prefix(&self, prefix: &str) -> Vec<String> {
        let index = self.index.lock();
        let range = index.range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
        range.map(|(reference, _)| reference).take_while(|reference| reference.starts_with(prefix)).cloned().collect()
    }

    /// Stores an object that the API server sent in a watch event or a response: its metadata, readiness and content digest. Updates the
    /// index by its reference finalizers, and returns the change of the store.
    ///
    /// # Errors
    /// Fails if the JSON is not a Kubernetes object.
    pub(crate) fn apply(&self, json: &[u8]) -> Result<Change<TargetState>> {
        let header = Header::parse(json)?;
        let readiness = if self.managed { managed_readiness } else { readiness };
        // The index is locked before the store changes: the watch and a pass can store the object at the same time, and the index has
        // to change in the same order as the store.
        let mut index = self.index.lock();
        let project = |header: &Header| {
            let parts: ProjectedTarget = serde_json::from_slice(json)?;
            let kind = &self.watched.kind;
            let readiness = readiness(kind, header.generation, &parts.spec, &parts.status);
            let content = ContentDigest::compute(kind, header.generation, json, self.metadata_only)?;
            Ok::<_, serde_json::Error>(TargetState { readiness, content })
        };
        let change = self.watched.store.try_project(header, project)?;
        // For a version that is not newer than the stored one, `change` has neither an old nor a new entry.
        if let Some(old) = change.old() {
            remove_from_index(&mut index, old);
        }
        if let Some(new) = change.new_entry() {
            add_to_index(&mut index, new);
        }
        drop(index);
        Ok(change)
    }

    /// Stores the response to a write of this operator, unless the watch has reported the deletion of the object in the meantime.
    ///
    /// # Errors
    /// Fails if the JSON is not a Kubernetes object.
    pub(crate) fn store_response(&self, object: &Value) -> Result<()> {
        // The store had the object before the write. If the response adds the object, the watch has reported its deletion since then, so
        // the response is outdated and is removed again.
        if let Change::Added { new } = self.apply(object.to_string().as_bytes())?
            && let Change::Deleted { old } = self.watched.store.delete(&new.header)
        {
            self.forget(&old);
        }
        Ok(())
    }

    /// Removes a deleted object from the index, after its removal from the store. If the store has a new object of the same name by now,
    /// adds the new object to the index again.
    pub(crate) fn forget(&self, old: &Entry<TargetState>) {
        let mut index = self.index.lock();
        remove_from_index(&mut index, old);
        if let Some(new) = self.get(&old.header.key) {
            add_to_index(&mut index, &new);
        }
    }
}

/// Adds an object to the index of its references.
fn add_to_index(index: &mut BTreeMap<String, BTreeSet<ObjectKey>>, new: &Entry<TargetState>) {
    for reference in references(&new.header.finalizers) {
        index.entry(reference.to_owned()).or_default().insert(new.header.key.clone());
    }
}

/// Removes an object from the index of its references.
fn remove_from_index(index: &mut BTreeMap<String, BTreeSet<ObjectKey>>, old: &Entry<TargetState>) {
    for reference in references(&old.header.finalizers) {
        if let Some(keys) = index.get_mut(reference) {
            keys.remove(&old.header.key);
            if keys.is_empty() {
                index.remove(reference);
            }
        }
    }
}

/// Returns the finalizers that are references.
pub(crate) fn references(finalizers: &PackedList) -> impl Iterator<Item = &str> {
    finalizers.iter().filter(|finalizer| is_reference(finalizer))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::{coordination::v1::Lease, core::v1::ConfigMap};
    use serde_json::json;

    const REFERENCE: &str = "desks.live.example.com/reference_shop_a";

    /// Returns an empty store for referenced ConfigMaps.
    fn targets() -> Targets {
        let kind = kind_of::<ConfigMap>();
        Targets::new(kind.clone(), false, Health::new(kind))
    }

    /// Returns the JSON of the object `shop/a` with this uid, resourceVersion and finalizers.
    fn object(uid: &str, version: u64, finalizers: &[&str]) -> Vec<u8> {
        let metadata = json!({
            "name": "a", "namespace": "shop", "uid": uid, "resourceVersion": version.to_string(), "finalizers": finalizers,
        });
        json!({"metadata": metadata}).to_string().into_bytes()
    }

    #[test]
    fn the_deletion_of_an_object_keeps_the_references_of_a_new_one_with_its_name() {
        let targets = targets();
        assert!(is_reference(REFERENCE));
        targets.apply(&object("one", 1, &[REFERENCE])).unwrap();
        // The new object is stored between the removal of the deleted one from the store and its removal from the index.
        let header = Header::parse(&object("one", 2, &[REFERENCE])).unwrap();
        let Change::Deleted { old } = targets.watched.store.delete(&header) else { panic!("it was there") };
        targets.apply(&object("two", 3, &[REFERENCE])).unwrap();
        targets.forget(&old);
        assert_eq!(targets.keys_with_reference(REFERENCE), [ObjectKey::namespaced("shop", "a")]);
    }

    #[test]
    fn the_content_of_a_lease_changes_with_its_holder_and_not_with_a_renewal() {
        let kind = kind_of::<Lease>();
        let targets = Targets::new(kind.clone(), false, Health::new(kind));
        assert!(!targets.metadata_only, "the metadata does not tell a renewal from another write");
        let content_after = |version: u64, holder: &str, second: u32| {
            let renewed = format!("2026-03-01T12:00:{second:02}.000000Z");
            let spec = json!({"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed});
            let metadata =
                json!({"name": "a", "namespace": "shop", "uid": "one", "resourceVersion": version.to_string()});
            targets.apply(json!({"metadata": metadata, "spec": spec}).to_string().as_bytes()).unwrap();
            targets.get(&ObjectKey::namespaced("shop", "a")).unwrap().value.content
        };
        let acquired = content_after(1, "blue", 0);
        assert!(acquired.is_unchanged_by(&content_after(2, "blue", 10)));
        assert!(!acquired.is_unchanged_by(&content_after(3, "green", 20)));
    }

    /// The second time, the response is stored after the watch has reported the deletion of the object.
    #[test]
    fn the_response_to_a_write_does_not_restore_a_deleted_object() {
        let targets = targets();
        let response = |version| serde_json::from_slice(&object("one", version, &[REFERENCE])).unwrap();
        targets.apply(&object("one", 1, &[])).unwrap();
        targets.store_response(&response(2)).unwrap();
        assert_eq!(targets.keys_with_reference(REFERENCE).len(), 1);
        let header = Header::parse(&object("one", 3, &[])).unwrap();
        let Change::Deleted { old } = targets.watched.store.delete(&header) else { panic!("it was there") };
        targets.forget(&old);
        targets.store_response(&response(2)).unwrap();
        assert!(targets.watched.store.is_empty() && targets.keys_with_reference(REFERENCE).is_empty());
    }

    /// Two threads store interleaved versions of one object, of which every fourth has a reference finalizer.
    #[test]
    fn the_index_agrees_with_the_store_after_concurrent_writes() {
        for round in 0..200 {
            let targets = targets();
            targets.apply(&object("one", 1, &[])).unwrap();
            let store_versions = |from: u64| {
                for version in (from..from + 40).step_by(2) {
                    let finalizers = [REFERENCE];
                    targets
                        .apply(&object("one", version, if version.is_multiple_of(4) { &finalizers } else { &[] }))
                        .unwrap();
                }
            };
            std::thread::scope(|threads| {
                threads.spawn(|| store_versions(2));
                threads.spawn(|| store_versions(3));
            });
            let entry = targets.get(&ObjectKey::namespaced("shop", "a")).unwrap();
            let (stored, indexed) =
                (entry.header.finalizers.contains(REFERENCE), !targets.keys_with_reference(REFERENCE).is_empty());
            assert_eq!(stored, indexed, "round {round}");
        }
    }
}

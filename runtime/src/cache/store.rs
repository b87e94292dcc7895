//! `Store`: the cached objects of one kind and scope, written by one watch and read by many.

use super::{
    Change, Entry, Header, ObjectKey, Uid, WatchProgress, entry::EntryByKey, index::OwnerIndex,
    version::ReportedVersions,
};
use hashbrown::HashSet;
use parking_lot::RwLock;
use std::{
    convert::Infallible,
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

/// The objects of one kind and scope (cluster, namespaces, selector), each as an [`Entry<V>`].
///
/// `V` is [`Encoded`](super::Encoded) if the whole object is needed later, or a small struct that is created from the JSON of the
/// object. Any number of threads may read; one watch writes.
///
/// # Guarantees
/// - An event with a lower resourceVersion never replaces a newer state, in any order of events.
/// - During a relist the old state stays readable. An unchanged object keeps its entry, and its value is not created again.
/// - [`Store::watch_progress`] never reports more progress than readers can see.
///
/// # Assumptions
/// Versions only grow. They don't after a restore of etcd from a backup; Kubernetes then requires a restart of clients.
pub struct Store<V> {
    state: RwLock<StoreState<V>>,
    synced: AtomicBool,
}

/// The entries of a store, its index and its progress, behind a lock.
struct StoreState<V> {
    entries: HashSet<EntryByKey<V>>,
    children: OwnerIndex<V>,
    listing: u32,
    versions: ReportedVersions,
    /// The entry that was inserted last: its neighbors in a listing have much in common with it.
    last_inserted: Weak<Entry<V>>,
}

impl<V> Default for Store<V> {
    fn default() -> Self {
        Self {
            state: RwLock::new(StoreState {
                entries: HashSet::new(),
                children: OwnerIndex::default(),
                listing: 0,
                versions: ReportedVersions::default(),
                last_inserted: Weak::new(),
            }),
            synced: AtomicBool::new(false),
        }
    }
}

impl<V> Store<V> {
    /// Returns the object with the key; `None` if the store does not have it.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<Entry<V>>> {
        self.state.read().get(key).cloned()
    }

    /// Returns the objects with an owner reference to `owner`, sorted by key.
    pub fn owned_by(&self, owner: &Uid) -> Vec<Arc<Entry<V>>> {
        self.state.read().children.get(owner).to_vec()
    }

    /// Calls `visit` with each object that has an owner reference to `owner`, sorted by key, without copying the list.
    ///
    /// The store is locked for writes meanwhile: `visit` must be quick and must not write to this store.
    pub fn visit_owned(&self, owner: &Uid, visit: impl FnMut(&Arc<Entry<V>>)) {
        self.state.read().children.get(owner).iter().for_each(visit);
    }

    /// Returns the keys of all objects, sorted.
    pub fn keys(&self) -> Vec<ObjectKey> {
        let mut keys: Vec<_> = self.state.read().entries.iter().map(|entry| entry.0.header.key.clone()).collect();
        keys.sort_unstable();
        keys
    }

    /// Returns all objects, sorted by key.
    pub fn entries(&self) -> Vec<Arc<Entry<V>>> {
        sorted_by_key(self.state.read().entries.iter().map(|entry| entry.0.clone()).collect())
    }

    /// Returns the objects that `accept` selects, sorted by key; it copies and sorts only these.
    ///
    /// The store is locked for writes meanwhile: `accept` must be quick and must not write to this store.
    pub fn entries_where(&self, accept: impl Fn(&Entry<V>) -> bool) -> Vec<Arc<Entry<V>>> {
        let state = self.state.read();
        let accepted = state.entries.iter().filter(|entry| accept(&entry.0)).map(|entry| entry.0.clone()).collect();
        drop(state);
        sorted_by_key(accepted)
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.state.read().entries.len()
    }

    /// Returns the bytes of all entries: the fixed part of each, and what `heap` returns for its value.
    pub(crate) fn bytes(&self, heap: impl Fn(&V) -> usize) -> usize {
        let state = self.state.read();
        state.entries.iter().map(|entry| size_of::<Entry<V>>() + heap(&entry.0.value)).sum()
    }

    /// Returns whether the store is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the first listing is complete; it stays true from then on.
    pub fn synced(&self) -> bool {
        self.synced.load(Ordering::Acquire)
    }

    /// Returns the version up to which the watch has filled this store; `NotSynced` until the first list is complete.
    pub fn watch_progress(&self) -> WatchProgress {
        match self.synced() {
            true => self.state.read().versions.progress(),
            false => WatchProgress::NotSynced,
        }
    }

    /// Stores an object that the watch or a listing reports. It calls `value` only if the version is new.
    pub fn apply(&self, header: Header, value: impl FnOnce() -> V) -> Change<V> {
        let Ok(change) = self.try_apply(header, || Ok::<_, Infallible>(value()));
        change
    }

    /// Does the same as [`Store::apply`], with a value that can fail. The store is not locked while it is created.
    ///
    /// # Errors
    /// Fails if `value` fails; the store then keeps its entry, and the object counts as listed.
    pub fn try_apply<E>(&self, header: Header, value: impl FnOnce() -> Result<V, E>) -> Result<Change<V>, E> {
        self.try_project(header, |_| value())
    }

    /// Does the same as [`Store::try_apply`]; `value` also gets the header.
    ///
    /// # Errors
    /// As [`Store::try_apply`].
    pub fn try_project<E>(
        &self,
        mut header: Header,
        value: impl FnOnce(&Header) -> Result<V, E>,
    ) -> Result<Change<V>, E> {
        {
            let mut state = self.state.write();
            if let Some(change) = state.mark_listed(&header) {
                return Ok(change);
            }
            state.share_allocations(&mut header);
        }
        // The store is not locked here, since creating a value takes a while.
        match value(&header) {
            Ok(value) => Ok(self.state.write().insert(Entry::new(header, value).into())),
            // The watch has reported this version, although its object can't be stored: passes must not wait for it.
            Err(error) => {
                self.state.write().versions.record(&header.resource_version);
                Err(error)
            }
        }
    }

    /// Removes an object after its deletion event. The event is ignored if the store has a newer object with the same name.
    pub fn delete(&self, header: &Header) -> Change<V> {
        let mut state = self.state.write();
        state.versions.record(&header.resource_version);
        match state.get(&header.key) {
            // With another uid, the stored object is newer if it was created after the deletion, and older if the watch missed its end.
            Some(entry) if entry.header.uid == header.uid || !entry.header.is_newer_than(header) => {
                state.remove(&header.key).map_or(Change::Unchanged, |old| Change::Deleted { old })
            }
            _ => Change::Unchanged,
        }
    }

    /// Removes and returns the objects that `is_removed` accepts, sorted by key. They still exist in the cluster: this is not the effect of
    /// an event, so the progress of the watch does not change.
    pub(crate) fn remove_where(&self, is_removed: impl Fn(&Header) -> bool) -> Vec<Arc<Entry<V>>> {
        let mut state = self.state.write();
        let removed = state.entries.extract_if(|entry| is_removed(&entry.0.header));
        let removed = sorted_by_key(removed.map(|entry| entry.0).collect());
        removed.iter().for_each(|entry| state.children.remove(entry));
        removed
    }

    /// Removes all objects, although they still exist in the cluster. The store counts as not synced until the next relist ends.
    pub(crate) fn clear(&self) {
        self.synced.store(false, Ordering::Release);
        self.remove_where(|_| true);
    }

    /// Begins a relist: objects that are not applied until [`Store::finish_replace`] will be removed.
    ///
    /// After a relist that failed, the next call of this method starts over; [`Store::finish_replace`] must not be called for the failed
    /// one.
    pub fn begin_replace(&self) {
        let mut state = self.state.write();
        state.listing = state.listing.wrapping_add(1);
        state.versions.begin_listing();
    }

    /// Returns whether the store and its index of owners are empty.
    #[cfg(test)]
    pub(super) fn is_blank(&self) -> bool {
        let state = self.state.read();
        state.entries.is_empty() && state.children.is_empty()
    }

    /// Ends a relist: removes and returns the objects that the new list did not contain, sorted by key, and marks the store as synced.
    pub fn finish_replace(&self) -> Vec<Arc<Entry<V>>> {
        let mut state = self.state.write();
        let listing = state.listing;
        let removed = state.entries.extract_if(|entry| entry.0.listing() != listing);
        let removed = sorted_by_key(removed.map(|entry| entry.0).collect());
        removed.iter().for_each(|entry| state.children.remove(entry));
        state.versions.end_listing();
        drop(state);
        self.synced.store(true, Ordering::Release);
        removed
    }
}

/// Sorts entries, since the order of the hash set is random.
fn sorted_by_key<V>(mut entries: Vec<Arc<Entry<V>>>) -> Vec<Arc<Entry<V>>> {
    entries.sort_unstable_by(|one, other| one.header.key.cmp(&other.header.key));
    entries
}

impl<V> StoreState<V> {
    /// Returns the entry of a key.
    fn get(&self, key: &ObjectKey) -> Option<&Arc<Entry<V>>> {
        self.entries.get(key).map(|entry| &entry.0)
    }

    /// Marks the stored entry with the key of `header` as contained in the current listing. Returns `Unchanged` if the entry is at least as
    /// new as `header`; `None` if `header` has to be stored, because it is newer or there is no entry.
    fn mark_listed(&mut self, header: &Header) -> Option<Change<V>> {
        let EntryByKey(entry) = self.entries.get(&header.key)?;
        entry.set_listing(self.listing);
        if header.is_newer_than(&entry.header) {
            return None;
        }
        self.versions.record(&header.resource_version);
        Some(Change::Unchanged)
    }

    /// Lets a new header share equal labels, annotations, finalizers and owners with the entry of its key, or else with the last inserted
    /// entry, to save memory.
    fn share_allocations(&self, header: &mut Header) {
        if let Some(similar) = self.get(&header.key).cloned().or_else(|| self.last_inserted.upgrade()) {
            header.share_allocations(&similar.header);
        }
    }

    /// Stores a new entry, unless the store has the same or a newer version, and returns the effect on the store.
    fn insert(&mut self, new: Arc<Entry<V>>) -> Change<V> {
        // Another writer may have stored a newer version while the value was created.
        if let Some(change) = self.mark_listed(&new.header) {
            return change;
        }
        self.versions.record(&new.header.resource_version);
        new.set_listing(self.listing);
        match self.replace(new.clone()) {
            Some(old) => Change::Updated { old, new },
            None => Change::Added { new },
        }
    }

    /// Stores an entry and updates the index of owners. Returns the entry that it replaces; `None` for a new key.
    fn replace(&mut self, new: Arc<Entry<V>>) -> Option<Arc<Entry<V>>> {
        let old = self.entries.replace(EntryByKey(new.clone())).map(|entry| entry.0);
        old.iter().for_each(|old| self.children.remove(old));
        self.children.insert(&new);
        self.last_inserted = Arc::downgrade(&new);
        old
    }

    /// Removes the entry of a key from the store and from the index of owners, and returns it; `None` if there is none.
    fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Entry<V>>> {
        let old = self.entries.take(key)?.0;
        self.children.remove(&old);
        Some(old)
    }
}

impl<V> fmt::Debug for Store<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, progress) = (self.len(), self.watch_progress());
        f.debug_struct("Store").field("len", &len).field("progress", &progress).finish_non_exhaustive()
    }
}

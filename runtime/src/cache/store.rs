//! The objects of one kind and scope: written by one watch, read by many.

use super::{
    Change, Entry, Header, ObjectKey, ResourceVersion, Seen, Uid, entry::ByKey, index::OwnerIndex, version::Versions,
};
use hashbrown::HashSet;
use parking_lot::RwLock;
use std::{
    convert::Infallible,
    fmt,
    sync::{Arc, Weak},
};
use tokio::sync::watch;

/// The objects of one kind and scope (cluster, namespaces, selector), each as an [`Entry<V>`].
///
/// `V` is [`Encoded`](super::Encoded) where the whole object is wanted later, or a small struct made from its JSON
/// on arrival. Any number of threads may read; one watch is expected to write.
///
/// # Guarantees
/// - An event with a lower resourceVersion never replaces a newer state, whatever order events arrive in.
/// - During a new listing the old state stays readable; an object that did not change is kept as it is, and its
///   value is not made again.
/// - [`Store::seen`] never claims more than what can be read.
///
/// # Assumptions
/// Versions only grow. After etcd was restored from a backup they don't; Kubernetes asks for clients to be restarted
/// then.
pub struct Store<V> {
    state: RwLock<StoreState<V>>,
    synced: watch::Sender<bool>,
}

struct StoreState<V> {
    entries: HashSet<ByKey<V>>,
    owned: OwnerIndex<V>,
    listing: u32,
    versions: Versions,
    /// What was put in last: in a listing its neighbours have much in common.
    last: Weak<Entry<V>>,
}

impl<V> Default for Store<V> {
    fn default() -> Self {
        Self {
            state: RwLock::new(StoreState {
                entries: HashSet::new(),
                owned: OwnerIndex::default(),
                listing: 0,
                versions: Versions::default(),
                last: Weak::new(),
            }),
            synced: watch::Sender::new(false),
        }
    }
}

impl<V> Store<V> {
    /// The object under `key`.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<Entry<V>>> {
        self.state.read().get(key).cloned()
    }

    /// The objects with an owner reference to `owner`, sorted by key.
    pub fn owned_by(&self, owner: &Uid) -> Vec<Arc<Entry<V>>> {
        self.state.read().owned.get(owner).to_vec()
    }

    /// Calls `visit` with each object that has an owner reference to `owner`, sorted by key, and copies no list.
    ///
    /// The store can't be written meanwhile: `visit` must be quick and must not write to this store.
    pub fn visit_owned(&self, owner: &Uid, visit: impl FnMut(&Arc<Entry<V>>)) {
        self.state.read().owned.get(owner).iter().for_each(visit);
    }

    /// The keys of all objects, sorted.
    pub fn keys(&self) -> Vec<ObjectKey> {
        let mut keys: Vec<_> = self.state.read().entries.iter().map(|entry| entry.0.header.key.clone()).collect();
        keys.sort_unstable();
        keys
    }

    /// All objects, sorted by key.
    pub fn entries(&self) -> Vec<Arc<Entry<V>>> {
        by_key(self.state.read().entries.iter().map(|entry| entry.0.clone()).collect())
    }

    /// The objects that `accept` takes, sorted by key: only these are copied and sorted.
    ///
    /// The store can't be written meanwhile: `accept` must be quick and must not write to this store.
    pub fn entries_where(&self, accept: impl Fn(&Entry<V>) -> bool) -> Vec<Arc<Entry<V>>> {
        let state = self.state.read();
        let accepted = state.entries.iter().filter(|entry| accept(&entry.0)).map(|entry| entry.0.clone()).collect();
        drop(state);
        by_key(accepted)
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.state.read().entries.len()
    }

    /// Whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the first listing is complete; stays true from then on.
    pub fn synced(&self) -> bool {
        *self.synced.borrow()
    }

    /// Waits until the first listing is complete.
    pub async fn wait_synced(&self) {
        // The sender lives as long as `self`, so this ends only by becoming true.
        let _ = self.synced.subscribe().wait_for(|synced| *synced).await;
    }

    /// The highest version the watch has shown, bookmarks included; `None` until synced or where versions are not
    /// numbers.
    pub fn resource_version(&self) -> Option<u64> {
        match self.seen() {
            Seen::Version(version) => Some(version),
            Seen::Nothing | Seen::Incomparable => None,
        }
    }

    /// How far the watch has come, for [`OwnWrites::behind`](super::OwnWrites::behind).
    pub fn seen(&self) -> Seen {
        match self.synced() {
            true => self.state.read().versions.seen(),
            false => Seen::Nothing,
        }
    }

    /// Takes in an object as the watch or a listing shows it; `value` is called only if it is news.
    pub fn apply(&self, header: Header, value: impl FnOnce() -> V) -> Change<V> {
        let Ok(change) = self.try_apply(header, || Ok::<_, Infallible>(value()));
        change
    }

    /// As [`Store::apply`], with a value that can fail. The lock is not held while it is made.
    ///
    /// # Errors
    /// Those of `value`; the store then keeps what it had, and the object counts as listed.
    pub fn try_apply<E>(&self, header: Header, value: impl FnOnce() -> Result<V, E>) -> Result<Change<V>, E> {
        self.try_project(header, |_| value())
    }

    /// As [`Store::try_apply`], with a value that is made of the header, too: a projection costs nothing for an object that a new
    /// listing shows as it was.
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
            if let Some(change) = state.keep(&header) {
                return Ok(change);
            }
            state.share(&mut header);
        }
        match value(&header) {
            Ok(value) => Ok(self.state.write().insert(Entry::new(header, value).into())),
            Err(error) => {
                self.state.write().versions.note(&header.resource_version);
                Err(error)
            }
        }
    }

    /// Puts `value` in the place of the value that `entry` has, unless the object has changed since.
    pub fn replace_value(&self, entry: &Arc<Entry<V>>, value: V) {
        let mut state = self.state.write();
        if state.get(&entry.header.key).is_some_and(|current| Arc::ptr_eq(current, entry)) {
            state.put(Arc::new(entry.with_value(value)));
        }
    }

    /// Takes out an object as the watch's last event shows it; ignored when the store has a newer one of that name.
    pub fn delete(&self, header: &Header) -> Change<V> {
        let mut state = self.state.write();
        state.versions.note(&header.resource_version);
        match state.get(&header.key) {
            Some(entry) if entry.header.uid == header.uid || !entry.header.is_newer_than(header) => {
                state.take(&header.key).map_or(Change::Unchanged, |old| Change::Deleted { old })
            }
            _ => Change::Unchanged,
        }
    }

    /// Takes out whatever is under `key`, for sources whose deletions carry no object.
    pub fn delete_key(&self, key: &ObjectKey) -> Change<V> {
        self.state.write().take(key).map_or(Change::Unchanged, |old| Change::Deleted { old })
    }

    /// Notes a version that a bookmark has shown.
    pub fn bookmark(&self, version: &ResourceVersion) {
        self.state.write().versions.note(version);
    }

    /// Begins a new listing: what is not applied until [`Store::finish_replace`] will be gone.
    ///
    /// A listing that broke off needs no end; the next one begins again.
    pub fn begin_replace(&self) {
        let mut state = self.state.write();
        state.listing = state.listing.wrapping_add(1);
        state.versions.begin_listing();
    }

    /// Whether nothing is left of any object.
    #[cfg(test)]
    pub(super) fn is_blank(&self) -> bool {
        let state = self.state.read();
        state.entries.is_empty() && state.owned.is_empty()
    }

    /// Ends a listing: returns what was in the store and not in the listing, sorted by key, and marks the store as synced.
    pub fn finish_replace(&self) -> Vec<Arc<Entry<V>>> {
        let mut state = self.state.write();
        let listing = state.listing;
        let gone = state.entries.extract_if(|entry| entry.0.listing() != listing);
        let gone = by_key(gone.map(|entry| entry.0).collect());
        gone.iter().for_each(|entry| state.owned.remove(entry));
        state.versions.end_listing();
        drop(state);
        self.synced.send_replace(true);
        gone
    }
}

/// The table has an order by chance, which nothing outside may depend on.
fn by_key<V>(mut entries: Vec<Arc<Entry<V>>>) -> Vec<Arc<Entry<V>>> {
    entries.sort_unstable_by(|one, other| one.header.key.cmp(&other.header.key));
    entries
}

impl<V> StoreState<V> {
    fn get(&self, key: &ObjectKey) -> Option<&Arc<Entry<V>>> {
        self.entries.get(key).map(|entry| &entry.0)
    }

    /// Marks what is under the key as listed, and says so if it stays because `header` is no news.
    fn keep(&mut self, header: &Header) -> Option<Change<V>> {
        let ByKey(entry) = self.entries.get(&header.key)?;
        entry.set_listing(self.listing);
        if header.is_newer_than(&entry.header) {
            return None;
        }
        self.versions.note(&header.resource_version);
        Some(Change::Unchanged)
    }

    fn share(&self, header: &mut Header) {
        if let Some(similar) = self.get(&header.key).cloned().or_else(|| self.last.upgrade()) {
            header.share(&similar.header);
        }
    }

    fn insert(&mut self, new: Arc<Entry<V>>) -> Change<V> {
        // Another writer may have been quicker while the value was made.
        if let Some(change) = self.keep(&new.header) {
            return change;
        }
        self.versions.note(&new.header.resource_version);
        new.set_listing(self.listing);
        match self.put(new.clone()) {
            Some(old) => Change::Updated { old, new },
            None => Change::Added { new },
        }
    }

    fn put(&mut self, new: Arc<Entry<V>>) -> Option<Arc<Entry<V>>> {
        let old = self.entries.replace(ByKey(new.clone())).map(|entry| entry.0);
        old.iter().for_each(|old| self.owned.remove(old));
        self.owned.insert(&new);
        self.last = Arc::downgrade(&new);
        old
    }

    fn take(&mut self, key: &ObjectKey) -> Option<Arc<Entry<V>>> {
        let old = self.entries.take(key)?.0;
        self.owned.remove(&old);
        Some(old)
    }
}

impl<V> fmt::Debug for Store<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, seen) = (self.len(), self.seen());
        f.debug_struct("Store").field("len", &len).field("seen", &seen).finish_non_exhaustive()
    }
}

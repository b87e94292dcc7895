//! From an owner to what it owns.

use super::{Entry, ObjectKey, Uid};
use hashbrown::HashMap;
use std::sync::Arc;

/// The entries of a store by the uids of their owners, each list sorted by key.
pub(super) struct OwnerIndex<V>(HashMap<Uid, Vec<Arc<Entry<V>>>>);

impl<V> Default for OwnerIndex<V> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<V> OwnerIndex<V> {
    pub(super) fn get(&self, owner: &Uid) -> &[Arc<Entry<V>>] {
        self.0.get(owner).map_or(&[], Vec::as_slice)
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn insert(&mut self, entry: &Arc<Entry<V>>) {
        for owner in entry.header.owners.iter() {
            let owned = self.0.entry(owner.uid.clone()).or_insert_with(|| Vec::with_capacity(1));
            match position(owned, &entry.header.key) {
                Ok(at) => owned[at] = entry.clone(),
                Err(at) => owned.insert(at, entry.clone()),
            }
        }
    }

    pub(super) fn remove(&mut self, entry: &Entry<V>) {
        for owner in entry.header.owners.iter() {
            let Some(owned) = self.0.get_mut(&owner.uid) else { continue };
            if let Ok(at) = position(owned, &entry.header.key) {
                owned.remove(at);
            }
            if owned.is_empty() {
                self.0.remove(&owner.uid);
            }
        }
    }
}

fn position<V>(owned: &[Arc<Entry<V>>], key: &ObjectKey) -> Result<usize, usize> {
    owned.binary_search_by(|entry| entry.header.key.cmp(key))
}

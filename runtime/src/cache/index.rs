//! `OwnerIndex`: finds cached objects by the uid of their owner.

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
    /// Returns the entries with an owner reference to `owner`, sorted by key.
    pub(super) fn get(&self, owner: &Uid) -> &[Arc<Entry<V>>] {
        self.0.get(owner).map_or(&[], Vec::as_slice)
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds an entry under each of its owners, in place of an entry with the same key.
    pub(super) fn insert(&mut self, entry: &Arc<Entry<V>>) {
        for owner in entry.header.owners.iter() {
            let children = self.0.entry(owner.uid.clone()).or_insert_with(|| Vec::with_capacity(1));
            match position(children, &entry.header.key) {
                Ok(index) => children[index] = entry.clone(),
                Err(index) => children.insert(index, entry.clone()),
            }
        }
    }

    /// Removes an entry from each of its owners.
    pub(super) fn remove(&mut self, entry: &Entry<V>) {
        for owner in entry.header.owners.iter() {
            let Some(children) = self.0.get_mut(&owner.uid) else { continue };
            if let Ok(index) = position(children, &entry.header.key) {
                children.remove(index);
            }
            if children.is_empty() {
                self.0.remove(&owner.uid);
            }
        }
    }
}

/// Returns the position of a key in a sorted list; as an error, the position at which it has to be inserted.
fn position<V>(children: &[Arc<Entry<V>>], key: &ObjectKey) -> Result<usize, usize> {
    children.binary_search_by(|entry| entry.header.key.cmp(key))
}

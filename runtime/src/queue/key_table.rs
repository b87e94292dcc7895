//! `KeyTable`: the keys of a queue with their states, in a hash table.
//!
//! The hash of a key is computed once, before the queue is locked. A key that is ready is found by its hash and its ticket,
//! the number that it got when it became ready, so that a worker that takes it reads no text of keys under the lock.

use super::{hashed_key::HashedKey, ready::smaller_capacity};
use hashbrown::{
    HashTable,
    hash_table::{Entry, OccupiedEntry},
};

/// The states of keys.
pub(super) struct KeyTable<K, S> {
    rows: HashTable<Row<K, S>>,
}

/// A key with its state.
pub(super) struct Row<K, S> {
    pub(super) key: HashedKey<K>,
    pub(super) state: S,
}

impl<K: Clone + Eq, S: Default> KeyTable<K, S> {
    pub(super) fn new() -> Self {
        Self { rows: HashTable::new() }
    }

    /// Returns the state of a key; adds the key with the default state if the table does not have it.
    pub(super) fn entry(&mut self, key: &HashedKey<K>) -> &mut S {
        match self.rows.entry(key.hash, |row| row.key.is(key.hash, &key.key), |row| row.key.hash) {
            Entry::Occupied(occupied) => &mut occupied.into_mut().state,
            Entry::Vacant(vacant) => &mut vacant.insert(Row { key: key.clone(), state: S::default() }).into_mut().state,
        }
    }

    /// Returns the state of a key.
    pub(super) fn get_mut(&mut self, key: &HashedKey<K>) -> Option<&mut S> {
        self.rows.find_mut(key.hash, |row| row.key.is(key.hash, &key.key)).map(|row| &mut row.state)
    }

    /// Returns the row of a key.
    pub(super) fn find(&mut self, hash: u64, key: &K) -> Option<OccupiedEntry<'_, Row<K, S>>> {
        self.rows.find_entry(hash, |row| row.key.is(hash, key)).ok()
    }

    /// Returns whether there is a key with a hash and such a state.
    pub(super) fn has(&self, hash: u64, is_state: impl Fn(&S) -> bool) -> bool {
        self.rows.find(hash, |row| is_state(&row.state)).is_some()
    }

    /// Returns the state of the key with a hash and such a state.
    pub(super) fn find_state(&mut self, hash: u64, is_state: impl Fn(&S) -> bool) -> Option<&mut S> {
        self.rows.find_mut(hash, |row| is_state(&row.state)).map(|row| &mut row.state)
    }

    /// Returns all rows, in no order.
    pub(super) fn rows(&self) -> impl Iterator<Item = &Row<K, S>> {
        self.rows.iter()
    }

    /// Removes the rows for which `keeps` returns false.
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(&mut S) -> bool) {
        self.rows.retain(|row| keeps(&mut row.state));
    }

    /// Releases memory if the table has room for many more keys than it has.
    pub(super) fn shrink(&mut self) {
        if let Some(capacity) = smaller_capacity(self.rows.len(), self.rows.capacity()) {
            self.rows.shrink_to(capacity, |row| row.key.hash);
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.rows.capacity()
    }
}

//! What webhooks have converted: the answers to what is asked about all the time.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use serde_json::Value;

use crate::store::Stored;

/// How many objects are remembered before all are forgotten.
const MOST: usize = 4096;

/// Objects in the version of a kind, by their key and the version of the store in which they were written.
#[derive(Debug, Default)]
pub(crate) struct Converted(Mutex<BTreeMap<(String, u64), Value>>);

impl Converted {
    /// The object as it was converted before.
    pub(super) fn get(&self, stored: &Stored) -> Option<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&(stored.key(), stored.version)).cloned()
    }

    pub(super) fn has(&self, stored: &Stored) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&(stored.key(), stored.version))
    }

    /// Remembers all of them until the next time.
    pub(super) fn put<'a>(&self, converted: impl Iterator<Item = (&'a Stored, Value)>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() > MOST {
            held.clear();
        }
        held.extend(converted.map(|(stored, object)| ((stored.key(), stored.version), object)));
    }
}

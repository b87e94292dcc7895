//! The objects of a kind that are named by others, as a watch shows them.

use crate::{
    cache::{Change, Entry, Header, ObjectKey, PackedList},
    error::Result,
    kind::Kind,
    readiness::{Readiness, managed_readiness, readiness},
    reference::is_reference,
    watch::Watched,
};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// What is kept of each: its metadata and its readiness; and by each reference, who holds it.
#[derive(Debug)]
pub(crate) struct Targets {
    pub(crate) watched: Watched<Readiness>,
    /// Whether the operator has a controller for the kind.
    managed: bool,
    holders: Mutex<HashMap<String, BTreeSet<ObjectKey>>>,
}

#[derive(Deserialize)]
struct Projected {
    #[serde(default)]
    spec: Value,
    #[serde(default)]
    status: Value,
}

impl Targets {
    pub(crate) fn new(kind: Kind, managed: bool) -> Self {
        Self { watched: Watched::new(kind, false), managed, holders: Mutex::default() }
    }

    pub(crate) fn get(&self, key: &ObjectKey) -> Option<Arc<Entry<Readiness>>> {
        self.watched.store.get(key)
    }

    /// The objects that a reference stands on.
    pub(crate) fn with(&self, reference: &str) -> Vec<ObjectKey> {
        self.holders.lock().get(reference).into_iter().flatten().cloned().collect()
    }

    /// All references that begin like this.
    pub(crate) fn beginning(&self, begin: &str) -> Vec<String> {
        self.holders.lock().keys().filter(|reference| reference.starts_with(begin)).cloned().collect()
    }

    /// Takes in an object as the server sent it.
    ///
    /// # Errors
    /// If it isn't an object of the API.
    pub(crate) fn apply(&self, json: &[u8]) -> Result<Change<Readiness>> {
        let header = Header::parse(json)?;
        let parts: Projected = serde_json::from_slice(json)?;
        let readiness = if self.managed { managed_readiness } else { readiness };
        let ready = readiness(&self.watched.kind, header.generation, &parts.spec, &parts.status);
        let change = self.watched.store.apply(header, || ready);
        self.index(&change);
        Ok(change)
    }

    /// Takes note that an object is gone.
    pub(crate) fn delete(&self, header: &Header) -> Change<Readiness> {
        let change = self.watched.store.delete(header);
        self.index(&change);
        change
    }

    /// Ends a list; gives what it didn't hold.
    pub(crate) fn finish(&self) -> Vec<Arc<Entry<Readiness>>> {
        let gone = self.watched.store.finish_replace();
        gone.iter().for_each(|old| self.index(&Change::Deleted { old: old.clone() }));
        gone
    }

    fn index(&self, change: &Change<Readiness>) {
        let mut holders = self.holders.lock();
        if let Some(old) = change.old() {
            for reference in references(&old.header.finalizers) {
                if let Some(keys) = holders.get_mut(reference) {
                    keys.remove(&old.header.key);
                    if keys.is_empty() {
                        holders.remove(reference);
                    }
                }
            }
        }
        if let Some(new) = change.new_entry() {
            for reference in references(&new.header.finalizers) {
                holders.entry(reference.to_owned()).or_default().insert(new.header.key.clone());
            }
        }
    }
}

/// The references among finalizers.
pub(crate) fn references(finalizers: &PackedList) -> impl Iterator<Item = &str> {
    finalizers.iter().filter(|finalizer| is_reference(finalizer))
}

//! The objects of a kind that are named by others, as a watch shows them.

use crate::{
    cache::{Change, Entry, Header, ObjectKey, PackedList},
    error::Result,
    kind::Kind,
    readiness::{Readiness, managed_readiness, readiness},
    reference::is_reference,
    watch::{Health, Watched},
};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::Arc,
};

/// What is kept of each: its metadata and its readiness; and by each reference, who holds it.
#[derive(Debug)]
pub(crate) struct Targets {
    pub(crate) watched: Watched<Readiness>,
    /// Whether the operator has a controller for the kind.
    managed: bool,
    holders: Mutex<BTreeMap<String, BTreeSet<ObjectKey>>>,
}

#[derive(Deserialize)]
struct Projected {
    #[serde(default)]
    spec: Value,
    #[serde(default)]
    status: Value,
}

impl Targets {
    pub(crate) fn new(kind: Kind, managed: bool, health: Health) -> Self {
        Self { watched: Watched { health, ..Watched::new(kind, false) }, managed, holders: Mutex::default() }
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
        let parts: Projected = serde_json::from_slice(json)?;
        let readiness = if self.managed { managed_readiness } else { readiness };
        let ready = readiness(&self.watched.kind, header.generation, &parts.spec, &parts.status);
        let change = self.watched.store.apply(header, || ready);
        let mut holders = self.holders.lock();
        if let Some(old) = change.old() {
            unlist(&mut holders, old);
        }
        if let Some(new) = change.new_entry() {
            for reference in references(&new.header.finalizers) {
                holders.entry(reference.to_owned()).or_default().insert(new.header.key.clone());
            }
        }
        drop(holders);
        Ok(change)
    }

    /// Takes note that an object is gone from the store.
    pub(crate) fn forget(&self, old: &Entry<Readiness>) {
        unlist(&mut self.holders.lock(), old);
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

//! `DependencyGraph`: the index in which the garbage collector looks up the dependents of an owner by the uid of the owner.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::ChangeEvent;
use crate::store::Stored;

/// The identity of an object: group resource, namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectIdentity {
    pub(super) group_resource: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// The dependents of each owner, by the uid in their owner references.
#[derive(Debug, Default)]
pub(super) struct DependencyGraph {
    dependents: BTreeMap<Arc<str>, BTreeSet<ObjectIdentity>>,
    /// Terminating objects by uid: a change of a dependent may release them.
    terminating: BTreeMap<Arc<str>, ObjectIdentity>,
}

impl ObjectIdentity {
    /// Returns the identity of a stored object: its group resource, namespace and name.
    pub(super) fn new(group_resource: &str, object: &Stored) -> Self {
        Self {
            group_resource: group_resource.to_owned(),
            namespace: object.namespace.to_string(),
            name: object.name.to_string(),
        }
    }
}

impl DependencyGraph {
    /// Returns the objects that have an owner reference with this uid.
    pub(super) fn dependents(&self, uid: &str) -> impl Iterator<Item = &ObjectIdentity> {
        self.dependents.get(uid).into_iter().flatten()
    }

    /// Updates the graph after a change of an object, and returns the objects to reconcile: the changed object if it has owners or is
    /// terminating, its dependents if it is deleted or terminating, and its terminating owners.
    pub(super) fn update(&mut self, identity: &ObjectIdentity, event: &ChangeEvent) -> Vec<ObjectIdentity> {
        let mut affected = Vec::new();
        let owners_before = event.before.as_deref().map(|before| &*before.owners).unwrap_or_default();
        let owners = if event.deleted { &[][..] } else { &*event.object.owners };
        self.set_owners(identity, owners_before, owners);
        // Owners may wait until a dependent is gone or no longer blocks their deletion.
        affected.extend(owners_before.iter().chain(owners).filter_map(|uid| self.terminating.get(uid).cloned()));
        let uid = &event.object.uid;
        if event.deleted {
            self.terminating.remove(uid);
            affected.extend(self.dependents(uid).cloned());
            return affected;
        }
        if event.object.deleting {
            self.terminating.insert(uid.clone(), identity.clone());
            // Dependents come first: the owner waits for them.
            affected.extend(self.dependents(uid).cloned());
            affected.push(identity.clone());
        } else if !owners.is_empty() {
            affected.push(identity.clone());
        }
        affected
    }

    /// Updates the dependents of each owner after a change of a dependent: removes it from owners that it no longer has, and adds it to its
    /// current owners.
    fn set_owners(&mut self, identity: &ObjectIdentity, before: &[Arc<str>], now: &[Arc<str>]) {
        for uid in before.iter().filter(|uid| !now.contains(uid)) {
            if let Some(dependents) = self.dependents.get_mut(uid) {
                dependents.remove(identity);
                if dependents.is_empty() {
                    self.dependents.remove(uid);
                }
            }
        }
        for uid in now {
            self.dependents.entry(uid.clone()).or_default().insert(identity.clone());
        }
    }
}

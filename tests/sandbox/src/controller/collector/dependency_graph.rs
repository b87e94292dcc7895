//! Stores the dependency graph of the garbage collector: dependents by the uid of their owner.

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
    deleted: BTreeMap<Arc<str>, ObjectIdentity>,
}

impl ObjectIdentity {
    pub(super) fn new(group_resource: &str, object: &Stored) -> Self {
        Self {
            group_resource: group_resource.to_owned(),
            namespace: object.namespace.to_string(),
            name: object.name.to_string(),
        }
    }
}

impl DependencyGraph {
    pub(super) fn dependents(&self, uid: &str) -> impl Iterator<Item = &ObjectIdentity> {
        self.dependents.get(uid).into_iter().flatten()
    }

    /// Adds a change to the graph, and returns the objects to reconcile for it.
    pub(super) fn learn(&mut self, member: &ObjectIdentity, event: &ChangeEvent) -> Vec<ObjectIdentity> {
        let mut concerned = Vec::new();
        let before = event.before.as_deref().map(|before| &*before.owners).unwrap_or_default();
        let now = if event.gone { &[][..] } else { &*event.object.owners };
        self.relate(member, before, now);
        // Owners may wait until a dependent is gone or no longer blocks their deletion.
        concerned.extend(before.iter().chain(now).filter_map(|uid| self.deleted.get(uid).cloned()));
        let uid = &event.object.uid;
        if event.gone {
            self.deleted.remove(uid);
            concerned.extend(self.dependents(uid).cloned());
            return concerned;
        }
        if event.object.deleting {
            self.deleted.insert(uid.clone(), member.clone());
            // Dependents come first: the owner waits for them.
            concerned.extend(self.dependents(uid).cloned());
            concerned.push(member.clone());
        } else if !now.is_empty() {
            concerned.push(member.clone());
        }
        concerned
    }

    fn relate(&mut self, member: &ObjectIdentity, before: &[Arc<str>], now: &[Arc<str>]) {
        for uid in before.iter().filter(|uid| !now.contains(uid)) {
            if let Some(dependents) = self.dependents.get_mut(uid) {
                dependents.remove(member);
                if dependents.is_empty() {
                    self.dependents.remove(uid);
                }
            }
        }
        for uid in now {
            self.dependents.entry(uid.clone()).or_default().insert(member.clone());
        }
    }
}

//! The dependency graph of the garbage collector: dependents by the uid of their owner.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::ChangeEvent;
use crate::store::Stored;

/// An object by its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectIdentity {
    pub(super) group_resource: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// The dependents of each owner, by the uid that they name.
#[derive(Debug, Default)]
pub(super) struct DependencyGraph {
    dependents: BTreeMap<Arc<str>, BTreeSet<ObjectIdentity>>,
    /// Objects that are being deleted, by uid: what becomes of a dependent may let them go.
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

    /// Takes a change in, and says who is to be looked at for it.
    pub(super) fn learn(&mut self, member: &ObjectIdentity, event: &ChangeEvent) -> Vec<ObjectIdentity> {
        let mut concerned = Vec::new();
        let before = event.before.as_deref().map(|before| &*before.owners).unwrap_or_default();
        let now = if event.gone { &[][..] } else { &*event.object.owners };
        self.relate(member, before, now);
        // Owners may wait for a dependent: that it is gone, or doesn't hold them any more.
        concerned.extend(before.iter().chain(now).filter_map(|uid| self.deleted.get(uid).cloned()));
        let uid = &event.object.uid;
        if event.gone {
            self.deleted.remove(uid);
            concerned.extend(self.dependents(uid).cloned());
            return concerned;
        }
        if event.object.deleting {
            self.deleted.insert(uid.clone(), member.clone());
            // Dependents are told first: the owner waits for them.
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

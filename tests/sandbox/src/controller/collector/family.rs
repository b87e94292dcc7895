//! Who is owned by whom.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::Seen;
use crate::store::Stored;

/// An object by its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::controller) struct Member {
    pub(super) shelf: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// The dependents of each owner, by the uid that they name.
#[derive(Debug, Default)]
pub(super) struct Family {
    dependents: BTreeMap<Arc<str>, BTreeSet<Member>>,
    /// Objects that are being deleted, by uid: what becomes of a dependent may let them go.
    deleted: BTreeMap<Arc<str>, Member>,
}

impl Member {
    pub(super) fn new(shelf: &str, object: &Stored) -> Self {
        Self { shelf: shelf.to_owned(), namespace: object.namespace.to_string(), name: object.name.to_string() }
    }
}

impl Family {
    pub(super) fn dependents(&self, uid: &str) -> impl Iterator<Item = &Member> {
        self.dependents.get(uid).into_iter().flatten()
    }

    /// Takes a change in, and says who is to be looked at for it.
    pub(super) fn learn(&mut self, member: &Member, seen: &Seen) -> Vec<Member> {
        let mut concerned = Vec::new();
        let before = seen.before.as_deref().map(|before| &*before.owners).unwrap_or_default();
        let now = if seen.gone { &[][..] } else { &*seen.object.owners };
        self.relate(member, before, now);
        // Owners may wait for a dependent: that it is gone, or doesn't hold them any more.
        concerned.extend(before.iter().chain(now).filter_map(|uid| self.deleted.get(uid).cloned()));
        let uid = &seen.object.uid;
        if seen.gone {
            self.deleted.remove(uid);
            concerned.extend(self.dependents(uid).cloned());
            return concerned;
        }
        if seen.object.deleting {
            self.deleted.insert(uid.clone(), member.clone());
            // Dependents are told first: the owner waits for them.
            concerned.extend(self.dependents(uid).cloned());
            concerned.push(member.clone());
        } else if !now.is_empty() {
            concerned.push(member.clone());
        }
        concerned
    }

    fn relate(&mut self, member: &Member, before: &[Arc<str>], now: &[Arc<str>]) {
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

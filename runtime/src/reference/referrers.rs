//! `Referrers`: the objects that name another one, by name or by selector.

use crate::{
    cache::Header,
    kind::Kind,
    reference::{ObjectKey, Pointer, To, selector::SelectorIndex},
};
use std::collections::BTreeSet;
use std::collections::HashMap;

/// Who names what, so that a change of what is named wakes those that name it, and nobody else.
#[derive(Debug, Default)]
pub(crate) struct Referrers {
    named: HashMap<ObjectKey, Vec<(Kind, ObjectKey)>>,
    by_target: HashMap<(Kind, ObjectKey), BTreeSet<ObjectKey>>,
    selectors: SelectorIndex,
}

impl Referrers {
    /// Takes note of what an object names; what its nodes named before is forgotten.
    pub(crate) fn set(&mut self, referrer: &ObjectKey, named: Vec<(Kind, ObjectKey)>) {
        if self.named.get(referrer).map_or(&[][..], Vec::as_slice) == named {
            return;
        }
        for old in self.named.remove(referrer).unwrap_or_default() {
            if let Some(referrers) = self.by_target.get_mut(&old) {
                referrers.remove(referrer);
                if referrers.is_empty() {
                    self.by_target.remove(&old);
                }
            }
        }
        for new in named {
            self.add(referrer, new);
        }
    }

    /// Takes note of one more.
    pub(crate) fn add(&mut self, referrer: &ObjectKey, named: (Kind, ObjectKey)) {
        if self.by_target.entry(named.clone()).or_default().insert(referrer.clone()) {
            self.named.entry(referrer.clone()).or_default().push(named);
        }
    }

    /// Takes note of what an object selects.
    pub(crate) fn select(&mut self, referrer: &ObjectKey, pointers: &[Pointer]) {
        let selected = pointers.iter().filter_map(|pointer| match &pointer.to {
            To::All(selected) => Some((pointer.kind.clone(), selected.clone())),
            To::One(_) => None,
        });
        self.selectors.set(referrer, selected.collect());
    }

    /// Who names an object.
    pub(crate) fn of(&self, kind: &Kind, target: &ObjectKey) -> Vec<ObjectKey> {
        self.by_target.get(&(kind.clone(), target.clone())).into_iter().flatten().cloned().collect()
    }

    /// Who selects an object.
    pub(crate) fn selecting(&self, kind: &Kind, header: &Header) -> BTreeSet<ObjectKey> {
        self.selectors.of(kind, header)
    }
}

//! Defines `Referrers`, the index from referenced objects to the objects that name them.

use crate::{
    cache::Header,
    kind::Kind,
    reference::{ObjectKey, Pointer, To, selector::SelectorIndex},
};
use std::collections::BTreeSet;
use std::collections::HashMap;

/// An index from targets to referrers, so that a change of a target enqueues its referrers and no other object.
#[derive(Debug, Default)]
pub(crate) struct Referrers {
    named: HashMap<ObjectKey, Vec<(Kind, ObjectKey)>>,
    by_target: HashMap<(Kind, ObjectKey), BTreeSet<ObjectKey>>,
    selectors: SelectorIndex,
}

impl Referrers {
    /// Replaces the targets of a referrer, including those that its nodes added.
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

    /// Adds a target of a referrer.
    pub(crate) fn add(&mut self, referrer: &ObjectKey, named: (Kind, ObjectKey)) {
        if self.by_target.entry(named.clone()).or_default().insert(referrer.clone()) {
            self.named.entry(referrer.clone()).or_default().push(named);
        }
    }

    /// Replaces the selectors of a referrer.
    pub(crate) fn select(&mut self, referrer: &ObjectKey, pointers: &[Pointer]) {
        let selected = pointers.iter().filter_map(|pointer| match &pointer.to {
            To::All(selected) => Some((pointer.kind.clone(), selected.clone())),
            To::One(_) => None,
        });
        self.selectors.set(referrer, selected.collect());
    }

    /// Returns the objects that name a target.
    pub(crate) fn of(&self, kind: &Kind, target: &ObjectKey) -> Vec<ObjectKey> {
        self.by_target.get(&(kind.clone(), target.clone())).into_iter().flatten().cloned().collect()
    }

    /// Returns the objects with a selector that matches a target.
    pub(crate) fn selecting(&self, kind: &Kind, header: &Header) -> BTreeSet<ObjectKey> {
        self.selectors.of(kind, header)
    }
}

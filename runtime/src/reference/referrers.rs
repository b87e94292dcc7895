//! `Referrers`: the index from referenced objects to the objects that reference them.

use crate::{
    cache::Header,
    kind::Kind,
    reference::{ObjectKey, Pointer, PointerTarget, selector::SelectorIndex},
};
use std::collections::BTreeSet;
use std::collections::HashMap;

/// An index from targets to referrers, so that a change of a target enqueues its referrers and no other object.
#[derive(Debug, Default)]
pub(crate) struct Referrers {
    targets: HashMap<ObjectKey, Vec<(Kind, ObjectKey)>>,
    by_target: HashMap<(Kind, ObjectKey), BTreeSet<ObjectKey>>,
    selectors: SelectorIndex,
}

impl Referrers {
    /// Replaces the targets of a referrer with `named`. Also removes targets that nodes of the referrer have added.
    pub(crate) fn set(&mut self, referrer: &ObjectKey, named: Vec<(Kind, ObjectKey)>) {
        // Without a change, the index is left as it is.
        if self.targets.get(referrer).map_or(&[][..], Vec::as_slice) == named {
            return;
        }
        for old in self.targets.remove(referrer).unwrap_or_default() {
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

    /// Adds a target to those of a referrer; does nothing if the index has it already.
    pub(crate) fn add(&mut self, referrer: &ObjectKey, named: (Kind, ObjectKey)) {
        if self.by_target.entry(named.clone()).or_default().insert(referrer.clone()) {
            self.targets.entry(referrer.clone()).or_default().push(named);
        }
    }

    /// Replaces the indexed selectors of a referrer with those among its references (`pointers`).
    pub(crate) fn set_selectors(&mut self, referrer: &ObjectKey, pointers: &[Pointer]) {
        let selectors = pointers.iter().filter_map(|pointer| match &pointer.to {
            PointerTarget::All(selector) => Some((pointer.kind.clone(), selector.clone())),
            PointerTarget::One(_) => None,
        });
        self.selectors.set(referrer, selectors.collect());
    }

    /// Returns the referrers for which this target was set or added.
    pub(crate) fn of(&self, kind: &Kind, target: &ObjectKey) -> Vec<ObjectKey> {
        self.by_target.get(&(kind.clone(), target.clone())).into_iter().flatten().cloned().collect()
    }

    /// Returns the referrers with a selector that matches a target.
    pub(crate) fn matching(&self, kind: &Kind, header: &Header) -> BTreeSet<ObjectKey> {
        self.selectors.of(kind, header)
    }
}

//! `KindsInBuckets`: the kinds whose objects are in buckets and not in Kubernetes.

use crate::kind::Kind;
use std::{collections::BTreeSet, sync::Arc};

/// The kinds whose objects a client reads from buckets and writes to them. Clones share the set.
#[derive(Clone, Debug, Default)]
pub(crate) struct KindsInBuckets(Arc<BTreeSet<Kind>>);

impl KindsInBuckets {
    /// Returns whether the objects of a kind are in a bucket.
    pub(crate) fn contains(&self, kind: &Kind) -> bool {
        self.0.contains(kind)
    }
}

impl FromIterator<Kind> for KindsInBuckets {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> Self {
        Self(Arc::new(kinds.into_iter().collect()))
    }
}

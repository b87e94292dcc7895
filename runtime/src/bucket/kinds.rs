//! `KindsInBuckets`: the set of kinds whose objects are in key-value buckets and not in Kubernetes.

use crate::kind::Kind;
use std::{collections::BTreeSet, sync::Arc};

/// The kinds whose objects a client reads from buckets and writes to them. Clones share the set.
#[derive(Clone, Debug, Default)]
pub(crate) struct KindsInBuckets {
    kinds: Arc<BTreeSet<Kind>>,
    /// The names of the buckets that don't exist. A subcommand such as `why` goes on without them, the operator does not.
    missing: Arc<BTreeSet<String>>,
}

impl KindsInBuckets {
    /// Returns whether the objects of a kind are in a bucket.
    pub(crate) fn contains(&self, kind: &Kind) -> bool {
        self.kinds.contains(kind)
    }

    /// Returns the same kinds, with the names of the buckets that don't exist.
    pub(crate) fn with_missing(self, buckets: BTreeSet<String>) -> Self {
        Self { missing: Arc::new(buckets), ..self }
    }

    /// Returns the names of the buckets that don't exist.
    pub(crate) fn missing(&self) -> &BTreeSet<String> {
        &self.missing
    }
}

impl FromIterator<Kind> for KindsInBuckets {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> Self {
        Self { kinds: Arc::new(kinds.into_iter().collect()), missing: Arc::default() }
    }
}

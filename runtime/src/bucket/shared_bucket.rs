//! Detects two kinds with the same bucket: each would treat the objects of the other as its own.

use super::BucketDefinition;
use crate::kind::Kind;
use std::collections::BTreeMap;

/// Returns the first bucket that has the objects of two kinds, with both. Each kind would take the objects of the other for its own.
pub(crate) fn shared_bucket<'a>(
    buckets: impl IntoIterator<Item = (&'a Kind, &'a BucketDefinition)>,
) -> Option<(&'a str, [&'a Kind; 2])> {
    let mut kinds = BTreeMap::new();
    buckets.into_iter().find_map(|(kind, bucket)| {
        let other = kinds.insert(&*bucket.name, kind)?;
        Some((&*bucket.name, [other, kind]))
    })
}

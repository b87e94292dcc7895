//! Detects two kinds with the same bucket: each would treat the objects of the other as its own.

use super::BucketDefinition;
use crate::kind::Kind;
use std::collections::BTreeMap;

/// Returns the name of the first bucket that two kinds are defined to use, and these two kinds; `None` if each kind has its own bucket.
pub(crate) fn shared_bucket<'a>(
    buckets: impl IntoIterator<Item = (&'a Kind, &'a BucketDefinition)>,
) -> Option<(&'a str, [&'a Kind; 2])> {
    let mut kinds = BTreeMap::new();
    buckets.into_iter().find_map(|(kind, bucket)| {
        let other = kinds.insert(&*bucket.name, kind)?;
        Some((&*bucket.name, [other, kind]))
    })
}

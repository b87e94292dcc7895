//! Collects orphans: children whose owner no longer exists, and references of deleted primaries.

pub(crate) mod orphans;

//! Collects orphans: children and references whose owner no longer exists.

pub(crate) mod orphans;

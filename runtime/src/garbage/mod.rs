//! Deletes child objects whose owner no longer exists, and removes the finalizers that deleted primaries left on objects that they referred
//! to.

pub(crate) mod orphans;

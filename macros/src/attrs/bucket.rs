//! Parses `nats(...)` in `#[managed(...)]`: the bucket that keeps the objects of a kind.

use darling::FromMeta;
use syn::{LitInt, LitStr};

/// The keys of `#[managed(nats(...))]`. The stage `check` requires the name.
#[derive(Default, FromMeta)]
pub(crate) struct BucketArgs {
    pub(crate) bucket: Option<LitStr>,
    pub(crate) history: Option<LitInt>,
    pub(crate) replicas: Option<LitInt>,
    pub(crate) max_age: Option<LitStr>,
    pub(crate) storage: Option<LitStr>,
}

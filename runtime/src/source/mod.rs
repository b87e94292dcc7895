//! Where primaries live.
//!
//! The loop asks a [`Source`] for primaries and knows nothing of where they are kept. What differs between a Kubernetes API
//! and another store (finalizers, deletion marks, how a status is written) stays behind it.

pub(crate) mod kubernetes;

use crate::{
    cache::{Change, Encoded, Header, Objects, ResourceVersion},
    error::Result,
    kind::Kind,
    watch::Health,
};
use futures::future::BoxFuture;
use serde_json::Value;
use std::fmt::Debug;

/// What a change of the watched objects is told to; `true` while it belongs to a list.
pub type OnChange<'a> = &'a (dyn Fn(&Change<Encoded>, bool) + Send + Sync);

/// A store of primaries.
pub trait Source: Debug + Send + Sync + 'static {
    /// The kind of the primaries.
    fn kind(&self) -> &Kind;
    /// The primaries as last seen.
    fn objects(&self) -> &Objects;
    /// How the watch is doing.
    fn health(&self) -> &Health;
    /// Fills the cache and follows changes, for ever.
    fn follow<'a>(&'a self, on_change: OnChange<'a>) -> BoxFuture<'a, ()>;
    /// Makes sure that the object can't vanish before it is released: stores the finalizer.
    ///
    /// # Errors
    /// A conflict if the object was changed since it was read.
    fn claim<'a>(&'a self, object: &'a Header, finalizer: &'a str) -> BoxFuture<'a, Result<ResourceVersion>>;
    /// Lets the object go: removes the finalizer.
    ///
    /// # Errors
    /// A conflict if the object was changed since it was read.
    fn release<'a>(&'a self, object: &'a Header, finalizer: &'a str) -> BoxFuture<'a, Result<ResourceVersion>>;
    /// Writes the status, and nothing else.
    ///
    /// # Errors
    /// A conflict if the object was changed since it was read, or another one has taken its name.
    fn write_status<'a>(&'a self, object: &'a Header, status: &'a Value) -> BoxFuture<'a, Result<ResourceVersion>>;
}

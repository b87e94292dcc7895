//! Where primaries live.
//!
//! The loop asks a [`Source`] for primaries and knows nothing of where they are kept. What differs between a Kubernetes API
//! and another store (finalizers, deletion marks, how a status is written) stays behind it.

pub(crate) use crate::informer::selection::Selection;
use crate::{
    cache::{Change, Encoded, Header, ObjectKey, PrimaryCache, ResourceVersion, Revision},
    error::Result,
    informer::watch::{Health, Shows},
    kind::Kind,
};
use futures::future::BoxFuture;
use serde_json::Value;
use std::{fmt::Debug, sync::Arc};

/// What a change of the watched objects is told to; `true` while it belongs to a list.
pub(crate) type OnChange<'a> = &'a (dyn Fn(&Change<Encoded>, bool) + Send + Sync);

/// What became of an object that a source doesn't show.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum Stray {
    /// It is gone.
    Gone,
    /// It is there and meant; the source will show it.
    Meant,
    /// It is there, and is not meant any more; as JSON.
    Left(Vec<u8>),
}

/// Owners of the fields of a status, as `fieldsV1` sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct StatusFields {
    /// The sets of the operator's own manager of the status.
    pub ours: Vec<Value>,
    /// The sets of all other managers.
    pub others: Vec<Value>,
}

/// A store of primaries.
pub(crate) trait Source: Debug + Send + Sync + 'static {
    /// The kind of the primaries.
    fn kind(&self) -> &Kind;
    /// The primaries as last seen.
    fn objects(&self) -> &PrimaryCache;
    /// How the watch is doing.
    fn health(&self) -> &Health;
    /// Whether it shows only some of the objects of its kind.
    fn selects(&self) -> bool {
        false
    }
    /// Asks what became of an object that the cache doesn't have; only a source that selects can know better than that it is gone.
    fn stray<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, Result<Stray>> {
        let _ = key;
        Box::pin(async { Ok(Stray::Gone) })
    }
    /// The objects that are not meant and hold a finalizer: what left the selection while nobody looked is among them.
    fn strays<'a>(&'a self, finalizer: &'a str) -> BoxFuture<'a, Result<Vec<ObjectKey>>> {
        let _ = finalizer;
        Box::pin(async { Ok(Vec::new()) })
    }
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
    /// Replaces the status with that of `object`, and nothing else. `object` is all of it as it was read, but for the status.
    ///
    /// # Errors
    /// A conflict if the object is not at `version` any more, or another one has taken its name.
    fn write_status<'a>(
        &'a self,
        header: &'a Header,
        version: &'a ResourceVersion,
        object: Value,
    ) -> BoxFuture<'a, Result<ResourceVersion>>;
    /// Who owns which fields of a status; nothing for a source that keeps no field managers.
    ///
    /// # Errors
    /// A conflict if another object has taken the name.
    fn status_fields<'a>(&'a self, header: &'a Header) -> BoxFuture<'a, Result<StatusFields>> {
        let _ = header;
        Box::pin(async { Ok(StatusFields::default()) })
    }
}

impl Shows for Arc<dyn Source> {
    fn kind(&self) -> &Kind {
        (**self).kind()
    }

    fn revision(&self, key: &ObjectKey) -> Option<Revision> {
        self.objects().store().get(key).map(|entry| Revision::of(&entry.header))
    }
}

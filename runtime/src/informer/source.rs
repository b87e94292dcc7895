//! `Source`: the trait of a store of the objects that a controller reconciles. It caches and watches the objects, and writes their
//! finalizers and status.
//!
//! The loop depends on this trait only. The differences between the Kubernetes API and another storage (finalizers, deletion
//! marks, status writes) are inside the implementations.

pub(crate) use crate::informer::selection::Selection;
use crate::{
    cache::{Change, Encoded, Header, ObjectKey, PrimaryCache, ResourceVersion, Revision},
    error::Result,
    informer::watch::{Health, WatchedRevisions},
    kind::Kind,
};
use futures::future::BoxFuture;
use serde_json::Value;
use std::{fmt::Debug, sync::Arc};

/// The callback for a changed primary. Its second argument is `true` if the primary comes from a list.
pub(crate) type OnChange<'a> = &'a (dyn Fn(&Change<Encoded>, bool) + Send + Sync);

/// The live state of an object that the cache doesn't have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum UncachedObject {
    /// It doesn't exist.
    Deleted,
    /// It exists and is selected. The watch will deliver it.
    Selected,
    /// It exists and is no longer selected; as JSON.
    Deselected(Vec<u8>),
}

/// The owners of the fields of a status, as `fieldsV1` sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct StatusFields {
    /// The fields of the operator's field manager for status writes.
    pub ours: Vec<Value>,
    /// The fields of all other field managers.
    pub others: Vec<Value>,
}

/// The storage of the primaries of a controller: their cache, their watch, and the writes of the loop.
pub(crate) trait Source: Debug + Send + Sync + 'static {
    /// Returns the kind of the primaries.
    fn kind(&self) -> &Kind;
    /// Returns the cache of the primaries.
    fn objects(&self) -> &PrimaryCache;
    /// Returns the health of the watch.
    fn health(&self) -> &Health;
    /// Returns whether it selects primaries by labels or fields, so that the cache lacks some objects of the kind.
    fn has_selector(&self) -> bool {
        false
    }
    /// Reads the live state of an object that the cache doesn't have. Without a selector the object is always deleted.
    fn read_uncached<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, Result<UncachedObject>> {
        let _ = key;
        Box::pin(async { Ok(UncachedObject::Deleted) })
    }
    /// Lists the objects that are not selected and have this finalizer. Some of them may have left the selection while no
    /// operator ran.
    fn list_deselected<'a>(&'a self, finalizer: &'a str) -> BoxFuture<'a, Result<Vec<ObjectKey>>> {
        let _ = finalizer;
        Box::pin(async { Ok(Vec::new()) })
    }
    /// Adds the finalizer to an object and returns the new version. From then on the object exists until the operator removes the
    /// finalizer.
    ///
    /// # Errors
    /// A conflict if the object has changed since it was read.
    fn add_finalizer<'a>(&'a self, object: &'a Header, finalizer: &'a str) -> BoxFuture<'a, Result<ResourceVersion>>;
    /// Removes the finalizer from an object and returns the new version.
    ///
    /// # Errors
    /// A conflict if the object has changed since it was read.
    fn remove_finalizer<'a>(&'a self, object: &'a Header, finalizer: &'a str)
    -> BoxFuture<'a, Result<ResourceVersion>>;
    /// Replaces the status with that of `object`, and nothing else. The rest of `object` is the object as it was read.
    ///
    /// # Errors
    /// A conflict if the object has another version than `version`, or another object has the same name.
    fn write_status<'a>(
        &'a self,
        header: &'a Header,
        version: &'a ResourceVersion,
        object: Value,
    ) -> BoxFuture<'a, Result<ResourceVersion>>;
    /// Reads the owners of the fields of a status; empty if the storage has no field managers.
    ///
    /// # Errors
    /// A conflict if another object has taken the name.
    fn status_fields<'a>(&'a self, header: &'a Header) -> BoxFuture<'a, Result<StatusFields>> {
        let _ = header;
        Box::pin(async { Ok(StatusFields::default()) })
    }
}

impl WatchedRevisions for Arc<dyn Source> {
    fn kind(&self) -> &Kind {
        (**self).kind()
    }

    fn revision(&self, key: &ObjectKey) -> Option<Revision> {
        self.objects().store().get(key).map(|entry| Revision::of(&entry.header))
    }
}

//! `ListerSource` fills a lister, a cache with a projection of each object of a kind, and enqueues the primaries that a changed projection
//! maps to.

use crate::{
    cache::ObjectKey,
    informer::{lister::Lister, watch::Health},
    kind::Kind,
    panic::{Closure, Panics},
    reference::NamespacedName,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize;
use std::{fmt, hash::Hash, sync::Arc};

/// The kind whose objects fill a [`Lister`], and the lister itself, without type parameters.
#[derive(Clone)]
pub(crate) struct ListerSource {
    kind: Kind,
    /// Whether the projection reads metadata only.
    pub(crate) metadata_only: bool,
    pub(crate) writer: Arc<dyn ListerWriter>,
}

/// The metadata of an object's JSON.
#[derive(Deserialize)]
pub(crate) struct ListedMetadata {
    #[serde(default)]
    pub(crate) metadata: ObjectMeta,
}

impl ListerSource {
    /// Creates the source that fills `lister` with a projection of each object of a kind. `project` computes the projection from the JSON
    /// of the object, and `map` returns the names of the primaries to enqueue when the projection changes.
    pub(crate) fn new<V, X, N>(
        kind: Kind,
        lister: Lister<V, X>,
        project: impl Fn(&[u8]) -> serde_json::Result<V> + Send + Sync + 'static,
        map: impl Fn(&ObjectKey, &V) -> N + Send + Sync + 'static,
    ) -> Self
    where
        V: PartialEq + Send + Sync + 'static,
        X: Clone + Eq + Hash + Send + Sync + 'static,
        N: IntoIterator<Item = NamespacedName>,
    {
        let map = move |key: &ObjectKey, projection: &V| object_keys(map(key, projection), key.namespace());
        Self { kind, metadata_only: false, writer: Arc::new(TypedListerWriter { lister, project, map }) }
    }

    /// Requests only the metadata of the objects from the API server.
    pub(crate) fn with_metadata_only(self) -> Self {
        Self { metadata_only: true, ..self }
    }

    /// Returns the kind.
    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }
}

/// A [`Lister`] that one controller reads and another one fills, without type parameters.
#[derive(Clone)]
pub(crate) struct ReadLister(Arc<dyn Fn() -> Option<Health> + Send + Sync>);

impl ReadLister {
    /// Creates a handle on a lister that returns the watch which fills it.
    pub(crate) fn new<V: Send + Sync + 'static, X: Send + Sync + 'static>(lister: &Lister<V, X>) -> Self {
        let lister = lister.clone();
        Self(Arc::new(move || lister.watch()))
    }

    /// Returns the watch that fills the lister; `None` if no controller of the operator fills it.
    pub(crate) fn watch(&self) -> Option<Health> {
        (self.0)()
    }
}

impl fmt::Debug for ReadLister {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadLister").field(&self.watch().map(|watch| watch.kind().clone())).finish()
    }
}

/// Converts names of primaries to keys. A name without a namespace is in `default_namespace`.
fn object_keys(names: impl IntoIterator<Item = NamespacedName>, default_namespace: Option<&str>) -> Vec<ObjectKey> {
    let key = |name: NamespacedName| ObjectKey::new(name.namespace.as_deref().or(default_namespace), &name.name);
    names.into_iter().map(key).collect()
}

/// Writes the objects of a watch into a lister, and returns the keys of the primaries to enqueue.
pub(crate) trait ListerWriter: Send + Sync {
    /// Clears the lister for a watch that starts.
    fn begin(&self, watch: &Health);
    /// Marks the first list as complete.
    fn mark_listed(&self);
    /// Projects a new or changed object into the lister, and returns the keys of the primaries to enqueue. `is_new` is whether the lister
    /// has no object with this uid yet. `panics` collects panics of the user's functions.
    fn put(
        &self,
        key: &ObjectKey,
        json: &[u8],
        is_new: bool,
        panics: &mut Panics,
    ) -> serde_json::Result<Vec<ObjectKey>>;
    /// Removes a deleted object from the lister, and returns the keys of the primaries that it mapped to.
    fn remove(&self, key: &ObjectKey, panics: &mut Panics) -> Vec<ObjectKey>;
}

/// The [`ListerWriter`] of one lister, with the user's functions.
struct TypedListerWriter<V, X, Project, Map> {
    lister: Lister<V, X>,
    project: Project,
    map: Map,
}

impl<V, X, Project, Map> ListerWriter for TypedListerWriter<V, X, Project, Map>
where
    V: PartialEq + Send + Sync,
    X: Clone + Eq + Hash + Send + Sync,
    Project: Fn(&[u8]) -> serde_json::Result<V> + Send + Sync,
    Map: Fn(&ObjectKey, &V) -> Vec<ObjectKey> + Send + Sync,
{
    fn begin(&self, watch: &Health) {
        self.lister.begin(watch);
    }

    fn mark_listed(&self) {
        self.lister.mark_listed();
    }

    /// Stores the projection of a new or changed object, and returns the primaries that the old and the new projection map to. Returns none
    /// if the projection has not changed, or if the user's function panicked; the lister then keeps the old projection.
    fn put(
        &self,
        key: &ObjectKey,
        json: &[u8],
        is_new: bool,
        panics: &mut Panics,
    ) -> serde_json::Result<Vec<ObjectKey>> {
        let Some(projection) = panics.catch(Closure::Projection, || (self.project)(json)) else {
            return Ok(Vec::new());
        };
        let projection = projection?;
        // A new object enqueues its primaries even with an equal projection. `contains` calls the user's `PartialEq`, which may panic.
        if !is_new && panics.catch(Closure::Projection, || self.lister.contains(key, &projection)).unwrap_or_default() {
            return Ok(Vec::new());
        }
        let mut keys = self.primaries_of(key, &projection, panics);
        // The primaries of the old projection are enqueued as well: the object may no longer map to them.
        if let Some(old) = self.lister.put(key, projection, panics) {
            keys.extend(self.primaries_of(key, &old, panics));
        }
        Ok(keys)
    }

    fn remove(&self, key: &ObjectKey, panics: &mut Panics) -> Vec<ObjectKey> {
        self.lister.remove(key).map_or_else(Vec::new, |old| self.primaries_of(key, &old, panics))
    }
}

impl<V, X, Project, Map: Fn(&ObjectKey, &V) -> Vec<ObjectKey>> TypedListerWriter<V, X, Project, Map> {
    /// Maps a projection to the keys of primaries by the user's function; to none if it panics.
    fn primaries_of(&self, key: &ObjectKey, projection: &V, panics: &mut Panics) -> Vec<ObjectKey> {
        panics.catch(Closure::ProjectionMap, || (self.map)(key, projection)).unwrap_or_default()
    }
}

impl fmt::Debug for ListerSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ListerSource").field(&self.kind).finish()
    }
}

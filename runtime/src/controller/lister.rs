//! `ViewSource` fills a view from the objects of a kind, and maps changed projections to primaries.

use crate::{
    cache::ObjectKey,
    informer::{view::View, watch::Health},
    kind::Kind,
    panic::{Closure, Panics},
    reference::NamespacedName,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize;
use std::{fmt, hash::Hash, sync::Arc};

/// The kind whose objects fill a [`View`], and the view itself, without type parameters.
#[derive(Clone)]
pub struct ViewSource {
    kind: Kind,
    /// Whether the projection reads metadata only.
    pub(crate) metadata_only: bool,
    pub(crate) writer: Arc<dyn ViewWriter>,
}

/// The metadata of an object's JSON.
#[derive(Deserialize)]
pub(crate) struct ListedMetadata {
    #[serde(default)]
    pub(crate) metadata: ObjectMeta,
}

impl ViewSource {
    /// Fills `view` with the projection of each object of a kind. `project` makes it of the object's JSON, and `map` names the
    /// primaries to enqueue when it changes.
    pub(crate) fn new<V, X, N>(
        kind: Kind,
        view: View<V, X>,
        project: impl Fn(&[u8]) -> serde_json::Result<V> + Send + Sync + 'static,
        map: impl Fn(&ObjectKey, &V) -> N + Send + Sync + 'static,
    ) -> Self
    where
        V: PartialEq + Send + Sync + 'static,
        X: Clone + Eq + Hash + Send + Sync + 'static,
        N: IntoIterator<Item = NamespacedName>,
    {
        let map = move |key: &ObjectKey, projection: &V| object_keys(map(key, projection), key.namespace());
        Self { kind, metadata_only: false, writer: Arc::new(TypedViewWriter { view, project, map }) }
    }

    /// Requests only the metadata of the objects from the API server.
    pub(crate) fn with_metadata_only(self) -> Self {
        Self { metadata_only: true, ..self }
    }

    /// The kind.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }
}

/// A [`View`] that one controller reads and another one fills, without type parameters.
#[derive(Clone)]
pub struct ReadView(Arc<dyn Fn() -> Option<Health> + Send + Sync>);

impl ReadView {
    pub(crate) fn new<V: Send + Sync + 'static, X: Send + Sync + 'static>(view: &View<V, X>) -> Self {
        let view = view.clone();
        Self(Arc::new(move || view.watch()))
    }

    /// The watch that fills the view; `None` if no controller of the operator fills it.
    pub(crate) fn watch(&self) -> Option<Health> {
        (self.0)()
    }
}

impl fmt::Debug for ReadView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadView").field(&self.watch().map(|watch| watch.kind().clone())).finish()
    }
}

/// The keys of these names. A name without a namespace is in `default_namespace`.
fn object_keys(names: impl IntoIterator<Item = NamespacedName>, default_namespace: Option<&str>) -> Vec<ObjectKey> {
    let key = |name: NamespacedName| ObjectKey::new(name.namespace.as_deref().or(default_namespace), &name.name);
    names.into_iter().map(key).collect()
}

/// Writes the objects of a watch into a view, and returns the keys of the primaries to enqueue.
pub(crate) trait ViewWriter: Send + Sync {
    /// Clears the view for a watch that starts.
    fn begin(&self, watch: &Health);
    /// Marks the first list as complete.
    fn mark_listed(&self);
    /// Projects a new or changed object into the view; `is_new` if it has another uid than before.
    fn put(
        &self,
        key: &ObjectKey,
        json: &[u8],
        is_new: bool,
        panics: &mut Panics,
    ) -> serde_json::Result<Vec<ObjectKey>>;
    /// Removes a deleted object from the view.
    fn remove(&self, key: &ObjectKey, panics: &mut Panics) -> Vec<ObjectKey>;
}

/// The [`ViewWriter`] of one view, with the user's functions.
struct TypedViewWriter<V, X, Project, Map> {
    view: View<V, X>,
    project: Project,
    map: Map,
}

impl<V, X, Project, Map> ViewWriter for TypedViewWriter<V, X, Project, Map>
where
    V: PartialEq + Send + Sync,
    X: Clone + Eq + Hash + Send + Sync,
    Project: Fn(&[u8]) -> serde_json::Result<V> + Send + Sync,
    Map: Fn(&ObjectKey, &V) -> Vec<ObjectKey> + Send + Sync,
{
    fn begin(&self, watch: &Health) {
        self.view.begin(watch);
    }

    fn mark_listed(&self) {
        self.view.mark_listed();
    }

    fn put(
        &self,
        key: &ObjectKey,
        json: &[u8],
        is_new: bool,
        panics: &mut Panics,
    ) -> serde_json::Result<Vec<ObjectKey>> {
        let Some(projection) = panics.catch(Closure::Keeps, || (self.project)(json)) else { return Ok(Vec::new()) };
        let projection = projection?;
        // The comparison (`PartialEq`) is user code as well and may panic.
        if !is_new && panics.catch(Closure::Keeps, || self.view.contains(key, &projection)).unwrap_or_default() {
            return Ok(Vec::new());
        }
        let mut keys = self.primaries_of(key, &projection, panics);
        // The primaries of the old projection as well: the object may no longer map to them.
        if let Some(old) = self.view.put(key, projection, panics) {
            keys.extend(self.primaries_of(key, &old, panics));
        }
        Ok(keys)
    }

    fn remove(&self, key: &ObjectKey, panics: &mut Panics) -> Vec<ObjectKey> {
        self.view.remove(key).map_or_else(Vec::new, |old| self.primaries_of(key, &old, panics))
    }
}

impl<V, X, Project, Map: Fn(&ObjectKey, &V) -> Vec<ObjectKey>> TypedViewWriter<V, X, Project, Map> {
    fn primaries_of(&self, key: &ObjectKey, projection: &V, panics: &mut Panics) -> Vec<ObjectKey> {
        panics.catch(Closure::KeepsMap, || (self.map)(key, projection)).unwrap_or_default()
    }
}

impl fmt::Debug for ViewSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ViewSource").field(&self.kind).finish()
    }
}

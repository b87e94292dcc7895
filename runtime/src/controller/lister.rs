//! Objects that a controller keeps a part of, and whom a change of that part concerns.

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

/// A kind of which a [`View`] keeps something, with its types gone.
#[derive(Clone)]
pub struct Kept {
    kind: Kind,
    /// Whether metadata is all that is looked at.
    pub(crate) metadata_only: bool,
    pub(crate) keeps: Arc<dyn Keeps>,
}

/// The metadata of an object's JSON.
#[derive(Deserialize)]
pub(crate) struct ListedMetadata {
    #[serde(default)]
    pub(crate) metadata: ObjectMeta,
}

impl Kept {
    /// A part of each object of a kind: what `read` makes of its JSON.
    pub(crate) fn new<V, X, N>(
        kind: Kind,
        view: View<V, X>,
        read: impl Fn(&[u8]) -> serde_json::Result<V> + Send + Sync + 'static,
        map: impl Fn(&ObjectKey, &V) -> N + Send + Sync + 'static,
    ) -> Self
    where
        V: PartialEq + Send + Sync + 'static,
        X: Clone + Eq + Hash + Send + Sync + 'static,
        N: IntoIterator<Item = NamespacedName>,
    {
        let keys = move |key: &ObjectKey, kept: &V| keys_of(map(key, kept), key.namespace());
        Self { kind, metadata_only: false, keeps: Arc::new(Keeper { view, keep: read, keys }) }
    }

    /// The same, and no more than the metadata is asked for.
    pub(crate) fn of_metadata(self) -> Self {
        Self { metadata_only: true, ..self }
    }

    /// The kind.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }
}

/// A [`View`] that a controller reads and another controller keeps, with its types gone.
#[derive(Clone)]
pub struct ReadView(Arc<dyn Fn() -> Option<Health> + Send + Sync>);

impl ReadView {
    pub(crate) fn new<V: Send + Sync + 'static, X: Send + Sync + 'static>(view: &View<V, X>) -> Self {
        let view = view.clone();
        Self(Arc::new(move || view.watch()))
    }

    /// The watch that fills the view; `None` if no controller of the operator keeps it.
    pub(crate) fn watch(&self) -> Option<Health> {
        (self.0)()
    }
}

impl fmt::Debug for ReadView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadView").field(&self.watch().map(|watch| watch.kind().clone())).finish()
    }
}

fn keys_of(names: impl IntoIterator<Item = NamespacedName>, home: Option<&str>) -> Vec<ObjectKey> {
    let key = |name: NamespacedName| ObjectKey::new(name.namespace.as_deref().or(home), &name.name);
    names.into_iter().map(key).collect()
}

/// What a watch tells a view; what comes back is whom it concerns.
pub(crate) trait Keeps: Send + Sync {
    /// A watch begins.
    fn begin(&self, watch: &Health);
    /// Its first list is complete.
    fn listed(&self);
    /// An object came or changed; `anew` if it is another one than before.
    fn put(&self, key: &ObjectKey, json: &[u8], anew: bool, panics: &mut Panics) -> serde_json::Result<Vec<ObjectKey>>;
    /// An object is gone.
    fn remove(&self, key: &ObjectKey, panics: &mut Panics) -> Vec<ObjectKey>;
}

struct Keeper<V, X, Keep, Keys> {
    view: View<V, X>,
    keep: Keep,
    keys: Keys,
}

impl<V, X, Keep, Keys> Keeps for Keeper<V, X, Keep, Keys>
where
    V: PartialEq + Send + Sync,
    X: Clone + Eq + Hash + Send + Sync,
    Keep: Fn(&[u8]) -> serde_json::Result<V> + Send + Sync,
    Keys: Fn(&ObjectKey, &V) -> Vec<ObjectKey> + Send + Sync,
{
    fn begin(&self, watch: &Health) {
        self.view.begin(watch);
    }

    fn listed(&self) {
        self.view.listed();
    }

    fn put(&self, key: &ObjectKey, json: &[u8], anew: bool, panics: &mut Panics) -> serde_json::Result<Vec<ObjectKey>> {
        let Some(kept) = panics.catch(Closure::Keeps, || (self.keep)(json)) else { return Ok(Vec::new()) };
        let kept = kept?;
        // The comparison is the user's, too.
        if !anew && panics.catch(Closure::Keeps, || self.view.holds(key, &kept)).unwrap_or_default() {
            return Ok(Vec::new());
        }
        let mut keys = self.keys_of(key, &kept, panics);
        // Whom it concerned before is told, too: it may be the end of that which concerned them.
        if let Some(old) = self.view.put(key, kept, panics) {
            keys.extend(self.keys_of(key, &old, panics));
        }
        Ok(keys)
    }

    fn remove(&self, key: &ObjectKey, panics: &mut Panics) -> Vec<ObjectKey> {
        self.view.remove(key).map_or_else(Vec::new, |old| self.keys_of(key, &old, panics))
    }
}

impl<V, X, Keep, Keys: Fn(&ObjectKey, &V) -> Vec<ObjectKey>> Keeper<V, X, Keep, Keys> {
    fn keys_of(&self, key: &ObjectKey, kept: &V, panics: &mut Panics) -> Vec<ObjectKey> {
        panics.catch(Closure::KeepsMap, || (self.keys)(key, kept)).unwrap_or_default()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kept").field(&self.kind).finish()
    }
}

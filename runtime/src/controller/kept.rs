//! Objects that a controller keeps a part of, and whom a change of that part concerns.

use crate::{cache::ObjectKey, kind::Kind, reference::NamespacedName, view::View, watch::Health};
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
pub(super) struct Metadata {
    #[serde(default)]
    pub(super) metadata: ObjectMeta,
}

impl Kept {
    /// A part of each object of a kind: what `read` makes of its JSON.
    pub(super) fn new<V, X, N>(
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
    pub(super) fn of_metadata(self) -> Self {
        Self { metadata_only: true, ..self }
    }

    /// The kind.
    pub fn kind(&self) -> &Kind {
        &self.kind
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
    fn put(&self, key: &ObjectKey, json: &[u8], anew: bool) -> serde_json::Result<Vec<ObjectKey>>;
    /// An object is gone.
    fn remove(&self, key: &ObjectKey) -> Vec<ObjectKey>;
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

    fn put(&self, key: &ObjectKey, json: &[u8], anew: bool) -> serde_json::Result<Vec<ObjectKey>> {
        let kept = (self.keep)(json)?;
        if !anew && self.view.holds(key, &kept) {
            return Ok(Vec::new());
        }
        let mut keys = (self.keys)(key, &kept);
        // Whom it concerned before is told, too: it may be the end of that which concerned them.
        keys.extend(self.view.put(key, kept).iter().flat_map(|old| (self.keys)(key, old)));
        Ok(keys)
    }

    fn remove(&self, key: &ObjectKey) -> Vec<ObjectKey> {
        self.view.remove(key).map_or_else(Vec::new, |old| (self.keys)(key, &old))
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kept").field(&self.kind).finish()
    }
}

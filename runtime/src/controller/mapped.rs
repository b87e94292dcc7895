//! `Enqueue` and `MappedWatch` map objects of another kind to the primaries that a change enqueues.

use crate::{
    cache::ObjectKey,
    kind::{Kind, Typed, kind_of},
    panic::{Closure, Panics},
    predicate::{Facts, Passes, Predicate},
    reference::NamespacedName,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, de::DeserializeOwned};
use std::{fmt, sync::Arc};

/// Another kind that a controller watches: which primaries a change of an object enqueues, and which changes do.
///
/// ```
/// # use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
/// # use opgen::{Enqueue, Foreign, NamespacedName, Operator, Predicate, prelude::*};
/// # use k8s_openapi::api::core::v1::Namespace;
/// # #[derive(Provisioner)]
/// # #[provisioner(serial, owner = Foreign<Namespace>)]
/// # struct Tree {
/// #     #[provisioner(resource)]
/// #     settings: ConfigMap,
/// # }
/// # impl Tree {
/// #     fn settings(_: &Namespace) -> ConfigMap { ConfigMap::default() }
/// # }
/// # let operator =
/// Operator::new("teams").controls_with::<Foreign<Namespace>, Tree>(|c| {
///     // Every Pod enqueues the Namespace `usage`. The name doesn't depend on the Pod, so only metadata is watched.
///     c.watches(Enqueue::<Pod>::for_one(NamespacedName::cluster("usage")).when(Predicate::labels()))
///         // A created or deleted Node enqueues every Namespace; its heartbeats enqueue none.
///         .watches(Enqueue::<Node>::for_all().when(Predicate::never()))
/// });
/// ```
pub struct Enqueue<K> {
    mapping: Mapping<K>,
    predicate: Option<Predicate<K>>,
}

/// How an object maps to primaries.
enum Mapping<K> {
    /// To all primaries.
    All,
    /// By a function of the object.
    Object(MapFn<K>),
    /// By a function of its metadata.
    Metadata(MapFn<ObjectMeta>),
}

type MapFn<T> = Arc<dyn Fn(&T) -> Vec<NamespacedName> + Send + Sync>;
/// Maps the JSON of an object, without the type of its kind.
type MapJsonFn = Arc<dyn Fn(&[u8], &mut Panics) -> serde_json::Result<MappedKeys> + Send + Sync>;

impl<K> Enqueue<K> {
    /// Creates a mapping by which a change of an object enqueues the primaries that `map` names. A name without a namespace is in
    /// the namespace of the object.
    pub fn map<N: IntoIterator<Item = NamespacedName>>(map: impl Fn(&K) -> N + Send + Sync + 'static) -> Self {
        let map = move |object: &K| map(object).into_iter().collect();
        Self { mapping: Mapping::Object(Arc::new(map)), predicate: None }
    }

    /// Creates a mapping like [`Enqueue::map`], with a function of the metadata. The operator requests and decodes only the
    /// metadata.
    pub fn map_metadata<N: IntoIterator<Item = NamespacedName>>(
        map: impl Fn(&ObjectMeta) -> N + Send + Sync + 'static,
    ) -> Self {
        let map = move |metadata: &ObjectMeta| map(metadata).into_iter().collect();
        Self { mapping: Mapping::Metadata(Arc::new(map)), predicate: None }
    }

    /// Creates a mapping by which a change of any object enqueues the same primary. The operator requests only metadata.
    pub fn for_one(name: NamespacedName) -> Self {
        Self::map_metadata(move |_| Some(name.clone()))
    }

    /// Creates a mapping by which a change of any object enqueues every primary. The operator requests only metadata.
    pub fn for_all() -> Self {
        Self { mapping: Mapping::All, predicate: None }
    }

    /// Decides which updates of an object enqueue primaries. An update after which the object maps to other primaries always
    /// does, and so do its creation and deletion. Default: all updates.
    #[must_use]
    pub fn when(mut self, predicate: Predicate<K>) -> Self {
        self.predicate = Some(predicate);
        self
    }

    /// Returns whether the mapping and the predicate read only metadata, so that the operator requests only metadata.
    fn needs_metadata_only(&self) -> bool {
        !matches!(self.mapping, Mapping::Object(_)) && !self.predicate.as_ref().is_some_and(Predicate::needs_object)
    }

    /// Calls the user's mapping and predicate for an object. Returns the keys of the primaries that the object maps to, and the facts of
    /// the object that the predicate compares on an update. `object` is `None` if only metadata is watched; `panics` collects the panics.
    fn map_object(&self, metadata: &ObjectMeta, object: Option<&K>, panics: &mut Panics) -> MappedKeys {
        let names = panics.catch(Closure::Watches, || match &self.mapping {
            // `all_primaries` stands for the keys.
            Mapping::All => Vec::new(),
            Mapping::Object(map) => object.map(|object| map(object)).unwrap_or_default(),
            Mapping::Metadata(map) => map(metadata),
        });
        let namespace = metadata.namespace.as_deref();
        let key = |name: &NamespacedName| ObjectKey::new(name.namespace.as_deref().or(namespace), &name.name);
        let facts = self.predicate.as_ref().map(|predicate| {
            let facts = panics.catch(Closure::Predicate, || predicate.facts(metadata, object));
            facts.map_or(PredicateFacts::Panicked, PredicateFacts::Facts)
        });
        MappedKeys {
            keys: names.unwrap_or_default().iter().map(key).collect(),
            all_primaries: matches!(self.mapping, Mapping::All),
            facts: facts.unwrap_or_default(),
        }
    }
}

impl<K> fmt::Debug for Enqueue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enqueue").field("predicate", &self.predicate).finish_non_exhaustive()
    }
}

/// The primaries that an object maps to, and the facts that the predicate compares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MappedKeys {
    pub(crate) keys: Vec<ObjectKey>,
    /// Whether the object maps to all primaries; `keys` is empty then.
    pub(crate) all_primaries: bool,
    facts: PredicateFacts,
}

/// The facts that a predicate read from an object.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PredicateFacts {
    Facts(Facts),
    /// The predicate panicked, so there are none.
    Panicked,
}

impl Default for PredicateFacts {
    fn default() -> Self {
        Self::Facts(Facts::default())
    }
}

/// An [`Enqueue`] without the type of its kind.
#[derive(Clone)]
pub(crate) struct MappedWatch {
    kind: Kind,
    /// Whether the mapping reads metadata only.
    pub(crate) metadata_only: bool,
    map: MapJsonFn,
    passes: Passes,
}

#[derive(Deserialize)]
struct MappedMetadata {
    #[serde(default)]
    metadata: ObjectMeta,
}

impl MappedWatch {
    /// Converts an [`Enqueue`] to a watch without the type of its kind, whose `map` takes the JSON of an object. It decodes only the
    /// metadata if the mapping and the predicate read nothing else. It catches panics of the user's functions.
    pub(super) fn new<K: Typed + DeserializeOwned>(enqueue: Enqueue<K>) -> Self {
        let (metadata_only, predicate) = (enqueue.needs_metadata_only(), enqueue.predicate.clone());
        let map = move |json: &[u8], panics: &mut Panics| {
            if metadata_only {
                let object: MappedMetadata = serde_json::from_slice(json)?;
                return Ok(enqueue.map_object(&object.metadata, None, panics));
            }
            // Decoding calls the user's `Deserialize`, which may panic; the object then maps to no primaries.
            let object = panics.catch(Closure::Object, || serde_json::from_slice::<K>(json)).transpose()?;
            Ok(object.map(|object| enqueue.map_object(object.meta(), Some(&object), panics)).unwrap_or_default())
        };
        let passes =
            move |old: &Facts, new: &Facts| predicate.as_ref().is_none_or(|predicate| predicate.passes(old, new));
        Self { kind: kind_of::<K>(), metadata_only, map: Arc::new(map), passes: Arc::new(passes) }
    }

    /// Returns the watched kind.
    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Maps an object, as the server sent it, to primaries. The keys may have a namespace although the primaries are
    /// cluster-scoped; the controller that enqueues them drops it.
    pub(crate) fn map(&self, json: &[u8], panics: &mut Panics) -> serde_json::Result<MappedKeys> {
        (self.map)(json, panics)
    }

    /// Returns whether an update of an object enqueues primaries: it maps to other primaries than before, the predicate accepts the update,
    /// or the predicate panicked, so that the update may matter.
    pub(crate) fn passes(&self, old: &MappedKeys, new: &MappedKeys) -> bool {
        match (&old.facts, &new.facts) {
            (PredicateFacts::Facts(before), PredicateFacts::Facts(after)) => {
                old.keys != new.keys || (self.passes)(before, after)
            }
            _ => true,
        }
    }
}

impl fmt::Debug for MappedWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MappedWatch").field(&self.kind).finish()
    }
}

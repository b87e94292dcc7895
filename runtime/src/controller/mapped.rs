//! Objects that are neither primaries nor made by a tree, and whom they concern.

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

/// Another kind that a controller follows: whom a change of an object concerns, and which changes do.
///
/// ```
/// # use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
/// # use opgen::{Follow, Foreign, NamespacedName, Operator, Predicate, prelude::*};
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
///     // Every Pod concerns the one Namespace `usage`, whatever the Pod is like: only metadata is watched.
///     c.follows(Follow::<Pod>::for_one(NamespacedName::cluster("usage")).when(Predicate::labels()))
///         // A Node that comes or goes concerns every Namespace; its heartbeats concern none.
///         .follows(Follow::<Node>::for_all().when(Predicate::never()))
/// });
/// ```
pub struct Follow<K> {
    concerns: Concerns<K>,
    predicate: Option<Predicate<K>>,
}

enum Concerns<K> {
    All,
    Object(NamesOf<K>),
    Metadata(NamesOf<ObjectMeta>),
}

type NamesOf<T> = Arc<dyn Fn(&T) -> Vec<NamespacedName> + Send + Sync>;
type ReadConcern = Arc<dyn Fn(&[u8], &mut Panics) -> serde_json::Result<Concern> + Send + Sync>;

impl<K> Follow<K> {
    /// A change concerns the primaries that `map` names. A name without a namespace is one in the namespace of the object.
    pub fn by<N: IntoIterator<Item = NamespacedName>>(map: impl Fn(&K) -> N + Send + Sync + 'static) -> Self {
        let map = move |object: &K| map(object).into_iter().collect();
        Self { concerns: Concerns::Object(Arc::new(map)), predicate: None }
    }

    /// As [`Follow::by`], by metadata alone: no more than that is asked for and decoded.
    pub fn by_metadata<N: IntoIterator<Item = NamespacedName>>(
        map: impl Fn(&ObjectMeta) -> N + Send + Sync + 'static,
    ) -> Self {
        let map = move |metadata: &ObjectMeta| map(metadata).into_iter().collect();
        Self { concerns: Concerns::Metadata(Arc::new(map)), predicate: None }
    }

    /// Every object concerns one and the same primary; only metadata is asked for.
    pub fn for_one(name: NamespacedName) -> Self {
        Self::by_metadata(move |_| Some(name.clone()))
    }

    /// Every object concerns every primary; only metadata is asked for.
    pub fn for_all() -> Self {
        Self { concerns: Concerns::All, predicate: None }
    }

    /// Which changes of an object that stays are worth a pass. Whom an object concerned before and doesn't now, or the other way
    /// round, is told in any case. Default: all changes.
    #[must_use]
    pub fn when(mut self, predicate: Predicate<K>) -> Self {
        self.predicate = Some(predicate);
        self
    }

    fn is_of_metadata(&self) -> bool {
        !matches!(self.concerns, Concerns::Object(_)) && !self.predicate.as_ref().is_some_and(Predicate::needs_object)
    }

    fn concern(&self, metadata: &ObjectMeta, object: Option<&K>, panics: &mut Panics) -> Concern {
        let names = panics.catch(Closure::Watches, || match &self.concerns {
            Concerns::All => Vec::new(),
            Concerns::Object(map) => object.map(|object| map(object)).unwrap_or_default(),
            Concerns::Metadata(map) => map(metadata),
        });
        let home = metadata.namespace.as_deref();
        let key = |name: &NamespacedName| ObjectKey::new(name.namespace.as_deref().or(home), &name.name);
        let facts = self.predicate.as_ref().map(|predicate| {
            let facts = panics.catch(Closure::Predicate, || predicate.facts(metadata, object));
            facts.map_or(PredicateFacts::Nothing, PredicateFacts::Facts)
        });
        Concern {
            keys: names.unwrap_or_default().iter().map(key).collect(),
            all: matches!(self.concerns, Concerns::All),
            seen: facts.unwrap_or_default(),
        }
    }
}

impl<K> fmt::Debug for Follow<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follow").field("predicate", &self.predicate).finish_non_exhaustive()
    }
}

/// Whom an object concerns, and what its kind's predicate has looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Concern {
    pub(crate) keys: Vec<ObjectKey>,
    /// Everybody.
    pub(crate) all: bool,
    seen: PredicateFacts,
}

/// What a predicate has looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PredicateFacts {
    Facts(Facts),
    /// It panicked.
    Nothing,
}

impl Default for PredicateFacts {
    fn default() -> Self {
        Self::Facts(Facts::default())
    }
}

/// A followed kind with its type gone.
#[derive(Clone)]
pub struct Mapped {
    kind: Kind,
    /// Whether metadata is all that is looked at.
    pub(crate) metadata_only: bool,
    read: ReadConcern,
    passes: Passes,
}

#[derive(Deserialize)]
struct MappedMetadata {
    #[serde(default)]
    metadata: ObjectMeta,
}

impl Mapped {
    pub(super) fn new<K: Typed + DeserializeOwned>(follow: Follow<K>) -> Self {
        let (metadata_only, predicate) = (follow.is_of_metadata(), follow.predicate.clone());
        let read = move |json: &[u8], panics: &mut Panics| {
            if metadata_only {
                let object: MappedMetadata = serde_json::from_slice(json)?;
                return Ok(follow.concern(&object.metadata, None, panics));
            }
            let object = panics.catch(Closure::Object, || serde_json::from_slice::<K>(json)).transpose()?;
            Ok(object.map(|object| follow.concern(object.meta(), Some(&object), panics)).unwrap_or_default())
        };
        let passes = move |old: &Facts, new: &Facts| predicate.as_ref().is_none_or(|one| one.passes(old, new));
        Self { kind: kind_of::<K>(), metadata_only, read: Arc::new(read), passes: Arc::new(passes) }
    }

    /// The kind that is followed.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Whom an object concerns, as the server sent it. The scope of the primaries is the caller's to mind.
    pub(crate) fn concern(&self, json: &[u8], panics: &mut Panics) -> serde_json::Result<Concern> {
        (self.read)(json, panics)
    }

    /// Whether a change of an object that stays is worth a pass; also if the predicate panics, since nobody can know then.
    pub(crate) fn passes(&self, old: &Concern, new: &Concern) -> bool {
        match (&old.seen, &new.seen) {
            (PredicateFacts::Facts(before), PredicateFacts::Facts(after)) => {
                old.keys != new.keys || (self.passes)(before, after)
            }
            _ => true,
        }
    }
}

impl fmt::Debug for Mapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mapped").field(&self.kind).finish()
    }
}

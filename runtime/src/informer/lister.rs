//! `Lister`: an indexed cache of projections of watched objects, which nodes of the operator's tree read without an API call.

use crate::{
    cache::ObjectKey,
    error::{Error, Result},
    informer::{
        lister_reads::record_lister_read,
        watch::{Health, WatchState},
    },
    panic::{Closure, Panics},
};
use hashbrown::{Equivalent, HashMap};
use parking_lot::RwLock;
use std::{
    fmt,
    hash::{BuildHasherDefault, DefaultHasher, Hash},
    sync::Arc,
};

/// A lister over the watch of a kind: a projection `V` of each object. [`Controller::lister`](crate::Controller::lister) fills it.
/// Clones share their content: one clone goes to the controller, another one into its options.
///
/// An index ([`Lister::indexed`]) finds the objects of an index value `X` without a scan.
///
/// # Guarantees
/// - Nothing can be read before the first list is complete, or while the kind is missing or forbidden. So an object that is not
///   in the lister did not exist in the cluster. The exception is an object that doesn't decode, or on which the projection panics:
///   the lister has its earlier projection, or none. The log and an event on the object report it.
/// - The content may be stale. Read the live object before you destroy something because an object is not in the lister.
///
/// # Assumptions
/// A lister belongs to one running operator.
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::core::v1::{Namespace, Node, ResourceQuota};
/// # use opgen::{Lister, NamespacedName, Operator, prelude::*};
/// # #[derive(Provisioner)]
/// # #[provisioner(serial, owner = Foreign<Namespace>)]
/// # struct Tree {
/// #     #[provisioner(resource)]
/// #     quota: ResourceQuota,
/// # }
/// # impl Tree {
/// #     fn quota(_: &Namespace) -> ResourceQuota { ResourceQuota::default() }
/// # }
/// // The values of a label of the Nodes, with an index by value.
/// let zones = Lister::<String, String>::indexed(|zone| Some(zone.clone()));
/// # let operator =
/// Operator::new("teams").controls_with::<Foreign<Namespace>, Tree>(|c| {
///     c.metadata_lister::<Node, _, _, _>(
///         &zones,
///         |metadata| metadata.labels.as_ref().and_then(|labels| labels.get("zone").cloned()).unwrap_or_default(),
///         |_, _| [NamespacedName::cluster("default")],
///     )
/// });
///
/// fn nodes_in(zones: &Lister<String, String>, zone: &str) -> Result<usize> {
///     let zone = zone.to_owned();
///     zones.read(|nodes| nodes.find(&zone).count())
/// }
/// # let _ = nodes_in(&zones, "a");
/// ```
pub struct Lister<V, X = ()>(Arc<Inner<V, X>>);

/// The content that the clones of a lister share.
struct Inner<V, X> {
    state: RwLock<ListerState<V, X>>,
    index: fn(&V) -> Option<X>,
}

struct ListerState<V, X> {
    /// The watch that fills the lister, once it has started.
    watch: Option<Health>,
    /// Whether the first list is complete.
    listed: bool,
    content: ListedObjects<V, X>,
}

/// The objects of a [`Lister`].
pub struct ListedObjects<V, X = ()> {
    /// Each projection with its index value, so that the lister calls the user's index function once per projection, and not while
    /// it changes the index. The hasher has no random seed: tests replay a run and need the same order of objects.
    objects: HashMap<NameKey, (V, Option<X>), BuildHasherDefault<DefaultHasher>>,
    by_index: HashMap<X, Vec<NameKey>>,
}

/// Namespace and name of an object. The namespace of a cluster-scoped object is empty.
#[derive(Clone, PartialEq, Eq, Hash)]
struct NameKey(Arc<str>, Arc<str>);

/// A borrowed [`NameKey`], for lookups.
#[derive(Hash)]
struct NameQuery<'a>(&'a str, &'a str);

impl Equivalent<NameKey> for NameQuery<'_> {
    fn equivalent(&self, key: &NameKey) -> bool {
        self.0 == &*key.0 && self.1 == &*key.1
    }
}

impl NameKey {
    fn of(key: &ObjectKey) -> Self {
        Self(key.namespace().unwrap_or_default().into(), key.name().into())
    }
}

impl<V> Default for Lister<V> {
    fn default() -> Self {
        Self::indexed(|_| None)
    }
}

impl<V, X> Lister<V, X> {
    /// Creates a lister with an index: [`ListedObjects::find`] returns the objects of an index value. An object for which `index`
    /// returns `None` or panics is not in the index.
    pub fn indexed(index: fn(&V) -> Option<X>) -> Self {
        let content = ListedObjects { objects: HashMap::default(), by_index: HashMap::new() };
        Self(Arc::new(Inner { state: RwLock::new(ListerState { watch: None, listed: false, content }), index }))
    }

    /// Returns the health of the watch that fills the lister; `None` before the watch starts.
    pub(crate) fn watch(&self) -> Option<Health> {
        self.0.state.read().watch.clone()
    }

    /// Calls `read` with the objects and returns its result. The watch waits meanwhile, so `read` must be quick.
    ///
    /// # Errors
    /// A yield with the reason if the objects can't be read yet: the kind is missing or forbidden, or its first list is not
    /// complete.
    pub fn read<T>(&self, read: impl FnOnce(&ListedObjects<V, X>) -> T) -> Result<T> {
        record_lister_read();
        let state = self.0.state.read();
        let Some(watch) = &state.watch else {
            return Err(Error::yielding("CacheNotSynced", "waiting for a watch to start"));
        };
        let kind = watch.kind();
        match watch.state() {
            WatchState::Missing => Err(Error::yielding("KindMissing", format!("the cluster does not serve {kind}"))),
            WatchState::Forbidden(rule) => Err(Error::yielding("Forbidden", rule.to_string())),
            _ if state.listed => Ok(read(&state.content)),
            _ => Err(Error::yielding("CacheNotSynced", format!("waiting for the first list of {kind}"))),
        }
    }
}

impl<V, X: Clone + Eq + Hash> Lister<V, X> {
    /// Clears the lister when a watch starts. It can't be read until the first list of the watch is complete.
    pub(crate) fn begin(&self, watch: &Health) {
        let mut state = self.0.state.write();
        state.watch = Some(watch.clone());
        state.listed = false;
        (state.content.objects, state.content.by_index) = Default::default();
    }

    /// Marks the first list as complete, so that the lister can be read.
    pub(crate) fn mark_listed(&self) {
        self.0.state.write().listed = true;
    }

    /// Stores the projection of an object and updates the index. Returns the projection that it replaces; `None` for a new object. If the
    /// user's index function panics, the object is in no index, and `panics` records the panic.
    pub(crate) fn put(&self, key: &ObjectKey, projection: V, panics: &mut Panics) -> Option<V> {
        let index_value = panics.catch(Closure::Index, || (self.0.index)(&projection)).flatten();
        let key = NameKey::of(key);
        let mut state = self.0.state.write();
        let old = state.content.objects.insert(key.clone(), (projection, index_value.clone()));
        let old = state.content.remove_from_index(&key, old);
        if let Some(index_value) = index_value {
            state.content.by_index.entry(index_value).or_default().push(key);
        }
        old
    }

    /// Returns whether the lister has exactly this projection of the object.
    pub(crate) fn contains(&self, key: &ObjectKey, projection: &V) -> bool
    where
        V: PartialEq,
    {
        let state = self.0.state.read();
        state.content.get(key.namespace().unwrap_or_default(), key.name()) == Some(projection)
    }

    /// Removes an object, and returns its projection; `None` if there is none.
    pub(crate) fn remove(&self, key: &ObjectKey) -> Option<V> {
        let key = NameKey::of(key);
        let mut state = self.0.state.write();
        let old = state.content.objects.remove(&key);
        state.content.remove_from_index(&key, old)
    }
}

impl<V, X> ListedObjects<V, X> {
    /// Returns the projection of the object with this name. The `namespace` of a cluster-scoped object is empty.
    pub fn get(&self, namespace: &str, name: &str) -> Option<&V> {
        self.objects.get(&NameQuery(namespace, name)).map(|(projection, _)| projection)
    }

    /// Returns namespace, name and projection of all objects, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, &V)> {
        self.objects.iter().map(|(key, (projection, _))| (&*key.0, &*key.1, projection))
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Returns whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
}

impl<V, X: Eq + Hash> ListedObjects<V, X> {
    /// Returns namespace, name and projection of the objects with this index value, in no order.
    pub fn find(&self, index: &X) -> impl Iterator<Item = (&str, &str, &V)> {
        let keys = self.by_index.get(index).map_or(&[][..], Vec::as_slice);
        keys.iter().filter_map(|key| Some((&*key.0, &*key.1, &self.objects.get(key)?.0)))
    }

    /// Removes the key of a replaced or removed object from the index, and returns the projection of that object.
    fn remove_from_index(&mut self, key: &NameKey, old: Option<(V, Option<X>)>) -> Option<V> {
        let (projection, index) = old?;
        if let Some(index) = index
            && let Some(keys) = self.by_index.get_mut(&index)
        {
            keys.retain(|other| other != key);
            if keys.is_empty() {
                self.by_index.remove(&index);
            }
        }
        Some(projection)
    }
}

impl<V, X> Clone for Lister<V, X> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<V, X> fmt::Debug for Lister<V, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.state.read();
        f.debug_struct("Lister")
            .field("listed", &state.listed)
            .field("len", &state.content.len())
            .finish_non_exhaustive()
    }
}

impl<V, X> fmt::Debug for ListedObjects<V, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListedObjects").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::Lister;
    use crate::{
        cache::ObjectKey,
        error::Error,
        informer::watch::{Health, WatchState},
        kind::kind_of,
        panic::Panics,
    };
    use k8s_openapi::api::core::v1::Pod;

    /// Returns an empty lister of Pods, which are projected to numbers and indexed by their tens, and the health of its watch.
    fn lister_and_health() -> (Lister<u32, u32>, Health) {
        let index = |projection: &u32| Some(projection.wrapping_div(10));
        let (lister, health) = (Lister::indexed(index), Health::new(kind_of::<Pod>()));
        lister.begin(&health);
        (lister, health)
    }

    fn put(lister: &Lister<u32, u32>, name: &str, projection: u32) -> Option<u32> {
        lister.put(&key(name), projection, &mut Panics::default())
    }

    fn key(name: &str) -> ObjectKey {
        ObjectKey::namespaced("web", name)
    }

    #[test]
    fn nothing_is_read_before_the_list_is_complete_nor_without_the_kind() {
        let (lister, health) = lister_and_health();
        put(&lister, "a", 1);
        assert!(matches!(lister.read(|_| ()), Err(Error::Yield { reason, .. }) if reason == "CacheNotSynced"));
        lister.mark_listed();
        assert_eq!(lister.read(|objects| objects.get("web", "a").copied()).unwrap(), Some(1));
        health.set(WatchState::Missing);
        assert!(matches!(lister.read(|_| ()), Err(Error::Yield { reason, .. }) if reason == "KindMissing"));
    }

    #[test]
    fn the_index_follows_its_objects() {
        let (lister, _health) = lister_and_health();
        lister.mark_listed();
        put(&lister, "a", 11);
        put(&lister, "b", 12);
        assert_eq!(put(&lister, "a", 21), Some(11));
        assert_eq!(lister.remove(&key("nobody")), None);
        let names = |tens: u32| {
            lister.read(|objects| objects.find(&tens).map(|(_, name, _)| name.to_owned()).collect::<Vec<_>>()).unwrap()
        };
        assert_eq!((names(1), names(2)), (vec!["b".to_owned()], vec!["a".to_owned()]));
        lister.remove(&key("b"));
        assert!(names(1).is_empty());
    }

    #[test]
    fn another_watch_begins_with_nothing() {
        let (lister, health) = lister_and_health();
        put(&lister, "a", 1);
        lister.mark_listed();
        lister.begin(&health);
        assert!(lister.read(|_| ()).is_err());
        lister.mark_listed();
        assert!(lister.read(|objects| objects.is_empty() && objects.find(&0).next().is_none()).unwrap());
    }

    #[test]
    fn an_object_whose_index_function_panics_is_shown_and_in_no_index() {
        let index = |projection: &u32| if *projection == 13 { panic!("unlucky") } else { Some(*projection) };
        let lister = Lister::indexed(index);
        lister.begin(&Health::new(kind_of::<Pod>()));
        lister.mark_listed();
        let (mut panics_of_12, mut panics_of_13) = (Panics::default(), Panics::default());
        lister.put(&key("a"), 12, &mut panics_of_12);
        assert_eq!(lister.put(&key("a"), 13, &mut panics_of_13), Some(12));
        assert_eq!((panics_of_12.0.len(), panics_of_13.0.len()), (0, 1));
        let count = |index_value: u32| lister.read(|objects| objects.find(&index_value).count()).unwrap();
        assert_eq!((count(12), count(13)), (0, 0));
        assert_eq!(lister.read(|objects| objects.get("web", "a").copied()).unwrap(), Some(13));
        assert_eq!(lister.remove(&key("a")), Some(13));
    }
}

//! What an operator keeps of the objects of a kind that it follows, for its nodes to read without a call.

use crate::{
    cache::ObjectKey,
    error::{Error, Result},
    informer::watch::{Health, WatchState},
    panic::{Closure, Panics},
};
use hashbrown::{Equivalent, HashMap};
use parking_lot::RwLock;
use std::{
    fmt,
    hash::{BuildHasherDefault, DefaultHasher, Hash},
    sync::Arc,
};

/// The part `V` of each object of a followed kind, as the watch shows it; [`Controller::keeps`](crate::Controller::keeps)
/// fills it. Clones are of the same one: one goes to the controller, one into its options.
///
/// With an index ([`View::indexed`]) the objects of a term `X` are found without a scan.
///
/// # Guarantees
/// - Nothing can be read before the first list is complete, nor while the kind is missing or not allowed: an object that is
///   not shown is one that the cluster did not have. The exception is an object that doesn't decode, or on which the function that
///   keeps the part panics: it is shown as before, or not at all. The log and an event on the object say so.
/// - What is shown may be old. Before something is destroyed because an object is missing here, ask the server.
///
/// # Assumptions
/// It belongs to one running operator.
pub struct View<V, X = ()>(Arc<Inner<V, X>>);

struct Inner<V, X> {
    state: RwLock<ViewState<V, X>>,
    term: fn(&V) -> Option<X>,
}

struct ViewState<V, X> {
    watch: Option<Health>,
    listed: bool,
    shown: Shown<V, X>,
}

/// The objects of a [`View`].
pub struct Shown<V, X = ()> {
    /// Its order is the same in each run, since lives are to be repeated to the letter. Each with its term, so that the user's
    /// function is called once for an object, and not while the index changes.
    objects: HashMap<NameKey, (V, Option<X>), BuildHasherDefault<DefaultHasher>>,
    by_term: HashMap<X, Vec<NameKey>>,
}

/// Namespace and name; no namespace is an empty one.
#[derive(Clone, PartialEq, Eq, Hash)]
struct NameKey(Arc<str>, Arc<str>);

#[derive(Hash)]
struct NameQuery<'a>(&'a str, &'a str);

impl Equivalent<NameKey> for NameQuery<'_> {
    fn equivalent(&self, place: &NameKey) -> bool {
        self.0 == &*place.0 && self.1 == &*place.1
    }
}

impl NameKey {
    fn of(key: &ObjectKey) -> Self {
        Self(key.namespace().unwrap_or_default().into(), key.name().into())
    }
}

impl<V> Default for View<V> {
    fn default() -> Self {
        Self::indexed(|_| None)
    }
}

impl<V, X> View<V, X> {
    /// A view whose objects are found by a term, too; `None` is in no index, and neither is an object on which `term` panics.
    pub fn indexed(term: fn(&V) -> Option<X>) -> Self {
        let shown = Shown { objects: HashMap::default(), by_term: HashMap::new() };
        Self(Arc::new(Inner { state: RwLock::new(ViewState { watch: None, listed: false, shown }), term }))
    }

    /// The watch that fills the view, once it has begun.
    pub(crate) fn watch(&self) -> Option<Health> {
        self.0.state.read().watch.clone()
    }

    /// Looks at the objects. The watch can't go on meanwhile, so `look` must be quick.
    ///
    /// # Errors
    /// A yield that says what is waited for, if they are not known.
    pub fn read<T>(&self, look: impl FnOnce(&Shown<V, X>) -> T) -> Result<T> {
        let state = self.0.state.read();
        let Some(watch) = &state.watch else {
            return Err(Error::yielding("CacheNotSynced", "waiting for a watch that has not begun"));
        };
        let kind = watch.kind();
        match watch.state() {
            WatchState::Missing => Err(Error::yielding("KindMissing", format!("the cluster has no kind {kind}"))),
            WatchState::Forbidden(rule) => Err(Error::yielding("Forbidden", rule.to_string())),
            _ if state.listed => Ok(look(&state.shown)),
            _ => Err(Error::yielding("CacheNotSynced", format!("waiting for the first list of {kind}"))),
        }
    }
}

impl<V, X: Clone + Eq + Hash> View<V, X> {
    /// A watch begins; what an earlier one has shown counts no more.
    pub(crate) fn begin(&self, watch: &Health) {
        let mut state = self.0.state.write();
        state.watch = Some(watch.clone());
        state.listed = false;
        (state.shown.objects, state.shown.by_term) = Default::default();
    }

    pub(crate) fn listed(&self) {
        self.0.state.write().listed = true;
    }

    /// Puts an object in; returns what was there.
    pub(crate) fn put(&self, key: &ObjectKey, kept: V, panics: &mut Panics) -> Option<V> {
        let term = panics.catch(Closure::Index, || (self.0.term)(&kept)).flatten();
        let place = NameKey::of(key);
        let mut state = self.0.state.write();
        let old = state.shown.objects.insert(place.clone(), (kept, term.clone()));
        let old = state.shown.unlist(&place, old);
        if let Some(term) = term {
            state.shown.by_term.entry(term).or_default().push(place);
        }
        old
    }

    /// Whether exactly this is shown of the object.
    pub(crate) fn holds(&self, key: &ObjectKey, kept: &V) -> bool
    where
        V: PartialEq,
    {
        let state = self.0.state.read();
        state.shown.get(key.namespace().unwrap_or_default(), key.name()) == Some(kept)
    }

    pub(crate) fn remove(&self, key: &ObjectKey) -> Option<V> {
        let place = NameKey::of(key);
        let mut state = self.0.state.write();
        let old = state.shown.objects.remove(&place);
        state.shown.unlist(&place, old)
    }
}

impl<V, X> Shown<V, X> {
    /// The object of that name; of a kind without namespaces, `namespace` is empty.
    pub fn get(&self, namespace: &str, name: &str) -> Option<&V> {
        self.objects.get(&NameQuery(namespace, name)).map(|(kept, _)| kept)
    }

    /// All objects, with their namespaces and names, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, &V)> {
        self.objects.iter().map(|(place, (kept, _))| (&*place.0, &*place.1, kept))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
}

impl<V, X: Eq + Hash> Shown<V, X> {
    /// The objects of a term, with their namespaces and names, in no order.
    pub fn find(&self, term: &X) -> impl Iterator<Item = (&str, &str, &V)> {
        let places = self.by_term.get(term).map_or(&[][..], Vec::as_slice);
        places.iter().filter_map(|place| Some((&*place.0, &*place.1, &self.objects.get(place)?.0)))
    }

    /// Takes an object that was replaced or removed out of the index; returns it.
    fn unlist(&mut self, place: &NameKey, old: Option<(V, Option<X>)>) -> Option<V> {
        let (kept, term) = old?;
        if let Some(term) = term
            && let Some(places) = self.by_term.get_mut(&term)
        {
            places.retain(|other| other != place);
            if places.is_empty() {
                self.by_term.remove(&term);
            }
        }
        Some(kept)
    }
}

impl<V, X> Clone for View<V, X> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<V, X> fmt::Debug for View<V, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.state.read();
        f.debug_struct("View").field("listed", &state.listed).field("len", &state.shown.len()).finish_non_exhaustive()
    }
}

impl<V, X> fmt::Debug for Shown<V, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shown").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::View;
    use crate::{
        cache::ObjectKey,
        error::Error,
        informer::watch::{Health, WatchState},
        kind::kind_of,
        panic::Panics,
    };
    use k8s_openapi::api::core::v1::Pod;

    fn followed() -> (View<u32, u32>, Health) {
        let (view, health) = (View::indexed(|kept: &u32| Some(kept.wrapping_div(10))), Health::new(kind_of::<Pod>()));
        view.begin(&health);
        (view, health)
    }

    fn put(view: &View<u32, u32>, name: &str, kept: u32) -> Option<u32> {
        view.put(&key(name), kept, &mut Panics::default())
    }

    fn key(name: &str) -> ObjectKey {
        ObjectKey::namespaced("web", name)
    }

    #[test]
    fn nothing_is_read_before_the_list_is_complete_nor_without_the_kind() {
        let (view, health) = followed();
        put(&view, "a", 1);
        assert!(matches!(view.read(|_| ()), Err(Error::Yield { reason, .. }) if reason == "CacheNotSynced"));
        view.listed();
        assert_eq!(view.read(|shown| shown.get("web", "a").copied()).unwrap(), Some(1));
        health.set(WatchState::Missing);
        assert!(matches!(view.read(|_| ()), Err(Error::Yield { reason, .. }) if reason == "KindMissing"));
    }

    #[test]
    fn the_index_follows_its_objects() {
        let (view, _health) = followed();
        view.listed();
        put(&view, "a", 11);
        put(&view, "b", 12);
        assert_eq!(put(&view, "a", 21), Some(11));
        assert_eq!(view.remove(&key("nobody")), None);
        let of = |term: u32| {
            view.read(|shown| shown.find(&term).map(|(_, name, _)| name.to_owned()).collect::<Vec<_>>()).unwrap()
        };
        assert_eq!((of(1), of(2)), (vec!["b".to_owned()], vec!["a".to_owned()]));
        view.remove(&key("b"));
        assert!(of(1).is_empty());
    }

    #[test]
    fn another_watch_begins_with_nothing() {
        let (view, health) = followed();
        put(&view, "a", 1);
        view.listed();
        view.begin(&health);
        assert!(view.read(|_| ()).is_err());
        view.listed();
        assert!(view.read(|shown| shown.is_empty() && shown.find(&0).next().is_none()).unwrap());
    }

    #[test]
    fn an_object_whose_index_function_panics_is_shown_and_in_no_index() {
        let view = View::indexed(|kept: &u32| if *kept == 13 { panic!("unlucky") } else { Some(*kept) });
        view.begin(&Health::new(kind_of::<Pod>()));
        view.listed();
        let (mut none, mut some) = (Panics::default(), Panics::default());
        view.put(&key("a"), 12, &mut none);
        assert_eq!(view.put(&key("a"), 13, &mut some), Some(12));
        assert_eq!((none.0.len(), some.0.len()), (0, 1));
        let found = |term: u32| view.read(|shown| shown.find(&term).count()).unwrap();
        assert_eq!((found(12), found(13)), (0, 0));
        assert_eq!(view.read(|shown| shown.get("web", "a").copied()).unwrap(), Some(13));
        assert_eq!(view.remove(&key("a")), Some(13));
    }
}

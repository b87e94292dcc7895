//! `ObservedOperator`: the queues, caches, watches and clusters of a running operator, which its metrics read.

use crate::{
    cache::{Encoded, Store},
    controller::worker::RunningController,
    engine::child::Child,
    informer::{
        mapped::MappedHandler,
        primary::KubernetesSource,
        projection::ListerHandler,
        source::Source,
        watch::{Health, WatchState, WatchedKind},
    },
    kind::Kind,
    manager::health::HasHealth,
    metrics::{
        clusters::ClusterValues,
        live::{CacheValues, ControllerValues, LiveOperator, WatchValues},
    },
    reference::Targets,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The parts of the running operators of a process that their metrics read.
#[derive(Default)]
pub(crate) struct ObservedOperator {
    pub(super) controllers: Vec<Arc<RunningController>>,
    /// One source of each cache.
    pub(super) sources: Vec<Arc<KubernetesSource>>,
    pub(super) children: Vec<Arc<WatchedKind<Child>>>,
    pub(super) targets: Vec<Arc<Targets>>,
    pub(super) mapped_handlers: Vec<Arc<MappedHandler>>,
    pub(super) lister_handlers: Vec<Arc<ListerHandler>>,
    /// All watches; several may share one health.
    pub(super) watches: Vec<Arc<dyn HasHealth>>,
}

impl LiveOperator for ObservedOperator {
    /// Returns the queue and the number of unready objects of each controller.
    fn controllers(&self) -> Vec<ControllerValues> {
        let values = |controller: &Arc<RunningController>| ControllerValues {
            name: controller.metrics().name.clone(),
            queue: controller.queue_stats(),
            unconverged: controller.control_loop.unconverged(),
        };
        self.controllers.iter().map(values).collect()
    }

    /// Returns the number and the bytes of the cached objects of each kind, by its full name; several caches of a kind are added up. The
    /// heap bytes of the stored values are counted for primaries and children only: the closure of each other store returns 0.
    fn caches(&self) -> BTreeMap<String, CacheValues> {
        let mut caches = Caches::default();
        for source in &self.sources {
            caches.add(source.kind(), source.objects().store(), Encoded::size);
        }
        for children in &self.children {
            caches.add(&children.kind, &children.store, Child::heap_bytes);
        }
        for targets in &self.targets {
            caches.add(&targets.watched.kind, &targets.watched.store, |_| 0);
        }
        for handler in &self.mapped_handlers {
            caches.add(&handler.watched.kind, &handler.watched.store, |_| 0);
        }
        for handler in &self.lister_handlers {
            caches.add(&handler.watched.kind, &handler.watched.store, |()| 0);
        }
        caches.0
    }

    /// Returns the states, restarts and panics of the watches of each kind, by its full name. A shared watch counts once.
    fn watches(&self) -> BTreeMap<String, WatchValues> {
        let mut distinct: Vec<&Health> = Vec::new();
        for watch in &self.watches {
            if !distinct.iter().any(|health| health.is_same(watch.health())) {
                distinct.push(watch.health());
            }
        }
        let mut watches = BTreeMap::<String, WatchValues>::new();
        for health in distinct {
            let values = watches.entry(health.kind().full_name()).or_default();
            values.states[state_index(&health.state())] += 1;
            values.restarts += health.restarts();
            values.panics += health.panics();
        }
        watches
    }

    fn children(&self) -> Vec<Kind> {
        let kinds: BTreeSet<_> = self.children.iter().map(|children| children.kind.clone()).collect();
        kinds.into_iter().collect()
    }

    /// Returns the values of all connections to other clusters, in which remote nodes of the trees have their objects.
    fn clusters(&self) -> Vec<ClusterValues> {
        let states = self.controllers.iter().map(|controller| &controller.control_loop.shared);
        let clusters = states.filter_map(|state| state.remote_clusters.as_ref());
        clusters.flat_map(|clusters| clusters.values()).collect()
    }
}

/// Returns the index of a state in [`WATCH_STATES`](crate::metrics::live::WATCH_STATES).
fn state_index(state: &WatchState) -> usize {
    match state {
        WatchState::Starting => 0,
        WatchState::Following => 1,
        WatchState::Missing => 2,
        WatchState::Forbidden(_) => 3,
        WatchState::Failing(_) => 4,
    }
}

/// The caches by the full name of their kind.
#[derive(Default)]
struct Caches(BTreeMap<String, CacheValues>);

impl Caches {
    /// Adds the number and the bytes of the objects of a store to those of its kind. `heap` returns the bytes that a stored value has on
    /// the heap, besides its fixed part.
    fn add<V>(&mut self, kind: &Kind, store: &Store<V>, heap: impl Fn(&V) -> usize) {
        let values = self.0.entry(kind.full_name()).or_default();
        values.objects += store.len();
        values.bytes += store.bytes(heap);
    }
}

/// Returns a distinct name for the controller of each of these kinds: the kind in lower case, as in controller-runtime. If an earlier
/// controller has the name, the API group is added, provided that another kind has the same name, or else a number.
pub(super) fn controller_names(kinds: &[Kind]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for kind in kinds {
        let short = kind.kind.to_lowercase();
        let long = format!("{short}.{}", kind.group);
        let numbered = (2_usize..).map(|number| format!("{short}-{number}"));
        let is_ambiguous = kinds.iter().any(|other| other != kind && other.kind.to_lowercase() == short);
        let candidates = std::iter::once(short.clone()).chain(is_ambiguous.then_some(long)).chain(numbered);
        names.extend(candidates.into_iter().find(|name| !names.contains(name)));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(group: &'static str, kind: &'static str) -> Kind {
        Kind { group: group.into(), version: "v1".into(), kind: kind.into(), plural: "".into(), namespaced: true }
    }

    #[test]
    fn manager_m40_controllers_have_distinct_names() {
        let kinds = [
            kind("a.io", "Shop"),
            kind("b.io", "Shop"),
            kind("a.io", "Shop"),
            kind("a.io", "WebApp"),
            kind("a.io", "WebApp"),
        ];
        assert_eq!(controller_names(&kinds), ["shop", "shop.b.io", "shop.a.io", "webapp", "webapp-2"]);
    }
}

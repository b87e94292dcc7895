//! Indexes pools by the Pods of their allocations, so that a deleted Pod triggers only these pools.

use std::{collections::HashMap, sync::Arc};

use ippool_api::IPPool;
use opgen::{NamespacedName, ObjectKey};
use parking_lot::RwLock;

/// The pools by Pod, as of the last pass over each pool. Clones share the same index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holders(Arc<RwLock<State>>);

#[derive(Debug, Default)]
struct State {
    /// The last seen version of each pool.
    pools: HashMap<NamespacedName, Seen>,
    /// Pools by the `namespace/name` of their Pods.
    by_pod: HashMap<Arc<str>, Vec<NamespacedName>>,
}

#[derive(Debug)]
struct Seen {
    uid: Option<String>,
    generation: Option<i64>,
    pods: Vec<Arc<str>>,
}

impl Holders {
    /// Updates the Pods of a pool if its spec has changed.
    pub(crate) fn note(&self, pool: &IPPool) {
        let (name, metadata) = (name_of(pool), &pool.metadata);
        let same = |seen: &Seen| seen.uid == metadata.uid && seen.generation == metadata.generation;
        if metadata.generation.is_some() && self.0.read().pools.get(&name).is_some_and(same) {
            return;
        }
        let mut state = self.0.write();
        state.forget(&name);
        let mut pods: Vec<Arc<str>> =
            pool.spec.allocations.values().map(|allocation| allocation.podref.as_str().into()).collect();
        pods.sort();
        pods.dedup();
        for pod in &pods {
            state.by_pod.entry(pod.clone()).or_default().push(name.clone());
        }
        let seen = Seen { uid: metadata.uid.clone(), generation: metadata.generation, pods };
        state.pools.insert(name, seen);
    }

    /// Removes a deleted pool.
    pub(crate) fn forget(&self, pool: &IPPool) {
        self.0.write().forget(&name_of(pool));
    }

    /// The pools that have allocations of a Pod.
    pub(crate) fn pools_of(&self, pod: &ObjectKey) -> Vec<NamespacedName> {
        let name = [pod.namespace().unwrap_or_default(), "/", pod.name()].concat();
        self.0.read().by_pod.get(name.as_str()).cloned().unwrap_or_default()
    }
}

impl State {
    fn forget(&mut self, pool: &NamespacedName) {
        let Some(seen) = self.pools.remove(pool) else { return };
        for pod in seen.pods {
            let Some(pools) = self.by_pod.get_mut(&pod) else { continue };
            pools.retain(|other| other != pool);
            if pools.is_empty() {
                self.by_pod.remove(&pod);
            }
        }
    }
}

fn name_of(pool: &IPPool) -> NamespacedName {
    let metadata = &pool.metadata;
    NamespacedName { name: metadata.name.clone().unwrap_or_default(), namespace: metadata.namespace.clone() }
}

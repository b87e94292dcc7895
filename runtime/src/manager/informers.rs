//! `Informers`: the caches and watches that all operators of a process share.

use super::{observed::controller_names, operators::Operators};
use crate::{
    informer::{primary::KubernetesSource, selection::Selection, shared_watch::HealthRegistry, source::Source as _},
    kind::Kind,
};
use std::sync::Arc;

/// The shared caches and watches, while the operators of a process are wired.
pub(crate) struct Informers {
    /// The health of each shared watch.
    pub(super) healths: Arc<HealthRegistry>,
    /// The sources of all operators. Those of several operators may have one cache.
    sources: Vec<Arc<KubernetesSource>>,
    /// The names of the controllers that are not wired yet.
    names: std::vec::IntoIter<String>,
}

impl Informers {
    /// Prepares the informers for the controllers of these operators, which are wired in this order.
    pub(super) fn new(operators: Operators<'_>) -> Self {
        let healths = Arc::new(HealthRegistry::new(operators.kinds_decoded()));
        Self { healths, sources: Vec::new(), names: controller_names(&operators.kinds()).into_iter() }
    }

    /// Returns a name that no other controller of the process has.
    pub(super) fn next_controller_name(&mut self) -> String {
        self.names.next().unwrap_or_default()
    }

    /// Returns the source of the selected objects of a kind for a controller of `operator`: their watch, their cache, and the writes of
    /// their finalizers and status. Controllers of an operator with the same kind, version and selection share a source. For another
    /// operator the source is a new one with the same watch and cache. `create` makes the first source.
    pub(super) fn source(
        &mut self,
        operator: &str,
        kind: &Kind,
        selection: &Selection,
        create: impl FnOnce() -> KubernetesSource,
    ) -> Arc<KubernetesSource> {
        let matching: Vec<_> = self.sources.iter().filter(|source| source.serves(kind, selection)).collect();
        if let Some(own) = matching.iter().find(|source| source.operator() == operator) {
            return Arc::clone(own);
        }
        let source = Arc::new(matching.first().map_or_else(create, |other| other.for_operator(operator)));
        self.sources.push(source.clone());
        source
    }

    /// Returns one source of each cache, since the sources of several operators may share a cache.
    pub(super) fn caches(&self) -> Vec<Arc<KubernetesSource>> {
        let mut caches: Vec<Arc<KubernetesSource>> = Vec::new();
        for source in &self.sources {
            if !caches.iter().any(|cache| cache.shares_cache(source.objects())) {
                caches.push(source.clone());
            }
        }
        caches
    }
}

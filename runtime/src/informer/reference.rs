//! Watches referenced objects, with one store per kind for all controllers of the operator.

use crate::{
    cache::{Change, Store},
    controller::{factory::Factory, worker::RunningController},
    error::Result,
    informer::{event_handler::EventHandler, shared_watch::HealthRegistry, watch::Health},
    kind::Kind,
    reference::{TargetState, Targets},
};
use std::{collections::BTreeMap, sync::Arc};

/// Creates a store for each kind that specs or nodes of these controllers reference.
pub(crate) fn stores(factories: &[Arc<dyn Factory>], healths: &HealthRegistry) -> BTreeMap<Kind, Arc<Targets>> {
    let managed: Vec<Kind> =
        factories.iter().filter(|factory| factory.crd().is_some()).map(|factory| factory.kind()).collect();
    let mut stores = BTreeMap::new();
    for kind in factories.iter().flat_map(|factory| factory.references()) {
        let store = || {
            // The store gets the kind in the API version of its watch, which may differ from that of the reference.
            let (managed, health) = (managed.contains(&kind), healths.of_any_version(&kind));
            Arc::new(Targets::new(health.kind().clone(), managed, health))
        };
        stores.entry(kind.clone()).or_insert_with(store);
    }
    stores
}

/// Stores the state of referenced objects of one kind, and enqueues the primaries that reference a changed object.
pub(crate) struct ReferenceHandler {
    pub(crate) targets: Arc<Targets>,
    pub(crate) controllers: Vec<Arc<RunningController>>,
}

impl ReferenceHandler {
    /// Returns whether the handler needs only the metadata of the objects.
    pub(crate) fn metadata_only(&self) -> bool {
        self.targets.metadata_only
    }
}

impl EventHandler for ReferenceHandler {
    type Projection = TargetState;

    fn health(&self) -> &Health {
        &self.targets.watched.health
    }

    fn store(&self) -> &Store<TargetState> {
        &self.targets.watched.store
    }

    fn store_object(&self, json: &[u8], _from_list: bool) -> Result<Change<TargetState>> {
        self.targets.apply(json)
    }

    /// Enqueues the primaries of each controller that reference the changed object by its name or by a selector.
    fn on_change(&self, change: &Change<TargetState>, from_list: bool) {
        if let Change::Deleted { old } = change {
            self.targets.forget(old);
        }
        for controller in &self.controllers {
            let origin = controller.origin_of(self.kind(), change);
            let referrers = controller.control_loop.referrers_to_enqueue(self.kind(), change);
            controller.enqueue_keys(&referrers, &origin, from_list);
        }
    }
}

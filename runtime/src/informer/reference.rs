//! What specs and nodes name: one store a kind, shared by all controllers of the operator.

use crate::{
    cache::{Change, Store},
    controller::{factory::Factory, worker::Running},
    error::Result,
    informer::{child::is_work_of, event_handler::Follower, shared_watch::Healths},
    kind::Kind,
    readiness::{Readiness, is_ready_once_there},
    reference::Targets,
};
use std::{collections::BTreeMap, sync::Arc};

/// A store for each kind that these kinds name objects of.
pub(crate) fn stores(factories: &[Arc<dyn Factory>], healths: &Healths) -> BTreeMap<Kind, Arc<Targets>> {
    let managed: Vec<Kind> =
        factories.iter().filter(|factory| factory.crd().is_some()).map(|factory| factory.kind()).collect();
    let kinds = factories.iter().flat_map(|factory| factory.references());
    let store = |kind: Kind| {
        let targets = Targets::new(kind.clone(), managed.contains(&kind), healths.of(&kind));
        (kind, Arc::new(targets))
    };
    kinds.map(store).collect()
}

/// Fills the store of one kind, and wakes those that name what changes.
pub(crate) struct Wakes {
    pub(crate) targets: Arc<Targets>,
    pub(crate) controllers: Vec<Arc<Running>>,
}

impl Wakes {
    pub(crate) fn metadata_only(&self) -> bool {
        is_ready_once_there(&self.targets.watched.kind)
    }
}

impl Follower for Wakes {
    type Kept = Readiness;

    fn kind(&self) -> &Kind {
        &self.targets.watched.kind
    }

    fn store(&self) -> &Store<Readiness> {
        &self.targets.watched.store
    }

    fn take_in(&self, json: &[u8], _listing: bool) -> Result<Change<Readiness>> {
        self.targets.apply(json)
    }

    fn tell(&self, change: &Change<Readiness>, listing: bool) {
        if let Change::Deleted { old } = change {
            self.targets.forget(old);
        }
        for controller in &self.controllers {
            let is_work_of = is_work_of(controller, self.kind(), change);
            controller.wake_named(&controller.inner.concerned(self.kind(), change), is_work_of, listing);
        }
    }
}

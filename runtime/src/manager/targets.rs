//! The watches of what specs name: one a kind, shared by all controllers of the operator.

use crate::{
    cache::{Change, Header},
    client::Client,
    controller::{factory::Factory, running::Running},
    kind::Kind,
    readiness::{Readiness, is_ready_once_there},
    reference::Targets,
    source::kubernetes::feed::{self, Scope, Sink},
};
use std::{collections::BTreeMap, sync::Arc};

/// A store for each kind that these kinds name objects of.
pub(crate) fn stores(factories: &[Arc<dyn Factory>]) -> BTreeMap<Kind, Arc<Targets>> {
    let managed: Vec<Kind> =
        factories.iter().filter(|factory| factory.crd().is_some()).map(|factory| factory.kind()).collect();
    let kinds = factories.iter().flat_map(|factory| factory.references());
    kinds.map(|(_, kind)| (kind.clone(), Arc::new(Targets::new(kind.clone(), managed.contains(&kind))))).collect()
}

/// Fills the store of one kind, for ever, and wakes those that name what changes.
pub(crate) async fn follow(client: &Client, targets: &Targets, namespace: Option<&str>, controllers: &[Arc<Running>]) {
    let watched = &targets.watched;
    let sink = Wakes { targets, controllers };
    let client = if is_ready_once_there(&watched.kind) { client.metadata_only() } else { client.kube() };
    feed::follow(client, &watched.kind, Scope { namespace, labels: None }, &sink, &watched.health).await;
}

struct Wakes<'a> {
    targets: &'a Targets,
    controllers: &'a [Arc<Running>],
}

impl Wakes<'_> {
    fn tell(&self, change: &Change<Readiness>) {
        for controller in self.controllers {
            for referrer in controller.inner.concerned(&self.targets.watched.kind, change) {
                controller.wake(referrer);
            }
        }
    }
}

impl Sink for Wakes<'_> {
    fn begin(&self) {
        self.targets.watched.store.begin_replace();
    }

    fn apply(&self, json: &[u8], _listing: bool) {
        match self.targets.apply(json) {
            Ok(change) => self.tell(&change),
            Err(error) => tracing::error!(kind = %self.targets.watched.kind, %error, "an object could not be read"),
        }
    }

    fn delete(&self, json: &[u8]) {
        if let Ok(header) = Header::parse(json) {
            self.tell(&self.targets.delete(&header));
        }
    }

    fn finish(&self) {
        for old in self.targets.finish() {
            self.tell(&Change::Deleted { old });
        }
    }
}

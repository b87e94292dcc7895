//! Shares one list and one watch per kind between primaries, referenced objects, mapped objects and listers.
//!
//! The handler of primaries is the last sink of a watch: when it enqueues a pass, the stores of the other sinks already have the
//! change. Children have a watch of their own, because it selects them by label; so have the primaries of a controller with
//! selectors.

use crate::{
    client::Client,
    informer::{
        fan_out::FanOut,
        namespaces::Namespaces,
        reflector::{self, Sink, WatchScope},
        watch::Health,
    },
    kind::Kind,
};
use parking_lot::Mutex;
use std::{collections::BTreeMap, sync::Arc};

/// The health of the shared watch of each kind. Handlers get it before the watch starts.
#[derive(Default)]
pub(crate) struct HealthRegistry(Mutex<BTreeMap<Kind, Health>>);

impl HealthRegistry {
    /// Returns the health of the watch of a kind, which it creates at the first call.
    pub(crate) fn of(&self, kind: &Kind) -> Health {
        self.0.lock().entry(kind.clone()).or_insert_with(|| Health::new(kind.clone())).clone()
    }
}

/// The shared watches by kind.
#[derive(Default)]
pub(crate) struct SharedWatches(BTreeMap<Kind, SharedWatch>);

/// One watch and the sinks that share it.
#[derive(Default)]
pub(crate) struct SharedWatch {
    sinks: FanOut<'static>,
    /// Whether a sink needs whole objects and not only their metadata.
    needs_objects: bool,
}

impl SharedWatches {
    /// Adds a sink to the watch of a kind.
    pub(crate) fn add(&mut self, kind: &Kind, sink: Arc<dyn Sink>, metadata_only: bool) {
        let watch = self.0.entry(kind.clone()).or_default();
        watch.sinks.push(sink);
        watch.needs_objects |= !metadata_only;
    }

    /// Removes the watch of a kind and returns its sinks, for the watch of the kind's primaries.
    pub(crate) fn take_sinks(&mut self, kind: &Kind) -> FanOut<'static> {
        self.0.remove(kind).unwrap_or_default().sinks
    }

    /// Returns each kind with its watch.
    pub(crate) fn into_watches(self) -> impl Iterator<Item = (Kind, SharedWatch)> {
        self.0.into_iter()
    }
}

impl SharedWatch {
    /// Runs the watch. It never returns.
    pub(crate) async fn run(&self, client: Client, kind: Kind, namespaces: Namespaces, health: Health) {
        let scope = WatchScope::all(&client, &namespaces);
        reflector::run(client.watch_client(!self.needs_objects), &kind, scope, &self.sinks, &health).await;
    }
}

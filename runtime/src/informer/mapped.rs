//! Handles events of the other kinds that a controller watches (`Controller::watches`): enqueues the primaries that its map function
//! returns.

use crate::{
    cache::{Change, Header, Store},
    controller::{
        mapped::{MappedKeys, MappedWatch},
        worker::RunningController,
    },
    error::Result,
    informer::{
        event_handler::EventHandler,
        shared_watch::HealthRegistry,
        watch::{Health, WatchedKind},
    },
    panic::Panics,
    reconcile::panics::PanicReports,
};
use std::{convert::Infallible, sync::Arc};

/// The handler of one mapped kind of one controller. Its store keeps, for each object, the keys of the primaries that the
/// function returned.
pub(crate) struct MappedHandler {
    mapped: MappedWatch,
    pub(crate) watched: Arc<WatchedKind<MappedKeys>>,
    pub(crate) controller: Arc<RunningController>,
    panic_reports: PanicReports,
}

impl MappedHandler {
    /// Creates a handler for each mapped kind of a controller: the kinds of `Controller::watches`. A handler that decodes only metadata,
    /// which is the same in each API version, can share the watch of any version.
    pub(crate) fn all_of(
        controller: &Arc<RunningController>,
        healths: &HealthRegistry,
    ) -> impl Iterator<Item = Arc<Self>> {
        let handler = |mapped: &MappedWatch| {
            let kind = mapped.kind();
            let health = if mapped.metadata_only { healths.of_any_version(kind) } else { healths.of_version(kind) };
            let watched = WatchedKind { health, ..WatchedKind::new(kind.clone(), false) };
            Arc::new(Self {
                mapped: mapped.clone(),
                watched: Arc::new(watched),
                controller: controller.clone(),
                panic_reports: PanicReports::default(),
            })
        };
        controller.settings().watches.iter().map(handler)
    }

    pub(crate) fn metadata_only(&self) -> bool {
        self.mapped.metadata_only
    }
}

impl EventHandler for MappedHandler {
    type Projection = MappedKeys;

    fn health(&self) -> &Health {
        &self.watched.health
    }

    fn store(&self) -> &Store<MappedKeys> {
        &self.watched.store
    }

    /// Maps the object to primaries by the controller's function and stores their keys. The store calls the function only for a new version
    /// of the object.
    fn store_object(&self, json: &[u8], _from_list: bool) -> Result<Change<MappedKeys>> {
        let map = |header: &Header| {
            // Collects the panics of the controller's function and predicate.
            let mut panics = Panics::default();
            // An object that can't be decoded maps to no primaries; the primaries of its old state are still enqueued.
            let mapped_keys = self.mapped.map(json, &mut panics).unwrap_or_else(|error| {
                let kind = self.kind();
                let object = &header.key;
                tracing::error!(%kind, %object, %error, "failed to decode an object; it maps to no primaries");
                MappedKeys::default()
            });
            self.panic_reports.report(&self.controller.control_loop.shared, self.kind(), header, &panics);
            Ok::<_, Infallible>(mapped_keys)
        };
        let Ok(change) = self.watched.store.try_project(Header::parse(json)?, map);
        Ok(change)
    }

    /// Enqueues the primaries that the function returned for the new state, and those for the old state: the object may no longer
    /// map to them.
    fn on_change(&self, change: &Change<MappedKeys>, from_list: bool) {
        // The object maps to the same primaries as before, and the predicate of the controller rejects the update.
        if let Change::Updated { old, new } = change
            && old.header.uid == new.header.uid
            && old.header.deleting == new.header.deleting
            && !self.mapped.passes(&old.value, &new.value)
        {
            return;
        }
        if let Change::Deleted { old } = change {
            self.panic_reports.forget(&old.header.key);
        }
        let origin = self.controller.origin_of(self.kind(), change);
        let states = || [change.old(), change.new_entry()].into_iter().flatten().map(|entry| &entry.value);
        if states().any(|mapped| mapped.all_primaries) {
            return self.controller.enqueue_all(&origin);
        }
        self.controller.enqueue_keys(states().flat_map(|mapped| &mapped.keys), &origin, from_list);
    }
}

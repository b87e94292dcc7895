//! Handles events of kinds that a controller projects into a lister (`lister`, `metadata_lister`), and enqueues primaries.

use crate::{
    cache::{Change, Header, Store},
    controller::{lister_source::ListerSource, worker::RunningController},
    error::Result,
    informer::{
        event_handler::EventHandler,
        shared_watch::HealthRegistry,
        watch::{Health, WatchedKind},
    },
    panic::Panics,
    reconcile::panics::PanicReports,
};
use std::sync::Arc;

/// The handler of one lister that one controller fills.
pub(crate) struct ListerHandler {
    source: ListerSource,
    /// Its store has only the headers; the lister has the projections.
    pub(crate) watched: Arc<WatchedKind<()>>,
    pub(crate) controller: Arc<RunningController>,
    panic_reports: PanicReports,
}

impl ListerHandler {
    /// Creates a handler for each lister that a controller fills. A handler that decodes only metadata, which is the same in each API
    /// version, can share the watch of any version.
    pub(crate) fn all_of(
        controller: &Arc<RunningController>,
        healths: &HealthRegistry,
    ) -> impl Iterator<Item = Arc<Self>> {
        let handler = |source: &ListerSource| {
            let kind = source.kind();
            let health = if source.metadata_only { healths.of_any_version(kind) } else { healths.of_version(kind) };
            let watched = WatchedKind { health, ..WatchedKind::new(kind.clone(), false) };
            source.writer.begin(&watched.health);
            Arc::new(Self {
                source: source.clone(),
                watched: Arc::new(watched),
                controller: controller.clone(),
                panic_reports: PanicReports::default(),
            })
        };
        controller.settings().listers.iter().map(handler)
    }

    pub(crate) fn metadata_only(&self) -> bool {
        self.source.metadata_only
    }
}

impl EventHandler for ListerHandler {
    type Projection = ();

    fn health(&self) -> &Health {
        &self.watched.health
    }

    fn store(&self) -> &Store<()> {
        &self.watched.store
    }

    /// Puts the projection of an added or updated object into the lister, and enqueues the primaries that it maps to. `on_change` does not
    /// do this, because only this method has the JSON that is projected.
    fn store_object(&self, json: &[u8], from_list: bool) -> Result<Change<()>> {
        let change = self.watched.store.apply(Header::parse(json)?, || ());
        if let Some(new) = change.new_entry() {
            let is_new = change.old().is_none_or(|old| old.header.uid != new.header.uid);
            let mut panics = Panics::default();
            let primaries = self.source.writer.put(&new.header.key, json, is_new, &mut panics);
            self.panic_reports.report(&self.controller.control_loop.shared, self.kind(), &new.header, &panics);
            let origin = self.controller.origin_of(self.kind(), &change);
            self.controller.enqueue_keys(&primaries?, &origin, from_list);
        }
        Ok(change)
    }

    /// Removes a deleted object from the lister and enqueues its primaries. [`Self::store_object`] has already handled created and
    /// updated objects.
    fn on_change(&self, change: &Change<()>, from_list: bool) {
        if let Change::Deleted { old } = change {
            let mut panics = Panics::default();
            let primaries = self.source.writer.remove(&old.header.key, &mut panics);
            self.panic_reports.report(&self.controller.control_loop.shared, self.kind(), &old.header, &panics);
            self.panic_reports.forget(&old.header.key);
            let origin = self.controller.origin_of(self.kind(), change);
            self.controller.enqueue_keys(&primaries, &origin, from_list);
        }
    }

    fn on_listed(&self) {
        self.source.writer.mark_listed();
    }
}

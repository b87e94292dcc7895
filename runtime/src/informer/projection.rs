//! The watches of kinds of which controllers keep something.

use crate::{
    cache::{Change, Header, Store},
    controller::{lister::Kept, worker::Running},
    error::Result,
    informer::{child::is_work_of, event_handler::Follower, shared_watch::Healths, watch::Watched},
    kind::Kind,
    panic::Panics,
    reconcile::panics::Reported,
};
use std::sync::Arc;

/// One of a controller's.
pub(crate) struct Views {
    kept: Kept,
    /// The objects themselves are in the view.
    pub(crate) watched: Arc<Watched<()>>,
    pub(crate) controller: Arc<Running>,
    reported: Reported,
}

impl Views {
    /// All of a controller's.
    pub(crate) fn of(controller: &Arc<Running>, healths: &Healths) -> impl Iterator<Item = Arc<Self>> {
        let of_one = |kept: &Kept| {
            let watched = Watched { health: healths.of(kept.kind()), ..Watched::new(kept.kind().clone(), false) };
            kept.keeps.begin(&watched.health);
            Arc::new(Self {
                kept: kept.clone(),
                watched: Arc::new(watched),
                controller: controller.clone(),
                reported: Reported::default(),
            })
        };
        controller.settings().kept.iter().map(of_one)
    }

    pub(crate) fn metadata_only(&self) -> bool {
        self.kept.metadata_only
    }
}

impl Follower for Views {
    type Kept = ();

    fn kind(&self) -> &Kind {
        &self.watched.kind
    }

    fn store(&self) -> &Store<()> {
        &self.watched.store
    }

    fn take_in(&self, json: &[u8], listing: bool) -> Result<Change<()>> {
        let change = self.watched.store.apply(Header::parse(json)?, || ());
        if let Some(new) = change.new_entry() {
            let anew = change.old().is_none_or(|old| old.header.uid != new.header.uid);
            let mut panics = Panics::default();
            let concerned = self.kept.keeps.put(&new.header.key, json, anew, &mut panics);
            self.reported.report(&self.controller.inner.shared, self.kind(), &new.header, &panics);
            self.controller.wake_named(&concerned?, is_work_of(&self.controller, self.kind(), &change), listing);
        }
        Ok(change)
    }

    fn tell(&self, change: &Change<()>, listing: bool) {
        if let Change::Deleted { old } = change {
            let mut panics = Panics::default();
            let concerned = self.kept.keeps.remove(&old.header.key, &mut panics);
            self.reported.report(&self.controller.inner.shared, self.kind(), &old.header, &panics);
            self.reported.forget(&old.header.key);
            self.controller.wake_named(&concerned, is_work_of(&self.controller, self.kind(), change), listing);
        }
    }

    fn listed(&self) {
        self.kept.keeps.listed();
    }
}

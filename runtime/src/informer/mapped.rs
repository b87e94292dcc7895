//! The watches of kinds that a controller follows by a function.

use crate::{
    cache::{Change, Header, Store},
    controller::{
        mapped::{Concern, Mapped},
        worker::Running,
    },
    error::Result,
    informer::{child::is_work_of, event_handler::Follower, shared_watch::Healths, watch::Watched},
    kind::Kind,
    panic::Panics,
    reconcile::panics::Reported,
};
use std::{convert::Infallible, sync::Arc};

/// One of a controller's; what is kept of each object is whom it concerns.
pub(crate) struct Follows {
    mapped: Mapped,
    pub(crate) watched: Arc<Watched<Concern>>,
    pub(crate) controller: Arc<Running>,
    reported: Reported,
}

impl Follows {
    /// All of a controller's.
    pub(crate) fn of(controller: &Arc<Running>, healths: &Healths) -> impl Iterator<Item = Arc<Self>> {
        let of_one = |mapped: &Mapped| {
            let watched = Watched { health: healths.of(mapped.kind()), ..Watched::new(mapped.kind().clone(), false) };
            Arc::new(Self {
                mapped: mapped.clone(),
                watched: Arc::new(watched),
                controller: controller.clone(),
                reported: Reported::default(),
            })
        };
        controller.settings().mapped.iter().map(of_one)
    }

    pub(crate) fn metadata_only(&self) -> bool {
        self.mapped.metadata_only
    }
}

impl Follower for Follows {
    type Kept = Concern;

    fn kind(&self) -> &Kind {
        &self.watched.kind
    }

    fn store(&self) -> &Store<Concern> {
        &self.watched.store
    }

    fn take_in(&self, json: &[u8], _listing: bool) -> Result<Change<Concern>> {
        let concern = |header: &Header| {
            let mut panics = Panics::default();
            let concern = self.mapped.concern(json, &mut panics).unwrap_or_else(|error| {
                let kind = self.kind();
                tracing::error!(%kind, object = %header.key, %error, "an object could not be read, and wakes nobody");
                Concern::default()
            });
            self.reported.report(&self.controller.inner.shared, self.kind(), header, &panics);
            Ok::<_, Infallible>(concern)
        };
        let Ok(change) = self.watched.store.try_project(Header::parse(json)?, concern);
        Ok(change)
    }

    /// Whom it concerned before is told, too: it may be the end of that which concerned them.
    fn tell(&self, change: &Change<Concern>, listing: bool) {
        if let Change::Updated { old, new } = change
            && old.header.uid == new.header.uid
            && old.header.deleting == new.header.deleting
            && !self.mapped.passes(&old.value, &new.value)
        {
            return;
        }
        if let Change::Deleted { old } = change {
            self.reported.forget(&old.header.key);
        }
        let is_work_of = is_work_of(&self.controller, self.kind(), change);
        let concerns = || [change.old(), change.new_entry()].into_iter().flatten().map(|entry| &entry.value);
        if concerns().any(|concern| concern.all) {
            return self.controller.wake_all(is_work_of);
        }
        self.controller.wake_named(concerns().flat_map(|concern| &concern.keys), is_work_of, listing);
    }
}

//! `HasHealth`: a trait of everything that has a watch (controllers, child stores, other stores), with the health of the watch.

use crate::{
    controller::worker::RunningController,
    engine::child::Child,
    informer::{
        mapped::MappedHandler,
        projection::ListerHandler,
        watch::{Health, WatchedKind},
    },
    reference::Targets,
};
use std::{sync::Arc, time::Duration};

/// The maximum time for which a candidate waits for its watches before it takes the lead without them, and for which runnables without
/// lead wait for them.
pub(super) const SYNC_TIMEOUT: Duration = Duration::from_secs(10);

/// A component with a watch.
pub(crate) trait HasHealth: Send + Sync {
    fn health(&self) -> &Health;

    /// Returns whether the operator works without the kind of the watch.
    fn is_optional(&self) -> bool {
        false
    }
}

/// Waits until the first list of each of these watches is complete, or its kind is missing or forbidden.
pub(crate) async fn wait_for_sync(watches: &[Arc<dyn HasHealth>]) {
    for watch in watches {
        let mut state = watch.health().subscribe();
        while watch.health().is_undecided() {
            // `changed` fails only without a sender, and `watch` has the sender of its state, so this never happens.
            if state.changed().await.is_err() {
                return;
            }
        }
    }
}

impl HasHealth for Health {
    fn health(&self) -> &Health {
        self
    }
}

impl HasHealth for RunningController {
    fn health(&self) -> &Health {
        self.control_loop.source.health()
    }
}

impl HasHealth for WatchedKind<Child> {
    fn health(&self) -> &Health {
        &self.health
    }

    fn is_optional(&self) -> bool {
        self.optional
    }
}

impl HasHealth for MappedHandler {
    fn health(&self) -> &Health {
        &self.watched.health
    }
}

impl HasHealth for ListerHandler {
    fn health(&self) -> &Health {
        &self.watched.health
    }
}

impl HasHealth for Targets {
    fn health(&self) -> &Health {
        &self.watched.health
    }
}

//! What has a watch.

use crate::{
    controller::worker::Running,
    engine::child::Child,
    informer::{
        mapped::Follows,
        projection::Views,
        watch::{Health, Watched},
    },
    reference::Targets,
};
use std::sync::Arc;

/// Something with a watch.
pub(crate) trait AsHealth: Send + Sync {
    fn health(&self) -> &Health;

    /// Whether the operator can do its work without the kind.
    fn is_optional(&self) -> bool {
        false
    }
}

/// Waits until each of these watches has its first list, or is known to have none.
pub(crate) async fn decided(needs: &[Arc<dyn AsHealth>]) {
    for watched in needs {
        let mut state = watched.health().subscribe();
        while watched.health().is_undecided() {
            if state.changed().await.is_err() {
                return;
            }
        }
    }
}

impl AsHealth for Health {
    fn health(&self) -> &Health {
        self
    }
}

impl AsHealth for Running {
    fn health(&self) -> &Health {
        self.inner.source.health()
    }
}

impl AsHealth for Watched<Child> {
    fn health(&self) -> &Health {
        &self.health
    }

    fn is_optional(&self) -> bool {
        self.optional
    }
}

impl AsHealth for Follows {
    fn health(&self) -> &Health {
        &self.watched.health
    }
}

impl AsHealth for Views {
    fn health(&self) -> &Health {
        &self.watched.health
    }
}

impl AsHealth for Targets {
    fn health(&self) -> &Health {
        &self.watched.health
    }
}

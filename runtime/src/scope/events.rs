//! `ClusterEvents`: the trait by which a controller learns of changes of child objects in other clusters. `EventTarget`: the controller
//! that gets these events.

use crate::{
    cache::{ObjectKey, Uid},
    engine::controller_state::ControllerState,
    informer::child::{ChildEvent, OwnerRef},
    kind::Kind,
};
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::{Arc, OnceLock, Weak},
};

/// The controller of the owners whose children are in other clusters.
pub(crate) trait ClusterEvents: Send + Sync {
    /// Handles a change of a child in another cluster, which has the state `state`.
    fn on_remote_change(&self, state: &ControllerState, kind: &Kind, owner: &OwnerRef, event: &ChildEvent<'_>);
    /// Enqueues an owner, because the cluster of its children can be used again, or no longer.
    fn enqueue(&self, owner: ObjectKey);
}

/// The controller that gets the events; unset until it exists.
#[derive(Clone, Default)]
pub(super) struct EventTarget(Arc<OnceLock<Weak<dyn ClusterEvents>>>);

impl EventTarget {
    pub(super) fn set(&self, events: Weak<dyn ClusterEvents>) {
        // A second one is the same.
        let _ = self.0.set(events);
    }

    pub(super) fn get(&self) -> Option<Arc<dyn ClusterEvents>> {
        self.0.get().and_then(Weak::upgrade)
    }

    /// Enqueues the users of a cluster.
    pub(super) fn enqueue(&self, users: &Mutex<ClusterUsers>) {
        let Some(events) = self.get() else { return };
        let owners: Vec<_> = users.lock().values().cloned().collect();
        owners.into_iter().for_each(|owner| events.enqueue(owner));
    }
}

/// The nodes of owners that use a cluster, by the uid of the owner and the path of the node.
pub(super) type ClusterUsers = HashMap<(Uid, String), ObjectKey>;

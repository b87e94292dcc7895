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
    /// Handles a change of a child object in another cluster. `state` is the state of the controller in that cluster.
    fn on_remote_change(&self, state: &ControllerState, kind: &Kind, owner: &OwnerRef, event: &ChildEvent<'_>);
    /// Enqueues an owner, because the cluster of its children has become reachable or unreachable, or needs a new check.
    fn enqueue(&self, owner: ObjectKey);
}

/// The controller that gets the events; unset until it exists.
#[derive(Clone, Default)]
pub(super) struct EventTarget(Arc<OnceLock<Weak<dyn ClusterEvents>>>);

impl EventTarget {
    /// Sets the controller; only the first call has an effect.
    pub(super) fn set(&self, events: Weak<dyn ClusterEvents>) {
        // A second call has the same controller.
        let _ = self.0.set(events);
    }

    /// Returns the controller; `None` before it is set and after it is dropped.
    pub(super) fn get(&self) -> Option<Arc<dyn ClusterEvents>> {
        self.0.get().and_then(Weak::upgrade)
    }

    /// Enqueues the owners of all nodes that use a cluster.
    pub(super) fn enqueue(&self, users: &Mutex<ClusterUsers>) {
        let Some(events) = self.get() else { return };
        let owners: Vec<_> = users.lock().values().cloned().collect();
        owners.into_iter().for_each(|owner| events.enqueue(owner));
    }
}

/// The nodes of owners that use a cluster, by the uid of the owner and the path of the node.
pub(super) type ClusterUsers = HashMap<(Uid, String), ObjectKey>;

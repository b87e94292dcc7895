//! Enqueues the owners of child objects in other clusters after a change of a child.

use super::worker::RunningController;
use crate::{
    cache::ObjectKey,
    engine::{controller_state::ControllerState, owner_state::StrippedChild},
    informer::child::{ChildEvent, OwnerRef},
    kind::Kind,
    scope::ClusterEvents,
};

impl ClusterEvents for RunningController {
    /// Enqueues the owner of a child in another cluster after a change of the child. If the child was deleted or has lost its label,
    /// records this in `state`, the state of the controller in that cluster.
    fn on_remote_change(&self, state: &ControllerState, kind: &Kind, owner: &OwnerRef, event: &ChildEvent<'_>) {
        // Objects in the other cluster are not trusted: they may name owners that do not exist.
        let key = owner.key_of_kind(self.control_loop.source.kind());
        let Some(key) = key.filter(|key| self.is_cached(key, &owner.uid)) else { return };
        if let Some(departed) = event.departed {
            state.owner_states().add_departed_child(&key, &owner.uid, StrippedChild::new(kind, departed));
        }
        self.enqueue_owner(key, event.from_list);
    }

    fn enqueue(&self, owner: ObjectKey) {
        self.enqueue_related(owner, true);
    }
}

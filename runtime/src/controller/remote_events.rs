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
    fn on_remote_change(&self, state: &ControllerState, kind: &Kind, owner: &OwnerRef, event: &ChildEvent<'_>) {
        // The other cluster is not trusted: it enqueues only owners that exist.
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

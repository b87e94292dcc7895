//! `ChangeOrigin`: the primaries whose passes write a changed object, and the number of the operator's own writes that led to the change.

use crate::{
    cache::{Change, Header, ObjectKey},
    engine::{chain::Chain, controller_state::ControllerState},
    informer::child::OwnerRef,
    kind::Kind,
};

/// The origin of a change: the primaries whose passes write the object, and how many of the operator's own writes led to the change.
///
/// Event handlers choose the trigger of a pass by it: a changed object that a pass writes enqueues the primary as a changed child
/// does.
pub(crate) struct ChangeOrigin<'a> {
    shared: &'a ControllerState,
    kind: &'a Kind,
    /// The primaries that own the object, of the kind of the controller.
    owners: Vec<ObjectKey>,
    /// The state of the object after the change; `None` if it is deleted.
    current: Option<&'a Header>,
    object: Option<&'a ObjectKey>,
    /// The chain of own writes that this change ends, without a write if another client made it.
    pub(crate) chain: Chain,
}

impl<'a> ChangeOrigin<'a> {
    /// Determines the origin of a change of an object of `kind`, for a controller of the kind `primaries`: the primaries that own the
    /// object before or after the change, and the chain of the operator's own writes that led to it.
    pub(crate) fn new<V>(shared: &'a ControllerState, primaries: &Kind, kind: &'a Kind, change: &'a Change<V>) -> Self {
        Self {
            shared,
            kind,
            owners: OwnerRef::owner_keys(primaries, change),
            current: change.new_entry().map(|entry| &entry.header),
            object: change.new_entry().or(change.old()).map(|entry| &entry.header.key),
            chain: shared.chains.chain_at(kind, change),
        }
    }

    /// Returns whether the object is an output of the primary: its child, or an object that its hand-written nodes have just written.
    pub(crate) fn is_output_of(&self, primary: &ObjectKey) -> bool {
        let is_node_write =
            |object| self.shared.owner_states().is_node_write(primary, self.kind, (object, self.current));
        self.owners.contains(primary) || self.object.is_some_and(is_node_write)
    }
}

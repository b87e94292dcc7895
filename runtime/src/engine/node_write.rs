//! Tracks the writes of hand-written nodes. A write that is repeated without another change counts as a repair, and repairs slow down
//! the passes.

use crate::{
    cache::ObjectKey,
    client::{CallError, Target},
    engine::{
        hand_written::{WriteEffect, revision_of},
        pass::PassCore,
        repair::RepairReason,
    },
    queue::Trigger,
};
use serde_json::Value;

impl PassCore<'_> {
    /// Makes a call by which a hand-written node writes an object, and records the revision in the response, so that the watch event of
    /// this write counts as the node's own write. Counts the write as a repair (repairs that recur slow down the passes) if it changed the
    /// object although only own writes of nodes or another client that undoes them can have triggered it, or if passes that trigger each
    /// other by own writes led to it.
    pub(crate) async fn write_from_node(
        &self,
        node: &str,
        (target, subresource): (Target<'_>, &str),
        sent: &Value,
        call: impl Future<Output = Result<Value, CallError>>,
    ) -> Result<Value, CallError> {
        let (kind, key) = (target.kind, ObjectKey::new(target.namespace, target.name));
        let (is_watched, chains) = (self.shared.watches_kind(kind), &self.shared.chains);
        // A write of a kind that no watch of the operator shows triggers no pass.
        if !is_watched && !chains.is_related(kind) {
            return call.await;
        }
        let chained = chains.begin_write(kind, &key, self.trigger.chain);
        let watched = self.shared.watched_revision(kind, &key);
        let previous = self.owner_states().begin_node_write(&self.owner, kind, &key);
        let answer = call.await;
        let mut states = self.shared.owner_states();
        let Some(written) = answer.as_ref().ok().and_then(|answer| revision_of(answer, subresource)) else {
            states.fail_node_write(&self.owner, kind, &key, previous);
            return answer;
        };
        chained.finish(&written.version);
        let earlier = [previous, watched];
        // Compares versions, since a change of labels or of the status does not raise the generation.
        let is_new_version = earlier.iter().flatten().all(|earlier| earlier.version != written.version);
        let effect = states.finish_node_write(&self.owner, (kind, &key), sent, earlier, written);
        // A changed body needs more than own writes and changes of children as its cause, and an equal body needs a timer or a user.
        let is_repeated = match effect {
            WriteEffect::Unchanged => false,
            WriteEffect::Changed => is_watched && self.trigger.event <= Trigger::Children,
            WriteEffect::Restored => is_watched && !matches!(self.trigger.event, Trigger::Timer | Trigger::Request),
        };
        let of_chain = RepairReason::of_chain(&self.trigger.chain).filter(|_| is_new_version);
        if let Some(reason) = of_chain.or(is_repeated.then(|| RepairReason::NodeWrite { node: node.into() })) {
            states.record_repair(&self.owner, kind, &key, reason);
        }
        answer
    }

    /// Records that a hand-written node deletes an object, so that the deletion in the watch counts as the node's own write.
    pub(crate) fn delete_from_node(&self, target: Target<'_>) {
        let key = ObjectKey::new(target.namespace, target.name);
        self.shared.chains.record_deletion(target.kind, &key, self.trigger.chain);
        if self.shared.watches_kind(target.kind) {
            self.owner_states().begin_node_write(&self.owner, target.kind, &key);
        }
    }
}

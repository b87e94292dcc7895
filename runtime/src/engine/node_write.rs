//! Writes of hand-written nodes: compared with the watch, and slowed down when repeated.

use crate::{
    cache::ObjectKey,
    client::{CallError, Target},
    engine::{
        hand_written::{Effect, revision_of},
        pass::Core,
        repair::Damage,
    },
    queue::Trigger,
};
use serde_json::Value;

impl Core<'_> {
    /// Makes a call by which a node writes an object, and counts it if nothing but the node's own writes, or another client that
    /// undoes them, has asked for it.
    pub(crate) async fn write_by_hand(
        &self,
        node: &str,
        (target, subresource): (Target<'_>, &str),
        sent: &Value,
        call: impl Future<Output = Result<Value, CallError>>,
    ) -> Result<Value, CallError> {
        let (kind, key) = (target.kind, ObjectKey::new(target.namespace, target.name));
        let Some(shown) = self.shared.shown(kind, &key) else { return call.await };
        let before = self.memory().begin_by_hand(&self.owner, kind, &key);
        let answer = call.await;
        let mut memory = self.shared.memory();
        let Some(left) = answer.as_ref().ok().and_then(|answer| revision_of(answer, subresource)) else {
            memory.failed_by_hand(&self.owner, kind, &key, before);
            return answer;
        };
        let effect = memory.wrote_by_hand(&self.owner, (kind, &key), sent, [before, shown], left);
        let is_repeated = match effect {
            Effect::Unchanged => false,
            Effect::Changed => self.trigger <= Trigger::Children,
            Effect::Restored => !matches!(self.trigger, Trigger::Timer | Trigger::Request),
        };
        if is_repeated {
            memory.repaired(&self.owner, kind, &key, Damage::ByHand { node: node.into() });
        }
        answer
    }

    /// A node deletes an object: that the watch shows it gone is the node's own work.
    pub(crate) fn delete_by_hand(&self, target: Target<'_>) {
        let (kind, key) = (target.kind, ObjectKey::new(target.namespace, target.name));
        if self.shared.shown(kind, &key).is_some() {
            self.memory().begin_by_hand(&self.owner, kind, &key);
        }
    }
}

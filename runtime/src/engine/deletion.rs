//! Deletes child objects and confirms with a live read that they are gone.

use crate::{
    cache::{Entry, ObjectKey, Uid},
    client::{Deletion, Target},
    engine::{
        child::Child, owner_state::PendingDeletion, pass::PassCore, pending::PendingObjects, repair::RepairReason,
    },
    error::Result,
    informer::watch::WatchedKind,
    kind::Kind,
};
use kube::api::{DeleteParams, Preconditions, PropagationPolicy};
use serde_json::Value;

impl PassCore<'_> {
    /// Deletes a child unless it is being deleted already, and records the pending deletion. A call also records an event, and a
    /// repair if only children triggered the pass. The next creation of the object is no repair.
    pub(crate) async fn delete_child(&self, kind: &Kind, entry: &Entry<Child>) -> Result<()> {
        let header = &entry.header;
        let pending = PendingDeletion::new(kind, &entry.value.node, header);
        self.owner_states().forget_write(&self.owner, kind, &header.key);
        if header.deleting || self.owner_states().is_deletion_confirmed(&self.owner, &pending) {
            self.owner_states().add_pending_deletion(&self.owner, pending);
            return Ok(());
        }
        let target = Target { kind, namespace: header.key.namespace(), name: header.key.name() };
        let deletion = self.shared.client.delete(target, &delete_params(kind, &header.uid)).await?;
        let replaced = RepairReason::Replaced { node: entry.value.node.clone() };
        self.record_repair(kind, &header.key, self.is_triggered_by_children().then_some(replaced));
        let confirmed = deletion != Deletion::Started;
        self.owner_states().add_pending_deletion(&self.owner, PendingDeletion { confirmed, ..pending });
        if deletion != Deletion::Absent {
            let note = format!("deleted {kind} {}", header.key);
            self.shared.recorder.normal(&self.owner.regarding(), "Deleted", "Delete", &note);
        }
        Ok(())
    }

    /// Adds the deleted children of a node that still exist to `pending`, and forgets those that are gone.
    ///
    /// The absence of a child in the cache is confirmed by a live read: an object that loses its label leaves the watch just as
    /// a deleted one does.
    pub(crate) async fn check_deletions(
        &self,
        children: &WatchedKind<Child>,
        kind: &Kind,
        node: &str,
        pending: &mut PendingObjects<'_>,
    ) -> Result<()> {
        let deletions = self.owner_states().pending_deletions(&self.owner, kind, node);
        for deletion in deletions {
            let key = &deletion.key;
            let is_cached = children.store.get(key).is_some_and(|entry| entry.header.uid == deletion.uid);
            if !deletion.confirmed && (is_cached || self.exists(kind, key, &deletion.uid).await?) {
                pending.push(&format!("{kind} {key} is being deleted"));
            } else if !is_cached {
                self.owner_states().remove_pending_deletion(&self.owner, &deletion);
            }
        }
        Ok(())
    }

    /// Returns whether the object with this uid exists, by a live read.
    async fn exists(&self, kind: &Kind, key: &ObjectKey, uid: &Uid) -> Result<bool> {
        let target = Target { kind, namespace: key.namespace(), name: key.name() };
        let Some(found) = self.shared.client.get_metadata::<Value>(target).await? else { return Ok(false) };
        Ok(found["metadata"]["uid"].as_str() == Some(uid.to_string().as_str()))
    }
}

/// Returns parameters that delete only the object with this uid, and not a later object of the same name.
pub(crate) fn delete_params(kind: &Kind, uid: &Uid) -> DeleteParams {
    DeleteParams {
        propagation_policy: Some(propagation_policy(kind)),
        preconditions: Some(Preconditions { uid: Some(uid.to_string()), resource_version: None }),
        ..DeleteParams::default()
    }
}

/// Returns foreground deletion for workloads: a node counts as removed only when the Pods of its workload are gone, too.
fn propagation_policy(kind: &Kind) -> PropagationPolicy {
    match kind.group.as_ref() {
        "apps" | "batch" => PropagationPolicy::Foreground,
        _ => PropagationPolicy::Background,
    }
}

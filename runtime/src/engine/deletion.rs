//! Deletes child objects and confirms with a live read that they are gone.
//!
//! # With a Namespace
//! The teardown of a whole tree does not delete an object whose node names the node of a Namespace in `deleted_with(...)`. That
//! node comes later in the teardown: it deletes its Namespace, and waits until the Namespace is gone with everything in it. An
//! object is deleted by a call of its own if its namespace is none of those that this teardown deletes, see
//! [`PassCore::delete_unwanted`]. Each pass decides again, with the same view of the cache for both nodes, so no state is stored.

use crate::{
    cache::{Entry, ObjectKey, Uid},
    client::{Deletion, Target},
    engine::{
        child::Child, owner_state::PendingDeletion, pass::PassCore, pending::PendingObjects, repair::RepairReason,
    },
    error::Result,
    informer::watch::WatchedKind,
    kind::{Kind, kind_of},
    shape::DeletionPropagation,
};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{DeleteParams, Preconditions, PropagationPolicy};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

impl PassCore<'_> {
    /// Deletes the unwanted children of a tree node. Leaves out children that another node wants, and children in a Namespace that the
    /// teardown of the tree deletes with all its content. `propagation` is the option of the node.
    pub(crate) async fn delete_unwanted(
        &self,
        kind: &Kind,
        node: &Arc<str>,
        unwanted: Vec<Arc<Entry<Child>>>,
        propagation: Option<DeletionPropagation>,
    ) -> Result<()> {
        if unwanted.is_empty() {
            return Ok(());
        }
        let namespaces = self.namespaces_to_delete_with(kind, node)?;
        for entry in self.select_unclaimed(kind, node, unwanted).await {
            if entry.header.key.namespace().is_none_or(|namespace| !namespaces.contains(namespace)) {
                self.delete_child(kind, &entry, propagation).await?;
            }
        }
        Ok(())
    }

    /// Returns the names of the Namespaces in `deleted_with` of a node or of a group around it that this teardown deletes: those
    /// that the cache shows as children of the named node, which deletes all of them, and those whose deletion it still awaits.
    /// Returns none unless the whole tree is torn down, and none for objects in a bucket, which a Namespace does not contain.
    fn namespaces_to_delete_with(&self, kind: &Kind, node: &str) -> Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        let Some(tree) = self.torn_down_tree.filter(|_| !self.shared.client.is_in_bucket(kind)) else {
            return Ok(names);
        };
        for namespace_node in tree.namespaces_of(node) {
            let namespaces = self.shared.children(&kind_of::<Namespace>())?;
            namespaces.check_readable()?;
            let children = self.children_of_node(namespaces, &namespace_node);
            names.extend(children.iter().map(|entry| entry.header.key.name().to_owned()));
            let pending = self.owner_states().pending_deletions(&self.owner, &namespaces.kind, &namespace_node);
            names.extend(pending.iter().map(|deletion| deletion.key.name().to_owned()));
        }
        Ok(names)
    }

    /// Deletes a child unless it is being deleted already, and records the deletion as pending until the object is gone. `propagation` is
    /// the option of its node. A sent deletion records an event. It counts as a repair (a write that slows down the passes if it recurs) if
    /// only changes of children, or a cycle of own writes, triggered the pass.
    pub(crate) async fn delete_child(
        &self,
        kind: &Kind,
        entry: &Entry<Child>,
        propagation: Option<DeletionPropagation>,
    ) -> Result<()> {
        let header = &entry.header;
        let pending = PendingDeletion::new(kind, entry.node(), header);
        // The next creation of the object must not count as the repair of a deletion by another client.
        self.owner_states().forget_write(&self.owner, kind, &header.key);
        if header.deleting || self.owner_states().is_deletion_confirmed(&self.owner, &pending) {
            self.owner_states().add_pending_deletion(&self.owner, pending);
            return Ok(());
        }
        let target = Target { kind, namespace: header.key.namespace(), name: header.key.name() };
        self.shared.chains.record_deletion(kind, &header.key, self.trigger.chain);
        let deletion = self.shared.client.delete(target, &delete_params(kind, &header.uid, propagation)).await?;
        let replaced = RepairReason::Replaced { node: entry.node().into() };
        let of_chain = RepairReason::of_chain(&self.trigger.chain);
        self.record_repair(kind, &header.key, of_chain.or(self.is_triggered_by_children().then_some(replaced)));
        let confirmed = deletion != Deletion::Started;
        self.owner_states().add_pending_deletion(&self.owner, PendingDeletion { confirmed, ..pending });
        if deletion != Deletion::Absent {
            let note = format!("deleted {kind} {}", header.key);
            let regarding = self.regarding_child(kind, &header.key, &header.uid);
            self.shared.recorder.normal(&regarding, "Deleted", "Delete", &note);
        }
        Ok(())
    }

    /// Adds the deleted children of a node that still exist to `pending`, and drops the pending deletions of children that are gone.
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
                // A confirmed deletion stays recorded until the cache shows it, so that the child is not deleted twice.
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

/// Returns parameters that delete only the object with this uid, and not a later object of the same name. `propagation` is the
/// option of its node; `None` selects the default of the kind.
pub(crate) fn delete_params(kind: &Kind, uid: &Uid, propagation: Option<DeletionPropagation>) -> DeleteParams {
    DeleteParams {
        propagation_policy: Some(match propagation.unwrap_or_else(|| default_propagation(kind)) {
            DeletionPropagation::Foreground => PropagationPolicy::Foreground,
            DeletionPropagation::Background => PropagationPolicy::Background,
        }),
        preconditions: Some(Preconditions { uid: Some(uid.to_string()), resource_version: None }),
        ..DeleteParams::default()
    }
}

/// Returns the propagation policy for a node without an option: foreground for workloads, so that a node counts as removed only when the
/// Pods of its workload are gone, and background for all other kinds.
fn default_propagation(kind: &Kind) -> DeletionPropagation {
    match kind.group.as_ref() {
        "apps" | "batch" => DeletionPropagation::Foreground,
        _ => DeletionPropagation::Background,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};

    #[test]
    fn the_option_of_the_node_overrides_the_default_policy_of_the_kind() {
        let policy = |kind: &Kind, option| delete_params(kind, &Uid::from("u-1"), option).propagation_policy;
        let (deployment, config) = (kind_of::<Deployment>(), kind_of::<ConfigMap>());
        for (option, of_deployment, of_config) in [
            (None, PropagationPolicy::Foreground, PropagationPolicy::Background),
            (Some(DeletionPropagation::Foreground), PropagationPolicy::Foreground, PropagationPolicy::Foreground),
            (Some(DeletionPropagation::Background), PropagationPolicy::Background, PropagationPolicy::Background),
        ] {
            assert_eq!(policy(&deployment, option), Some(of_deployment));
            assert_eq!(policy(&config, option), Some(of_config));
        }
    }
}

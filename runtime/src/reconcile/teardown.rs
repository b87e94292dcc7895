//! Tears down primaries: deprovisions the tree in reverse order, releases references, and removes the finalizer.

use crate::{
    cache::{Encoded, Entry, Header, ObjectKey},
    engine::pass::{PassCore, PassTrigger},
    error::{Error, Result},
    external::report_remaining_records,
    provisioner::schedule::worst_outcome,
    queue::Trigger,
    reconcile::verdict::Direction,
    shape::{Node, ResourceOptions, Shape},
};
use serde_json::Value;
use {
    super::reference::RING_REASON,
    crate::reconcile::{
        control_loop::Loop,
        next::{CATCH_UP, Next, NextPass},
        outcome::OutcomeReport,
        reconciler::{DecodedPrimary, TreeResult},
        stored_status::StoredStatus,
    },
};

impl Loop {
    /// Runs one pass of the teardown of a primary that is being deleted or no longer selected: waits for the objects that reference
    /// it, and tears the tree down. With the propagation policy `Orphan`, it releases the children instead.
    pub(super) async fn tear_down(&self, entry: &Entry<Encoded>, primary: &dyn DecodedPrimary) -> Result<NextPass> {
        let header = &entry.header;
        if self.is_orphaning(header) {
            return self.orphan_children(entry, primary).await.map(NextPass::from);
        }
        // Objects that still reference the primary delay its teardown.
        let result = match self.wait_for_referrers(header, primary).await.and_then(|()| self.references_of(primary)) {
            Ok(pointers) => {
                // A reference that can't be resolved now is no error: the end of the teardown releases all references.
                let (references, _) = self.resolve(&header.key, &pointers);
                let trigger = PassTrigger { event: Trigger::Related, ..PassTrigger::default() };
                self.run_tree(header, primary, &references, Direction::Down, trigger).await
            }
            Err(error) => TreeResult::failed(error),
        };
        if result.outcome.is_ok() && self.reconciler.shape().has_external_nodes() {
            let core = PassCore::new(&self.shared, self.identity(header), &header.resource_version);
            report_remaining_records(&core).await;
        }
        let requeue = result.side_effects.requeue;
        let next = self.finish_teardown(entry, result.outcome, primary, result.status).await?;
        Ok(requeue.apply_to(next, None))
    }

    /// Tears down a primary that can't be decoded. If all nodes of its tree apply objects, the children are found in the cache and deleted.
    /// A tree with other nodes, such as hand-written code, needs the decoded primary, so its teardown fails with `error`, the decoding
    /// error.
    pub(super) async fn tear_down_undecodable(&self, entry: &Entry<Encoded>, error: Error) -> Result<Next> {
        let header = &entry.header;
        let stored = self.stored_status(entry);
        if self.is_orphaning(header) {
            return self.orphan_children(entry, &stored).await;
        }
        let mut nodes = Vec::new();
        let outcome = if let Err(error) = self.wait_for_referrers(header, &stored).await {
            Err(error)
        } else if collect_applying_nodes(self.reconciler.shape(), &mut nodes) {
            let mut core = PassCore::new(&self.shared, self.identity(header), &header.resource_version);
            core.torn_down_tree = Some(self.reconciler.shape());
            match core.restore_owner_references(header.deleting).await {
                Ok(()) => {
                    let deleted = delete_children(&core, self.reconciler.shape(), nodes).await;
                    worst_outcome([deleted, core.restore_labels().await])
                }
                waiting => waiting,
            }
        } else {
            Err(error)
        };
        self.finish_teardown(entry, outcome, &stored, None).await
    }

    /// Tears down a primary that is deleted with the propagation policy `Orphan`: removes the owner and the operator's marks from its
    /// children, which stay. Then waits for the objects that reference the primary; the children don't wait, as in the garbage collector.
    async fn orphan_children(&self, entry: &Entry<Encoded>, stored: &dyn StoredStatus) -> Result<Next> {
        let header = &entry.header;
        let outcome = match self.release_children(header).await {
            Ok(()) => self.wait_for_referrers(header, stored).await,
            failed => failed,
        };
        self.finish_teardown(entry, outcome, stored, None).await
    }

    /// Ends a pass of a teardown. If `outcome` is a success, the tree is torn down: releases the references of the primary, removes its
    /// finalizer, and drops the state of its children. Else reports the outcome in the status. Returns when the next pass runs.
    async fn finish_teardown(
        &self,
        entry: &Entry<Encoded>,
        outcome: Result<()>,
        stored: &dyn StoredStatus,
        status: Option<Value>,
    ) -> Result<Next> {
        let header = &entry.header;
        match outcome {
            Ok(()) => {
                self.release_all_references(&header.key).await?;
                // The status is not written once more, since the object ends with the next call.
                let version = self.source.remove_finalizer(header, &self.finalizer).await?;
                if self.source.objects().store().get(&header.key).is_none() {
                    // The object is not selected: the watch never delivers the write, so no pass may wait for it.
                    self.forget(&header.key);
                    return Ok(Next::AwaitChange);
                }
                self.note_own_write(header, &version);
                self.states.set_finalizer_removed(header);
                self.shared.owner_states().forget(&header.key);
                self.forget_clusters(&header.key);
                Ok(Next::AwaitChange)
            }
            Err(error) => {
                let outcome = Err(error);
                let report = OutcomeReport::new(entry, Direction::Down, &outcome, stored);
                self.report_outcome(OutcomeReport { status, ..report }).await?;
                Ok(match outcome {
                    // A teardown is never parked, because the finalizer would stay forever.
                    Err(Error::Yield { reason, .. }) if reason == RING_REASON => Next::After(CATCH_UP),
                    Err(Error::Yield { .. }) => Next::Requeue,
                    Err(Error::Conflict(_)) => Next::Retry,
                    _ => Next::Failed,
                })
            }
        }
    }

    /// Returns whether the operator has removed its finalizer from an object that is being deleted, even if the cache still has the
    /// finalizer. The resourceVersion can't tell, since the response to the removal of the last finalizer has the old version. The API
    /// server accepts no new finalizer on such an object, so the state is final.
    pub(super) fn is_finalizer_removed(&self, header: &Header) -> bool {
        header.deleting && self.states.is_finalizer_removed(header)
    }

    /// Ends the use of other clusters by an object that is gone.
    fn forget_clusters(&self, key: &ObjectKey) {
        if let Some(clusters) = &self.shared.remote_clusters {
            clusters.forget(key);
        }
    }

    /// Drops all state of a deleted object.
    pub(super) fn forget(&self, key: &ObjectKey) {
        self.states.forget(key);
        self.shared.owner_states().forget(key);
        self.forget_clusters(key);
        self.panic_reports.forget(key);
        self.shared.own_writes.forget(key);
        self.shared.own_write_events.forget(key);
        self.reconciler.forget(key);
        self.recent_states.forget(key);
    }
}

/// Deletes the cached children of the nodes of a tree, in reverse order of the nodes. Each node has its path without item keys.
async fn delete_children(
    core: &PassCore<'_>,
    tree: &'static Shape,
    nodes: Vec<(String, &'static Shape)>,
) -> Result<()> {
    for (path, shape) in nodes.into_iter().rev() {
        // A kind that the cluster no longer serves does not hold up the teardown.
        let options = ResourceOptions { if_api: true, ..tree.resource_options(&path) };
        // In the reverse of the order in which they are created, like the nodes.
        for kind in shape.applied_kinds().into_iter().rev() {
            for node in core.node_paths(&kind, &path)? {
                core.converge(&node, &kind, options, None, Vec::new()).await?;
            }
        }
    }
    Ok(())
}

/// Adds the nodes of a tree that apply objects to `nodes`, with their paths. Returns whether all nodes except groups apply objects, so that
/// the tree can be torn down without the decoded primary.
fn collect_applying_nodes(shape: &'static Shape, nodes: &mut Vec<(String, &'static Shape)>) -> bool {
    let mut all_apply = true;
    shape.walk(&mut |visit| match visit.shape.node {
        // The connection to another cluster needs the decoded primary.
        _ if visit.edge.is_some_and(|edge| edge.remote) => all_apply = false,
        Node::Resource | Node::Manifest(_) | Node::Application(_) => nodes.push((visit.path.to_owned(), visit.shape)),
        Node::Group { .. } => {}
        Node::External(_) | Node::Custom => all_apply = false,
    });
    all_apply
}

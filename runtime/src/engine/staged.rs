//! Applies and deletes the objects of a tree node with several kinds in stages: a stage starts when the objects of the previous one are
//! ready or gone.

use crate::{
    cache::ObjectKey,
    engine::{desired::Desired, pass::PassCore, pending::PendingObjects},
    error::Result,
    informer::watch::WatchState,
    kind::Kind,
    shape::ResourceOptions,
};
use serde_json::Value;
use std::{collections::HashSet, sync::Arc};

/// The objects of a node: those that it wants, and all kinds that it may have, each with its stage.
pub(crate) struct StagedObjects<'a> {
    /// The kinds of the node.
    pub(crate) kinds: &'a [Kind],
    pub(crate) wanted: Vec<(Kind, Value)>,
    /// Returns the stage of a kind. Lower stages are applied first and deleted last.
    pub(crate) stage: &'a (dyn Fn(&Kind) -> usize + Sync),
    /// The kinds whose unwanted objects are gone before a wanted one is applied.
    pub(crate) removed_first: &'a [Kind],
}

impl PassCore<'_> {
    /// Applies the wanted objects of a tree node and deletes its other objects, in stages by kind. A stage starts when all objects of the
    /// previous stage are ready, or confirmed to be gone. Unwanted objects of the kinds in `removed_first` are deleted first of all.
    ///
    /// # Errors
    /// A yield while the objects of a stage are not ready or still being deleted.
    pub(crate) async fn converge_stages(&self, node: &Arc<str>, objects: StagedObjects<'_>) -> Result<()> {
        let StagedObjects { kinds, mut wanted, stage, removed_first } = objects;
        wanted.sort_by_key(|(kind, _)| stage(kind));
        if let Some(tree_harness) = &self.shared.tree_harness {
            let objects: Vec<Value> = wanted.into_iter().map(|(_, object)| object).collect();
            return tree_harness.converge(node, &objects);
        }
        let wanted = self.claim_all(node, wanted)?;
        if self.is_plan {
            return Ok(());
        }
        let keys: HashSet<_> = wanted.iter().map(|desired| (desired.kind.clone(), desired.key())).collect();
        self.prune_stages(node, removed_first, &keys, stage).await?;
        self.apply_stages(node, &wanted, stage).await?;
        self.prune_stages(node, kinds, &keys, stage).await
    }

    /// Applies the wanted objects stage by stage. Yields after a stage with objects that are not ready.
    async fn apply_stages(
        &self,
        node: &Arc<str>,
        wanted: &[Desired],
        stage: &(dyn Fn(&Kind) -> usize + Sync),
    ) -> Result<()> {
        for stage_objects in wanted.chunk_by(|one, next| stage(&one.kind) == stage(&next.kind)) {
            let mut pending = PendingObjects::new(node);
            for desired in stage_objects {
                let (kind, key) = (&desired.kind, desired.key());
                let children = self.shared.children(kind)?;
                children.check_readable()?;
                pending.add(kind, &key, &self.ensure_object(children, ResourceOptions::DEFAULT, &key, desired).await?);
            }
            pending.into_result()?;
        }
        Ok(())
    }

    /// Deletes the unwanted objects of the node that are of these kinds, the highest stage first. Keeps objects that another node wants.
    ///
    /// # Errors
    /// A yield while objects of a stage are being deleted: lower stages wait until they are gone.
    async fn prune_stages(
        &self,
        node: &Arc<str>,
        kinds: &[Kind],
        wanted: &HashSet<(Kind, ObjectKey)>,
        stage: &(dyn Fn(&Kind) -> usize + Sync),
    ) -> Result<()> {
        let mut kinds = kinds.to_vec();
        kinds.sort_by_key(|kind| std::cmp::Reverse(stage(kind)));
        for stage_kinds in kinds.chunk_by(|one, next| stage(one) == stage(next)) {
            let mut pending = PendingObjects::new(node);
            for kind in stage_kinds {
                let children = self.shared.children(kind)?;
                // The API server does not serve the kind, so there are no objects.
                if children.health.state() == WatchState::Missing {
                    continue;
                }
                children.check_readable()?;
                let mut unwanted = self.children_of_node(children, node);
                unwanted.retain(|entry| !wanted.contains(&(kind.clone(), entry.header.key.clone())));
                self.delete_unwanted(kind, node, unwanted, None).await?;
                self.check_deletions(children, kind, node, &mut pending).await?;
            }
            pending.into_result()?;
        }
        Ok(())
    }
}

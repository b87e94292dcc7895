//! Records which tree node wants (claims) which object in a pass, so that no node deletes an object that another node wants.
//!
//! # Rule
//! No pass deletes an object that any node of the tree claims in that pass. Such an object moves instead: the claiming node
//! applies it, and the apply writes the path of that node into the object's annotations. The object keeps its uid, and content
//! that was generated once stays.
//!
//! # Flow
//! 1. A node claims all objects it builds before it applies the first of them.
//! 2. A node finds a child with its own path in the annotations that it does not want any more. If no other node of the tree
//!    applies objects of this kind, the node deletes the child at once.
//! 3. Otherwise the tree is planned: its build functions run, without hand-written nodes and without a call to the API server,
//!    and the objects they build count as claimed until their node has run. Children that nobody claims are deleted at once, and
//!    later nodes wait until they are gone. A child that only the plan claims stays until all nodes have run: its node may build
//!    other objects by then.
//! 4. A plan is not enough if a node that may want the child reads the outputs of other nodes or a lister, which may change in this
//!    pass, or if a build function fails. Then the deletion is deferred until all nodes have run, and a plan that knows their
//!    outputs decides. Later nodes do not wait for it, but the pass does not succeed before the child is gone.
//! 5. If the claims of one of these nodes are still unknown, for example because a node whose output it reads has yielded, the
//!    child stays until a pass in which they are known.
//!
//! The plan does not know which node reads a lister, so one function of the tree that does so defers the deletions until the nodes
//! that may want the child have run. Other state that changes by itself, such as a lock in the options, is not known at all.
//!
//! # Guarantees
//! No claim is stored. If the process stops between the claim and the apply, or between the apply and a deletion, the next
//! process finds the annotations in the cluster and decides again.

use crate::{
    cache::{Entry, ObjectKey},
    engine::{
        child::Child,
        desired::Desired,
        pass::{PassCore, Planner},
        pending::PendingObjects,
        plan::Plan,
    },
    error::{Error, Result},
    informer::lister_reads::track_lister_reads,
    kind::Kind,
    shape::{Edge, Shape},
};
use serde_json::Value;
use std::sync::Arc;

/// A node in the shape of the tree that applies objects of a given kind.
#[derive(Debug, PartialEq, Eq)]
struct Applier {
    /// Its path without keys.
    path: String,
    /// Whether it is below an `each`, so that one such node exists for each item.
    is_keyed: bool,
    /// Whether its build function depends on the outputs of other nodes.
    reads_outputs: bool,
}

impl PassCore<'_> {
    /// Claims an object for a tree node: records that the node wants it, so that no other node deletes it in this pass.
    ///
    /// # Errors
    /// A terminal error if another node has claimed the object: the two nodes would overwrite each other's object in every pass.
    pub(crate) fn claim(&self, kind: &Kind, key: &ObjectKey, node: &Arc<str>) -> Result<()> {
        match self.claims.lock().nodes.insert((kind.clone(), key.clone()), node.clone()) {
            Some(other) => {
                let message = format!("{kind} {key} is built twice: by node {other} and by node {node}");
                Err(Error::terminal("InvalidChild", message))
            }
            None => Ok(()),
        }
    }

    /// Records that a node has claimed all objects it wants.
    pub(crate) fn mark_claims_complete(&self, node: &Arc<str>) {
        self.claims.lock().complete.insert(node.clone());
    }

    /// Claims all objects that a tree node has built: records that the node wants them, so that no other node deletes them in this pass.
    /// Returns the objects completed for the apply, with owner, label, annotations and digest.
    ///
    /// # Errors
    /// A terminal error if an object is invalid, or if another node has claimed it.
    pub(crate) fn claim_all(&self, node: &Arc<str>, wanted: Vec<(Kind, Value)>) -> Result<Vec<Desired>> {
        let mut claimed = Vec::with_capacity(wanted.len());
        for (kind, object) in wanted {
            let desired = Desired::new(object, &kind, node, &self.owner_of(&kind), &self.shared.operator)?;
            self.claim(&kind, &desired.key(), node)?;
            claimed.push(desired);
        }
        self.mark_claims_complete(node);
        Ok(claimed)
    }

    /// Returns whether a node has completed its claims in this pass and this object is not among them.
    pub(crate) fn is_no_longer_claimed(&self, kind: &Kind, key: &ObjectKey, node: &str) -> bool {
        let claims = self.claims.lock();
        claims.complete.contains(node) && claims.of(kind, key).is_none_or(|claimant| **claimant != *node)
    }

    /// Returns those of a node's unwanted children that can be deleted now, since no other node of the tree wants them. Leaves out a child
    /// that another node has claimed in this pass. Defers the deletion to [`PassCore::delete_deferred`] if another node claims the child
    /// only in the plan (a dry run of all build functions), or if the claims of a node that applies the kind are not certain yet.
    pub(crate) async fn select_unclaimed(
        &self,
        kind: &Kind,
        node: &Arc<str>,
        unwanted: Vec<Arc<Entry<Child>>>,
    ) -> Vec<Arc<Entry<Child>>> {
        // A teardown has no planner: no node wants an object.
        let Some(planner) = self.planner.filter(|_| !unwanted.is_empty()) else { return unwanted };
        let appliers = self.appliers(planner, kind);
        // A single node of the tree applies this kind, so no other node can want the objects.
        if matches!(&appliers[..], [only] if !only.is_keyed) {
            return unwanted;
        }
        let plan = self.current_plan(planner).await;
        let is_decidable = appliers
            .iter()
            .all(|applier| !self.may_claim_later(applier, &plan) && self.are_claims_known(applier, &plan));
        let mut unclaimed = Vec::new();
        for entry in unwanted {
            let key = &entry.header.key;
            if let Some(claimant) = self.claimant(kind, key, None) {
                tracing::debug!(%kind, object = %key, from = %node, to = %claimant, "the object moves to another node");
                continue;
            }
            // The node itself may claim the object in the plan, for which its inputs were other ones.
            let planned = self.claimant(kind, key, Some(&plan)).filter(|claimant| claimant != node);
            if is_decidable && planned.is_none() {
                unclaimed.push(entry);
            } else {
                self.defer_deletions(kind, node);
            }
        }
        unclaimed
    }

    /// Deletes the unwanted children whose deletion nodes have deferred to the end of the pass, one node after the other. A child stays if
    /// a node wants it (claims it), or while the claims of a node that applies its kind are unknown. The control loop calls this after all
    /// nodes have run, with the outcome of the tree.
    ///
    /// # Errors
    /// A yield until the objects of a node are gone, or the error of a deletion. Later nodes are not reached then: they defer their
    /// deletions again in the next pass.
    pub(crate) async fn delete_deferred(&self, outcome: &Result<()>) -> Result<()> {
        let deferred = std::mem::take(&mut *self.deferred_deletions.lock());
        if deferred.is_empty() {
            return Ok(());
        }
        // Without a planner, `select_unclaimed` defers nothing.
        let Some(planner) = self.planner else { return Ok(()) };
        // If the tree succeeded, all nodes have claimed the objects they want. Else a dry run finds the claims of the nodes that did not
        // run.
        let plan = match outcome {
            Ok(()) => None,
            Err(_) => Some(planner.plan(self.for_plan()).await),
        };
        for (kind, node) in deferred {
            let are_claims_known = match &plan {
                None => true,
                Some(plan) => {
                    let appliers = self.appliers(planner, &kind);
                    appliers.iter().all(|applier| self.are_claims_known(applier, plan))
                }
            };
            if !are_claims_known {
                tracing::debug!(%kind, %node, "objects are kept until all nodes that may need them can be evaluated");
                continue;
            }
            self.delete_unclaimed(planner, &kind, &node, plan.as_ref()).await?;
        }
        Ok(())
    }

    /// Deletes the objects of a node that no node claims (wants), neither in this pass nor in the plan.
    ///
    /// # Errors
    /// A yield until the objects are gone, or the error of a deletion.
    async fn delete_unclaimed(
        &self,
        planner: &dyn Planner,
        kind: &Kind,
        node: &Arc<str>,
        plan: Option<&Plan>,
    ) -> Result<()> {
        let (children, mut pending) = (self.shared.children(kind)?, PendingObjects::new(node));
        // The shape of a planner may be a subtree; its options are found by the path below its root.
        let root = planner.path();
        let path = node.strip_prefix(root.as_str()).map_or(&**node, |path| path.trim_start_matches('/'));
        let options = planner.shape().resource_options(path);
        for entry in self.children_of_node(children, node) {
            if self.claimant(kind, &entry.header.key, plan).is_none() {
                self.delete_child(kind, &entry, options.delete).await?;
            }
        }
        self.check_deletions(children, kind, node, &mut pending).await?;
        pending.into_result()
    }

    /// Returns the nodes of a planner's tree that apply objects of a kind in this cluster.
    fn appliers(&self, planner: &dyn Planner, kind: &Kind) -> Vec<Applier> {
        let cluster = if self.owner.is_remote() { TreeCluster::Remote } else { TreeCluster::OfOperator };
        appliers(planner.shape(), &planner.path(), kind, cluster)
    }

    /// Records that a node has unwanted objects of a kind. The end of the pass decides whether they are deleted.
    fn defer_deletions(&self, kind: &Kind, node: &Arc<str>) {
        let mut deferred = self.deferred_deletions.lock();
        if !deferred.iter().any(|(other_kind, other_node)| other_kind == kind && other_node == node) {
            deferred.push((kind.clone(), node.clone()));
        }
    }

    /// Returns the node that claims (wants) an object in this pass or, if it has not run yet, in the plan; `None` if no node does.
    fn claimant(&self, kind: &Kind, key: &ObjectKey, plan: Option<&Plan>) -> Option<Arc<str>> {
        let claims = self.claims.lock();
        let planned = || plan?.claims.of(kind, key).filter(|node| !claims.complete.contains(&***node));
        claims.of(kind, key).or_else(planned).cloned()
    }

    /// Returns whether a node has claimed an object in this pass.
    pub(crate) fn is_claimed(&self, kind: &Kind, key: &ObjectKey) -> bool {
        self.claims.lock().of(kind, key).is_some()
    }

    /// Returns the plan of this pass: the objects that all nodes want, by a dry run of their build functions. The first call computes it.
    async fn current_plan(&self, planner: &dyn Planner) -> Arc<Plan> {
        let cached = self.plan.lock().clone();
        if let Some(plan) = cached {
            return plan;
        }
        let (plan, reads_listers) = track_lister_reads(planner.plan(self.for_plan())).await;
        let plan = Arc::new(Plan { reads_listers, ..plan });
        *self.plan.lock() = Some(plan.clone());
        plan
    }

    /// Returns whether a node may still claim other objects in this pass than the plan says: it has not run yet, and an output or a lister
    /// that it reads may change until then.
    fn may_claim_later(&self, applier: &Applier, plan: &Plan) -> bool {
        (applier.reads_outputs || plan.reads_listers) && !self.has_complete_claims(applier)
    }

    /// Returns whether the objects that a node wants are known: it has run, or its build function has succeeded in the plan.
    fn are_claims_known(&self, applier: &Applier, plan: &Plan) -> bool {
        let is_planned = !applier.is_keyed && plan.claims.complete.contains(applier.path.as_str());
        plan.complete || is_planned || self.has_complete_claims(applier)
    }

    /// Returns whether a node has run and claimed all objects it wants. Returns `false` for a node below `each`, which stands for any
    /// number of nodes, one per item.
    fn has_complete_claims(&self, applier: &Applier) -> bool {
        !applier.is_keyed && self.claims.lock().complete.contains(applier.path.as_str())
    }
}

/// The cluster of the nodes of a tree, as seen from the part of a pass that searches them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TreeCluster {
    /// The operator's cluster, in which all nodes are except those below a remote node.
    OfOperator,
    /// The operator's cluster, and the nodes are below a remote node: only their registered applications are in this cluster.
    BelowRemote,
    /// The cluster of a remote node, in which all nodes are except registered applications and those below a nested remote node.
    Remote,
}

/// Returns the nodes of a tree that apply objects of a kind, in any version, in the cluster of its root. `path` is that of the root.
fn appliers(shape: &'static Shape, path: &str, kind: &Kind, cluster: TreeCluster) -> Vec<Applier> {
    let mut found = Vec::new();
    let root = Applier { path: path.to_owned(), is_keyed: false, reads_outputs: false };
    add_appliers((shape, cluster), kind, &root, &mut found);
    found
}

/// Adds the nodes below `parent` that apply objects of a kind in the searched cluster to `found`. `cluster` tells in which cluster the
/// nodes of `shape` are: a remote node, and a registered application below it, change the cluster.
fn add_appliers(
    (shape, cluster): (&'static Shape, TreeCluster),
    kind: &Kind,
    parent: &Applier,
    found: &mut Vec<Applier>,
) {
    for Edge { name, shape, each, reads, remote, registration, .. } in shape.children {
        let applier = Applier {
            path: if parent.path.is_empty() { (*name).to_owned() } else { format!("{}/{name}", parent.path) },
            is_keyed: parent.is_keyed || !each.is_empty(),
            reads_outputs: parent.reads_outputs || !reads.is_empty(),
        };
        let below = match cluster {
            TreeCluster::Remote if *remote => continue,
            _ if *remote => TreeCluster::BelowRemote,
            _ => cluster,
        };
        add_appliers((shape, below), kind, &applier, found);
        let is_here = match below {
            TreeCluster::OfOperator => true,
            TreeCluster::BelowRemote => registration.is_some(),
            TreeCluster::Remote => registration.is_none(),
        };
        if is_here && shape.applied_kinds().contains(kind) {
            found.push(applier);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kind::kind_of,
        shape::{Access, Node, SourceLocation},
    };
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use std::borrow::Cow;

    const CONFIG: Shape =
        Shape { node: Node::Resource, access: &[Access::applied(kind_of::<ConfigMap>)], children: &[] };
    const SECRET: Shape = Shape { node: Node::Resource, access: &[Access::applied(kind_of::<Secret>)], children: &[] };
    /// A hand-written node may read ConfigMaps; it applies none.
    const CUSTOM: Shape = Shape { node: Node::Custom, access: CONFIG.access, children: &[] };
    const POOL: Shape = Shape {
        node: Node::SERIAL,
        access: &[],
        children: &[
            Edge::plain("settings", &CONFIG, SourceLocation::UNKNOWN),
            Edge::plain("key", &SECRET, SourceLocation::UNKNOWN),
        ],
    };
    const TREE: Shape = Shape {
        node: Node::SERIAL,
        access: &[],
        children: &[
            Edge::plain("config", &CONFIG, SourceLocation::UNKNOWN),
            Edge::plain("hand", &CUSTOM, SourceLocation::UNKNOWN),
            Edge { each: "pools", ..Edge::plain("pools", &POOL, SourceLocation::UNKNOWN) },
            Edge { reads: &["config"], ..Edge::plain("late", &POOL, SourceLocation::UNKNOWN) },
        ],
    };

    #[test]
    fn the_nodes_that_may_want_an_object_are_those_that_apply_its_kind() {
        let applier = |path: &str, is_keyed, reads_outputs| Applier { path: path.to_owned(), is_keyed, reads_outputs };
        let version = Kind { version: Cow::Borrowed("v9"), ..kind_of::<ConfigMap>() };
        let expected = [
            applier("config", false, false),
            applier("pools/settings", true, false),
            applier("late/settings", false, true),
        ];
        assert_eq!(appliers(&TREE, "", &version, TreeCluster::OfOperator), expected);
        assert_eq!(appliers(&TREE, "", &kind_of::<Secret>(), TreeCluster::OfOperator).len(), 2);
    }
}

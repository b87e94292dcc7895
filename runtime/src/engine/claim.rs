//! Claims: which objects the nodes of a tree want in one pass, so that no node deletes what another one wants.
//!
//! # Rule
//! No pass deletes an object that any node of the tree claims in that pass. The object moves instead: the node that claims it
//! applies it, and the apply writes the path of that node into the object's marks. It keeps its uid, and what was generated
//! once keeps its content.
//!
//! # Flow
//! 1. A node claims all objects it builds before it applies the first of them.
//! 2. A node that finds an object with its mark that it does not want any more asks who else may want it: every node of the
//!    tree that applies objects of this kind. If there is no other, the object is deleted at once.
//! 3. Otherwise the tree is planned: its build functions run, without hand-written nodes and without a call to the API server,
//!    and what they build counts as claimed. What nobody claims is deleted at once, and the nodes behind wait until it is gone.
//! 4. The plan is not enough where a node that may want the object reads the outputs of others, since these may change in
//!    this pass, or where a build function fails. Then the deletion is decided after all nodes have run, by a plan that knows
//!    their outputs. The nodes behind have not waited for it; the pass does not succeed before the object is gone.
//! 5. If one of these nodes still can't be asked, for example since the node whose output it reads has yielded, the object
//!    stays until a pass in which it can.
//!
//! # Guarantees
//! Nothing of this is remembered: a process that stops between the claim and the apply, or between the apply and a deletion, is
//! followed by one that finds the marks in the cluster and decides anew.

use crate::{
    cache::{Entry, ObjectKey},
    engine::{
        child::Child,
        claimed::{Plan, unversioned},
        desired::Desired,
        pass::{Core, Planner},
        waits::Waits,
    },
    error::{Error, Result},
    kind::Kind,
    shape::{Edge, Shape},
};
use serde_json::Value;
use std::sync::Arc;

/// A node of the tree's shape that applies objects of one kind.
#[derive(Debug, PartialEq, Eq)]
struct Applier {
    /// Its path, without keys.
    path: String,
    /// Whether there may be several of it, one for each item.
    keyed: bool,
    /// Whether what it builds depends on the outputs of other nodes.
    reads: bool,
}

impl Core<'_> {
    /// Claims an object for a node. Two nodes that build one object would take it from each other in every pass.
    pub(crate) fn claim(&self, kind: &Kind, key: &ObjectKey, node: &Arc<str>) -> Result<()> {
        match self.claims.lock().nodes.insert((unversioned(kind), key.clone()), node.clone()) {
            Some(other) => {
                let message = format!("{kind} {key} is built twice: by node {other} and by node {node}");
                Err(Error::terminal("InvalidChild", message))
            }
            None => Ok(()),
        }
    }

    /// Notes that a node has claimed all objects it wants.
    pub(crate) fn claimed_all(&self, node: &Arc<str>) {
        self.claims.lock().complete.insert(node.clone());
    }

    /// What a node wants, claimed before any of it is applied.
    pub(crate) fn claim_all(&self, node: &Arc<str>, wanted: Vec<(Kind, Value)>) -> Result<Vec<(Kind, Desired)>> {
        let mut claimed = Vec::with_capacity(wanted.len());
        for (kind, object) in wanted {
            let desired = Desired::new(object, &kind, node, &self.owner, &self.shared.operator)?;
            self.claim(&kind, &desired.key(), node)?;
            claimed.push((kind, desired));
        }
        self.claimed_all(node);
        Ok(claimed)
    }

    /// Whether an object with the mark of this node is not, or no longer, an object of it: the node has said what it wants.
    pub(crate) fn is_given_up(&self, kind: &Kind, key: &ObjectKey, node: &str) -> bool {
        let claims = self.claims.lock();
        claims.complete.contains(node) && claims.of(kind, key).is_none_or(|by| **by != *node)
    }

    /// Of the objects that a node doesn't want any more, those that can be deleted now: no other node wants them. What can't be
    /// decided yet is left to [`Core::delete_deferred`].
    pub(crate) async fn unclaimed(
        &self,
        kind: &Kind,
        node: &Arc<str>,
        unwanted: Vec<Arc<Entry<Child>>>,
    ) -> Vec<Arc<Entry<Child>>> {
        // On the way down nobody wants anything.
        let Some(planner) = self.planner.filter(|_| !unwanted.is_empty()) else { return unwanted };
        let appliers = appliers(planner.shape(), kind);
        if matches!(&appliers[..], [only] if !only.keyed) {
            return unwanted;
        }
        let plan = self.planned(planner).await;
        let known = appliers.iter().all(|applier| !self.may_change(applier) && self.is_known(applier, &plan));
        let mut unclaimed = Vec::new();
        for entry in unwanted {
            let key = &entry.header.key;
            if let Some(by) = self.claimed_by(kind, key, Some(&plan)) {
                tracing::debug!(%kind, object = %key, from = %node, to = %by, "the object moves to another node");
            } else if known {
                unclaimed.push(entry);
            } else {
                self.defer(kind, node);
            }
        }
        unclaimed
    }

    /// Deletes what nodes gave up while it was not known whether another node wants it, and waits until it is gone. To be
    /// called when all nodes have run.
    pub(crate) async fn delete_deferred(&self, outcome: &Result<()>) -> Result<()> {
        let deferred = std::mem::take(&mut *self.deferred.lock());
        let Some(planner) = self.planner.filter(|_| !deferred.is_empty()) else { return Ok(()) };
        // All nodes that succeeded have claimed what they want.
        let plan = match outcome {
            Ok(()) => None,
            Err(_) => Some(planner.plan(self.for_plan()).await),
        };
        for (kind, node) in deferred {
            let is_known = |plan: &Plan| {
                let appliers = appliers(planner.shape(), &kind);
                appliers.iter().all(|applier| self.is_known(applier, plan))
            };
            if !plan.as_ref().is_none_or(is_known) {
                tracing::debug!(%kind, %node, "objects stay until all nodes that may want them can be asked");
                continue;
            }
            let (children, mut waits) = (self.shared.children(&kind)?, Waits::new(&node));
            for entry in self.of_node(children, &node) {
                if self.claimed_by(&kind, &entry.header.key, plan.as_ref()).is_none() {
                    self.delete_child(&kind, &entry).await?;
                }
            }
            self.still_there(children, &kind, &node, &mut waits).await?;
            waits.over()?;
        }
        Ok(())
    }

    fn defer(&self, kind: &Kind, node: &Arc<str>) {
        let mut deferred = self.deferred.lock();
        if !deferred.iter().any(|(held, by)| held == kind && by == node) {
            deferred.push((kind.clone(), node.clone()));
        }
    }

    fn claimed_by(&self, kind: &Kind, key: &ObjectKey, plan: Option<&Plan>) -> Option<Arc<str>> {
        let claims = self.claims.lock();
        claims.of(kind, key).or_else(|| plan.and_then(|plan| plan.claims.of(kind, key))).cloned()
    }

    /// The plan of this pass, made when it is first needed.
    async fn planned(&self, planner: &dyn Planner) -> Arc<Plan> {
        let held = self.plan.lock().clone();
        if let Some(plan) = held {
            return plan;
        }
        let plan = Arc::new(planner.plan(self.for_plan()).await);
        *self.plan.lock() = Some(plan.clone());
        plan
    }

    /// Whether a node may still come to want something else in this pass than it would now.
    fn may_change(&self, applier: &Applier) -> bool {
        applier.reads && !self.has_claimed(applier)
    }

    /// Whether it is known what a node wants: it has run, or its build function has answered.
    fn is_known(&self, applier: &Applier, plan: &Plan) -> bool {
        let is_planned = !applier.keyed && plan.claims.complete.contains(applier.path.as_str());
        plan.complete || is_planned || self.has_claimed(applier)
    }

    fn has_claimed(&self, applier: &Applier) -> bool {
        !applier.keyed && self.claims.lock().complete.contains(applier.path.as_str())
    }
}

/// The nodes of a tree that apply objects of a kind, in whatever version.
fn appliers(shape: &'static Shape, kind: &Kind) -> Vec<Applier> {
    let (mut found, kind) = (Vec::new(), unversioned(kind));
    add_appliers(shape, &kind, &Applier { path: String::new(), keyed: false, reads: false }, &mut found);
    found
}

fn add_appliers(shape: &'static Shape, kind: &Kind, at: &Applier, found: &mut Vec<Applier>) {
    for Edge { name, shape, each, reads, .. } in shape.children {
        let applier = Applier {
            path: if at.path.is_empty() { (*name).to_owned() } else { format!("{}/{name}", at.path) },
            keyed: at.keyed || !each.is_empty(),
            reads: at.reads || !reads.is_empty(),
        };
        add_appliers(shape, kind, &applier, found);
        if shape.applied().iter().any(|applied| unversioned(applied) == *kind) {
            found.push(applier);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kind::kind_of,
        shape::{Access, Node, Place},
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
        children: &[Edge::plain("settings", &CONFIG, Place::UNKNOWN), Edge::plain("key", &SECRET, Place::UNKNOWN)],
    };
    const TREE: Shape = Shape {
        node: Node::SERIAL,
        access: &[],
        children: &[
            Edge::plain("config", &CONFIG, Place::UNKNOWN),
            Edge::plain("hand", &CUSTOM, Place::UNKNOWN),
            Edge { each: "pools", ..Edge::plain("pools", &POOL, Place::UNKNOWN) },
            Edge { reads: &["config"], ..Edge::plain("late", &POOL, Place::UNKNOWN) },
        ],
    };

    #[test]
    fn the_nodes_that_may_want_an_object_are_those_that_apply_its_kind() {
        let applier = |path: &str, keyed, reads| Applier { path: path.to_owned(), keyed, reads };
        let version = Kind { version: Cow::Borrowed("v9"), ..kind_of::<ConfigMap>() };
        let expected = [
            applier("config", false, false),
            applier("pools/settings", true, false),
            applier("late/settings", false, true),
        ];
        assert_eq!(appliers(&TREE, &version), expected);
        assert_eq!(appliers(&TREE, &kind_of::<Secret>()).len(), 2);
    }
}

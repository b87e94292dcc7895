//! Skips the build function of a resource node whose inputs and child objects are unchanged since its last build.
//!
//! A build function is the user's function that returns the wanted objects of a tree node. The child objects may be not ready: such a node
//! yields without a build.

use crate::{
    cache::Entry,
    engine::{
        child::{Child, ChildrenByNode},
        output::OutputObject,
        owner_state::BuiltObject,
        pass::PassCore,
        pending::PendingObjects,
    },
    error::Result,
    informer::watch::{WatchState, WatchedKind},
    kind::Kind,
    readiness::Readiness,
    shape::{ResourceOptions, Shape, is_below, key_below, without_keys},
};
use std::{collections::BTreeSet, sync::Arc};

impl PassCore<'_> {
    /// Returns the outcome of a resource node without running its build function, if its inputs and children are those of its last build;
    /// `None` if the build function has to run. Also claims the objects of that build: records that the node wants them, so that no other
    /// node deletes them. `inputs` is the hash of the current inputs; without it, no build can be reused.
    pub(crate) fn outcome_if_unchanged(
        &self,
        node: &Arc<str>,
        kind: &Kind,
        options: ResourceOptions,
        inputs: Option<u64>,
    ) -> Option<Result<()>> {
        // A test of the tree has no caches, and a plan has to run the build functions.
        if self.shared.tree_harness.is_some() || self.is_plan {
            return None;
        }
        let built = self.owner_states().last_build(&self.owner, kind, node, inputs?)?;
        if !self.owner_states().pending_deletions(&self.owner, kind, node).is_empty() {
            return None;
        }
        let children = self.shared.children.get(kind)?;
        children.check_readable().ok()?;
        let mut pending = PendingObjects::new(node);
        for BuiltObject { key, digest } in built.iter() {
            let entry = children.store.get(key)?;
            if !self.is_child_unchanged(kind, &entry, digest, options) {
                return None;
            }
            // The Pods of a workload that is not ready are listed in each pass, see `diagnose_pods`.
            if options.pods && entry.value.readiness != Readiness::Ready {
                return None;
            }
            pending.add(kind, key, &entry.value.readiness);
        }
        // The node has children that it did not build last time, and that it may have to delete.
        if self.count_children_of_node(children, node) != built.len() {
            return None;
        }
        let claimed = built.iter().try_for_each(|object| self.claim(kind, &object.key, node));
        self.mark_claims_complete(node);
        // The timeouts are checked only now that the build function is certainly skipped: a run of it could make the objects ready.
        for object in built.iter().filter(|_| options.timeout.is_some()) {
            if let Some(entry) = children.store.get(&object.key) {
                self.check_timeout(node, options, children, object, &entry.value.readiness);
            }
        }
        self.shared.metrics.unchanged_children.add(u64::try_from(built.len()).unwrap_or(u64::MAX));
        Some(claimed.and_then(|()| pending.into_result()))
    }

    /// Returns whether a child is as the node last applied it: it is not being deleted, it has the same owner and digest, and the operator
    /// still owns all applied fields. Some servers change the owners of fields during an apply, so the fields that the operator owned
    /// after its own last apply are enough. A child that is created only once (`once`) needs only the same owner.
    fn is_child_unchanged(&self, kind: &Kind, entry: &Entry<Child>, digest: &str, options: ResourceOptions) -> bool {
        if entry.header.deleting || !self.is_owner_of(&entry.header) {
            return false;
        }
        options.once
            || entry.applied_digest() == digest
                && (entry.value.owns_all_fields()
                    || self.owner_states().are_fields_of_last_apply(
                        &self.owner,
                        kind,
                        &entry.header,
                        entry.value.fields,
                    ))
    }

    /// Returns the cached children of one kind with the path of this node in their annotations.
    pub(crate) fn children_of_node(&self, children: &WatchedKind<Child>, node: &str) -> Vec<Arc<Entry<Child>>> {
        self.with_children_of_node(children, node, <[_]>::to_vec)
    }

    /// Returns the cached children of one kind that nodes below this one have applied.
    pub(crate) fn children_below(&self, children: &WatchedKind<Child>, node: &str) -> Vec<Arc<Entry<Child>>> {
        let mut found = Vec::new();
        self.visit_children(children, |entry| {
            if is_below(entry.node(), node) {
                found.push(entry.clone());
            }
        });
        found
    }

    /// Counts the cached children of a node.
    fn count_children_of_node(&self, children: &WatchedKind<Child>, node: &str) -> usize {
        self.with_children_of_node(children, node, <[_]>::len)
    }

    /// Calls `read` with the cached children of a node. The first call in a pass for a kind groups the children of that kind by node; later
    /// calls reuse these groups.
    fn with_children_of_node<T>(
        &self,
        children: &WatchedKind<Child>,
        node: &str,
        read: impl FnOnce(&[Arc<Entry<Child>>]) -> T,
    ) -> T {
        let mut children_by_node = self.children_by_node();
        let nodes = children_by_node.entry(children.kind.clone()).or_insert_with(|| {
            let mut nodes = ChildrenByNode::new();
            self.visit_children(children, |entry| match nodes.get_mut(entry.node()) {
                Some(entries) => entries.push(entry.clone()),
                None => drop(nodes.insert(entry.node().into(), vec![entry.clone()])),
            });
            nodes
        });
        read(nodes.get(node).map_or(&[], Vec::as_slice))
    }

    /// Visits the cached children of the owner, except orphans that stay when the owner is torn down (see [`PassCore::takes_part`]).
    fn visit_children(&self, children: &WatchedKind<Child>, mut visit: impl FnMut(&Arc<Entry<Child>>)) {
        children.store.visit_owned(&self.owner.uid, |entry| {
            if self.takes_part(entry) {
                visit(entry);
            }
        });
    }

    /// Returns the keys of the items of an `each` node (a node that exists once per item of a list) for which objects exist or are being
    /// deleted. `shape` is the subtree of one item.
    pub(crate) fn existing_keys(&self, node: &str, shape: &'static Shape) -> Result<BTreeSet<String>> {
        let mut keys = BTreeSet::new();
        if let Some(tree_harness) = &self.shared.tree_harness {
            return Ok(tree_harness.existing_keys(node));
        }
        let mut outcome = Ok(());
        shape.walk(&mut |visit| {
            // The objects of an application are in the operator's cluster, also below a node in another cluster, which is registered with
            // the CD system.
            let is_registered = visit.edge.is_some_and(|edge| edge.registration.is_some());
            let core = if is_registered { self.in_operator_cluster() } else { self };
            for kind in visit.local_kinds() {
                outcome = std::mem::replace(&mut outcome, Ok(())).and_then(|()| core.add_keys(&kind, node, &mut keys));
            }
        });
        outcome.map(|()| keys)
    }

    /// Adds the keys of the items of an `each` node for which objects of one kind exist, or are not confirmed to be deleted.
    fn add_keys(&self, kind: &Kind, node: &str, keys: &mut BTreeSet<String>) -> Result<()> {
        let children = self.shared.children(kind)?;
        // The API server does not serve the kind, so there are no objects.
        if children.health.state() == WatchState::Missing {
            return Ok(());
        }
        children.check_readable()?;
        self.visit_children(children, |entry| keys.extend(key_below(node, entry.node())));
        // A deleted object may leave the cache before its deletion is confirmed.
        let deleting = self.owner_states().nodes_with_pending_deletions(&self.owner, kind);
        keys.extend(deleting.iter().filter_map(|path| key_below(node, path)));
        Ok(())
    }

    /// Returns the paths of the nodes at `shape_path` that have children of `kind` or pending deletions of them. `shape_path` is a path
    /// without item keys, such as `pools/service`. The nodes of items have paths with keys, such as `pools[blue]/service`. `shape_path`
    /// itself, the path of a node that is no item, is always among the results. Returns no paths if the API server does not serve the kind.
    pub(crate) fn node_paths(&self, kind: &Kind, shape_path: &str) -> Result<Vec<Arc<str>>> {
        let children = self.shared.children(kind)?;
        if children.health.state() == WatchState::Missing {
            return Ok(Vec::new());
        }
        children.check_readable()?;
        let mut paths = BTreeSet::from([shape_path.to_owned()]);
        self.visit_children(children, |entry| {
            if without_keys(entry.node()) == shape_path {
                paths.insert(entry.node().to_owned());
            }
        });
        let deleting = self.owner_states().nodes_with_pending_deletions(&self.owner, kind);
        paths.extend(deleting.into_iter().filter(|path| without_keys(path) == shape_path));
        Ok(paths.into_iter().map(Arc::from).collect())
    }

    /// Returns the objects of a node for the nodes that read its outputs, with their content, sorted by key. An object that this pass has
    /// applied is returned as in the response of the API server, any other object as in the cache. Leaves out objects that are being
    /// deleted, and objects that the node does not want (claim) any more.
    pub(crate) fn output_objects(&self, node: &str, kind: &Kind) -> Result<Vec<OutputObject>> {
        if let Some(tree_harness) = &self.shared.tree_harness {
            return Ok(tree_harness.output_objects(node));
        }
        let children = self.shared.children(kind)?;
        if children.health.state() == WatchState::Missing {
            return Ok(Vec::new());
        }
        children.check_readable()?;
        let mut objects = self.outputs.objects(node);
        let applied_in_pass = objects.len();
        let deletions = self.owner_states().pending_deletions(&self.owner, kind, node);
        for entry in self.children_of_node(children, node) {
            let header = &entry.header;
            let uid = header.uid.to_string();
            let is_deleting = header.deleting || deletions.iter().any(|deletion| deletion.uid == header.uid);
            if is_deleting
                || self.is_no_longer_claimed(kind, &header.key, node)
                || objects[..applied_in_pass].iter().any(|applied| applied.uid == uid)
            {
                continue;
            }
            if let Some(json) = entry.value.object.clone() {
                let version = header.resource_version.to_string();
                objects.push(OutputObject { key: header.key.clone(), uid, version, json });
            }
        }
        objects.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(objects)
    }
}

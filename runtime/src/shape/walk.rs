//! Visits all nodes of a tree, each with its path and the cluster of its objects.

use super::{
    node::{Edge, Shape},
    permission::Access,
};
use crate::kind::{Kind, kind_of};
use k8s_openapi::api::core::v1::ConfigMap;
use opgen_api::bucket::KindInBucket;

/// A node that a walk visits through a tree.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NodeVisit<'a> {
    /// The path of the node from the root (`workload/service`); empty for the root.
    pub path: &'a str,
    /// The depth of the node in the tree; 0 for the root.
    pub depth: usize,
    /// The edge to the node; `None` for the root.
    pub edge: Option<&'static Edge>,
    /// The shape of the node.
    pub shape: &'static Shape,
    /// The path of the innermost remote node at or above this one, in whose cluster the objects of the node are; empty for the
    /// cluster of the root. The objects of an application with a registration are in the cluster of the root.
    pub cluster: &'a str,
    /// The same for the group of the node. The permissions of the edge are for that cluster.
    pub group_cluster: &'a str,
}

impl NodeVisit<'_> {
    /// Returns the permissions of the node, and those that the edge to it adds.
    pub fn access(&self) -> impl Iterator<Item = &'static Access> + use<> {
        self.shape.access.iter().chain(self.edge.map_or(&[] as &[Access], |edge| edge.access))
    }

    /// Returns whether the node is an application below a remote node, with its objects in the operator's cluster.
    pub(crate) fn is_registered_application(&self) -> bool {
        !self.group_cluster.is_empty() && self.edge.is_some_and(|edge| edge.registration.is_some())
    }

    /// Returns the kinds of the objects that the node applies and owns in the cluster of the root.
    ///
    /// For a remote node (`edge.remote`), whose objects are in another cluster, this is the kind of the ConfigMap that records this
    /// cluster. A node below a remote node has none, except an application with a registration, which the CD system in the operator's
    /// cluster deploys.
    pub(crate) fn local_kinds(&self) -> Vec<Kind> {
        let is_remote = self.edge.is_some_and(|edge| edge.remote);
        let record = (is_remote && self.group_cluster.is_empty()).then(kind_of::<ConfigMap>);
        let applied = if self.cluster.is_empty() { self.shape.applied_kinds() } else { Vec::new() };
        record.into_iter().chain(applied).collect()
    }

    /// Does the same as [`NodeVisit::local_kinds`] for a tree whose root is in another cluster than the operator. Applications with a
    /// registration have no objects there: these are in the operator's cluster.
    pub(crate) fn remote_kinds(&self) -> Vec<Kind> {
        if self.edge.is_some_and(|edge| edge.registration.is_some()) { Vec::new() } else { self.local_kinds() }
    }
}

impl Shape {
    /// Calls `visit` for this node and all nodes below it, parents first.
    pub fn walk(&'static self, visit: &mut dyn FnMut(NodeVisit<'_>)) {
        visit(NodeVisit { path: "", depth: 0, edge: None, shape: self, cluster: "", group_cluster: "" });
        self.walk_below(("", ""), 1, visit);
    }

    /// Returns the kinds in buckets (instead of Kubernetes) that nodes of the tree apply or access in the cluster of the root.
    pub(crate) fn kinds_in_buckets(&'static self) -> Vec<KindInBucket> {
        let mut kinds = Vec::new();
        self.walk(&mut |visit| {
            if visit.cluster.is_empty() {
                let applied = visit.edge.and_then(|edge| (edge.bucket)());
                kinds.extend(visit.access().filter_map(|access| (access.bucket)()).chain(applied));
            }
        });
        kinds
    }

    /// Calls `visit` for the nodes below this one, parents first. `path` is the path of this node, `group_cluster` the path of the remote
    /// node in whose cluster its objects are (empty for the cluster of the root), and `depth` the depth of its children.
    fn walk_below(
        &'static self,
        (path, group_cluster): (&str, &str),
        depth: usize,
        visit: &mut dyn FnMut(NodeVisit<'_>),
    ) {
        for edge in self.children {
            let path = if path.is_empty() { edge.name.to_owned() } else { format!("{path}/{}", edge.name) };
            let cluster = match edge {
                Edge { remote: true, .. } => &path,
                // The CD system in the operator's cluster deploys this application.
                Edge { registration: Some(_), .. } => "",
                _ => group_cluster,
            };
            visit(NodeVisit { path: &path, depth, edge: Some(edge), shape: edge.shape, cluster, group_cluster });
            edge.shape.walk_below((&path, cluster), depth + 1, visit);
        }
    }
}

//! Finds the Namespaces with which the objects of a node are deleted: the nodes that `deleted_with(...)` names.

use super::{
    node::{Node, Shape},
    path::without_keys,
};

impl Shape {
    /// Returns the paths of the nodes whose Namespaces `deleted_with(...)` names for a node: on its own field or on the fields of the
    /// groups that contain it. A teardown of the whole tree deletes the objects of the node with these Namespaces.
    ///
    /// `path` is relative to this shape. Like the results, it may contain keys of items (`pools[blue]/config`). Returns none for a node
    /// that is no resource or manifest, and for an unknown path.
    pub(crate) fn namespaces_of(&'static self, path: &str) -> Vec<String> {
        let (mut shape, mut group, mut namespaces) = (self, String::new(), Vec::new());
        for segment in path.split('/') {
            let Some(edge) = shape.edge(&without_keys(segment)) else { return Vec::new() };
            if edge.remote {
                // The objects below this node are in another cluster, which the Namespaces found so far are not in.
                namespaces.clear();
            } else if !edge.deleted_with.is_empty() {
                // `deleted_with` names a sibling, so its path begins with that of the group.
                namespaces.push(format!("{group}{}", edge.deleted_with));
            }
            group.push_str(segment);
            group.push('/');
            shape = edge.shape;
        }
        match shape.node {
            Node::Resource | Node::Manifest(_) => namespaces,
            Node::Group { .. } | Node::Application(_) | Node::External(_) | Node::Custom => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Edge, SourceLocation};

    const fn edge(name: &'static str, shape: &'static Shape) -> Edge {
        Edge::plain(name, shape, SourceLocation::UNKNOWN)
    }

    const fn deleted_with(namespace: &'static str, edge: Edge) -> Edge {
        Edge { deleted_with: namespace, ..edge }
    }

    static LEAF: Shape = Shape { node: Node::Resource, access: &[], children: &[] };
    static HAND_WRITTEN: Shape = Shape { node: Node::Custom, access: &[], children: &[] };
    static APPLICATION: Shape = Shape { node: Node::Application("Flux"), access: &[], children: &[] };
    static POOL: Shape = Shape {
        node: Node::SERIAL,
        access: &[],
        children: &[
            edge("space", &LEAF),
            edge("config", &LEAF),
            deleted_with("space", edge("secret", &LEAF)),
            edge("gate", &HAND_WRITTEN),
            edge("chart", &APPLICATION),
            edge("cluster", &POOL_IN_CLUSTER).in_remote_cluster(false),
        ],
    };
    static POOL_IN_CLUSTER: Shape = Shape {
        node: Node::SERIAL,
        access: &[],
        children: &[edge("space", &LEAF), edge("config", &LEAF), deleted_with("space", edge("secret", &LEAF))],
    };
    static TREE: Shape = Shape {
        node: Node::SERIAL,
        access: &[],
        children: &[
            edge("namespace", &LEAF),
            edge("note", &LEAF),
            deleted_with("namespace", edge("config", &LEAF)),
            deleted_with("namespace", Edge { each: "pools", ..edge("pools", &POOL) }),
        ],
    };

    /// In `TREE`, the nodes `config` and `pools` have `deleted_with(namespace)`, and `secret` in a pool has `deleted_with(space)`.
    #[test]
    fn a_node_is_deleted_with_the_namespaces_of_its_field_and_of_the_groups_around_it() {
        assert_eq!(TREE.namespaces_of("config"), ["namespace"]);
        assert_eq!(TREE.namespaces_of("pools[a%2Fb]/config"), ["namespace"]);
        assert_eq!(TREE.namespaces_of("pools[a%2Fb]/secret"), ["namespace", "pools[a%2Fb]/space"]);
    }

    /// The node `cluster` of a pool is remote; below it, `secret` has `deleted_with(space)`.
    #[test]
    fn a_node_in_another_cluster_is_deleted_only_with_a_namespace_there() {
        assert_eq!(TREE.namespaces_of("pools[a]/cluster/secret"), ["pools[a]/cluster/space"]);
        assert!(TREE.namespaces_of("pools[a]/cluster/config").is_empty());
        assert!(TREE.namespaces_of("pools[a]/cluster").is_empty());
    }

    #[test]
    fn other_nodes_are_deleted_on_their_own() {
        // A node without `deleted_with`, the Namespace itself, nodes that are no resources, unknown nodes, and the root.
        for path in ["note", "namespace", "pools[a]/gate", "pools[a]/chart", "pools[a]", "old", "pools[a]/old", ""] {
            assert!(TREE.namespaces_of(path).is_empty(), "{path}");
        }
    }
}

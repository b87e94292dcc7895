//! Finds the Namespaces with which the objects of a node are deleted: the nodes that `deleted_with(...)` names.

use super::{
    node::{Node, Shape},
    path::without_keys,
};

impl Shape {
    /// Returns the paths of the Namespaces that `deleted_with` names for a node or for a group around it, in the cluster of the
    /// node. The path of the node, relative to this one, may contain keys of items, which the results have as well. Returns none
    /// for a node that is no resource or manifest.
    pub(crate) fn namespaces_of(&'static self, path: &str) -> Vec<String> {
        let (mut shape, mut group, mut namespaces) = (self, String::new(), Vec::new());
        for segment in path.split('/') {
            let Some(edge) = shape.edge(&without_keys(segment)) else { return Vec::new() };
            if edge.remote {
                // A Namespace does not contain objects of another cluster.
                namespaces.clear();
            } else if !edge.deleted_with.is_empty() {
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

    #[test]
    fn a_node_is_deleted_with_the_namespaces_of_its_field_and_of_the_groups_around_it() {
        assert_eq!(TREE.namespaces_of("config"), ["namespace"]);
        assert_eq!(TREE.namespaces_of("pools[a%2Fb]/config"), ["namespace"]);
        assert_eq!(TREE.namespaces_of("pools[a%2Fb]/secret"), ["namespace", "pools[a%2Fb]/space"]);
    }

    #[test]
    fn a_node_in_another_cluster_is_deleted_only_with_a_namespace_there() {
        assert_eq!(TREE.namespaces_of("pools[a]/cluster/secret"), ["pools[a]/cluster/space"]);
        assert!(TREE.namespaces_of("pools[a]/cluster/config").is_empty());
        assert!(TREE.namespaces_of("pools[a]/cluster").is_empty());
    }

    #[test]
    fn other_nodes_are_deleted_on_their_own() {
        for path in ["note", "namespace", "pools[a]/gate", "pools[a]/chart", "pools[a]", "old", "pools[a]/old", ""] {
            assert!(TREE.namespaces_of(path).is_empty(), "{path}");
        }
    }
}

//! Defines `Shape`, the constant description of a tree: its nodes and edges.
//!
//! The role, the watches and the diagram of an operator are computed by walks over the [`Shape`] of its trees. A node that is in
//! no tree adds no permissions.

use crate::{
    kind::{Kind, kind_of},
    shape::{
        location::SourceLocation,
        path::without_keys,
        permission::Access,
        registration::Registration,
        resource_options::ResourceOptions,
        verb::Verb,
        yaml::{self, InvalidManifest},
    },
};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use opgen_api::bucket::KindInBucket;
use std::fmt;

/// The order in which a group provisions or deprovisions its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One after the other in the order of declaration; the reverse order for deprovisioning. A child that yields or fails stops
    /// the children after it. A child that is not wanted is gone before the children after it begin, unless another node takes
    /// over its objects.
    Serial,
    /// All at once, except children that have to come `after` others.
    Concurrent,
}

/// The type of a node: a group of children, or a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A group of children, with one order for provisioning and one for deprovisioning.
    Group {
        /// The order of provisioning.
        up: Order,
        /// The order of deprovisioning.
        down: Order,
    },
    /// Child objects of one kind, which the node applies and owns.
    Resource,
    /// Child objects of several kinds, which the node applies from YAML and owns.
    Manifest(EmbeddedManifest),
    /// An application, which the node deploys with the CD system of this name.
    Application(&'static str),
    /// An external resource of this name, such as a DNS record.
    External(&'static str),
    /// A hand-written node.
    Custom,
}

impl Node {
    /// A group that provisions one child after the other, and deprovisions them in reverse order.
    pub const SERIAL: Self = Self::Group { up: Order::Serial, down: Order::Serial };
    /// A group that provisions and deprovisions all children at once.
    pub const CONCURRENT: Self = Self::Group { up: Order::Concurrent, down: Order::Concurrent };
}

/// The YAML file of a manifest node, embedded at compile time. Both fields are empty if a build function returns the YAML.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct EmbeddedManifest {
    /// The path of the file, as written in the attribute.
    pub file: &'static str,
    /// The content of the file.
    pub text: &'static str,
}

impl fmt::Debug for EmbeddedManifest {
    /// Writes only the path of the file, because its text may contain a Secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddedManifest").field("file", &self.file).finish_non_exhaustive()
    }
}

/// The description of a node: its type, its permissions and its children.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The type of the node.
    pub node: Node,
    /// The permissions of the node itself, without those of its children.
    pub access: &'static [Access],
    /// The children, in the order of declaration.
    pub children: &'static [Edge],
}

/// A named child of a group, with the attributes of its field.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The name of the field.
    pub name: &'static str,
    /// The shape of the child.
    pub shape: &'static Shape,
    /// The location of the field.
    pub location: SourceLocation,
    /// The source text of the `when` predicate; empty if the child is always wanted.
    pub when: &'static str,
    /// The source text of the `each` closure; empty if there is one child.
    pub each: &'static str,
    /// The siblings that have to succeed before it begins in a concurrent group.
    pub after: &'static [&'static str],
    /// The sibling whose Namespace takes the objects along when the whole tree is torn down; empty without one.
    pub deleted_with: &'static str,
    /// The nodes whose output it reads, as paths from the group (`service`, `workload/service`).
    pub reads: &'static [&'static str],
    /// The options of a resource node.
    pub resource: ResourceOptions,
    /// The number of objects that a resource node can have.
    pub cardinality: Cardinality,
    /// Returns the bucket of the kind of a resource node; `None` for a kind in Kubernetes.
    pub bucket: fn() -> Option<KindInBucket>,
    /// The permissions that the attributes of the field add to those of the child, in the cluster of the group: the rights that its
    /// roles grant, read access to Pods, or those that a remote child needs.
    pub access: &'static [Access],
    /// Whether the objects of the child are in another cluster than those of the group.
    pub remote: bool,
    /// Whether the objects in the other cluster are left there if the owner is deleted.
    pub background: bool,
    /// Set for an application that the CD system in the operator's cluster deploys, also below a remote node: its objects are in the
    /// operator's cluster, and the cluster of the remote node is registered with the CD system.
    pub registration: Option<Registration>,
}

/// The number of objects that a resource node can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cardinality {
    /// `K`: always one.
    One,
    /// `Option<K>`: one or none.
    Optional,
    /// `Vec<K>`: any number.
    Many,
}

/// The permissions for a remote child. Its record is a ConfigMap, which the watch of all ConfigMaps of the operator shows, and which the
/// operator writes in its own namespace. Its kubeconfig is in a Secret.
const REMOTE_ACCESS: &[Access] = &[
    Access::to(kind_of::<ConfigMap>, &[Verb::List, Verb::Watch], SourceLocation::UNKNOWN),
    Access::to(kind_of::<ConfigMap>, &[Verb::Get, Verb::Create, Verb::Patch, Verb::Delete], SourceLocation::UNKNOWN),
    Access::to(kind_of::<Secret>, &[Verb::Get], SourceLocation::UNKNOWN),
];

impl Edge {
    /// Returns the edge to a child that is always wanted, with default options.
    pub const fn plain(name: &'static str, shape: &'static Shape, location: SourceLocation) -> Self {
        let resource = ResourceOptions::DEFAULT;
        let cardinality = Cardinality::One;
        Self {
            name,
            shape,
            location,
            when: "",
            each: "",
            after: &[],
            deleted_with: "",
            reads: &[],
            resource,
            cardinality,
            bucket: || None,
            access: &[],
            remote: false,
            background: false,
            registration: None,
        }
    }

    /// Returns the edge to the same child with its objects in another cluster. It adds the permissions for the record of this cluster (a
    /// ConfigMap) and for its kubeconfig (a Secret). With `background`, the objects are left there if the owner is deleted.
    pub const fn in_remote_cluster(self, background: bool) -> Self {
        Self { remote: true, background, access: REMOTE_ACCESS, ..self }
    }
}

impl Shape {
    /// Returns the kinds in the permissions of the node, in the order of declaration.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> + use<> {
        self.access.iter().filter_map(Access::kind)
    }

    /// Returns the permissions of the node itself. For a manifest node, they include the kinds in its file.
    ///
    /// # Errors
    /// Fails if the file can't be parsed as objects, or contains a kind that is neither built-in nor declared.
    pub fn permissions(&self) -> Result<Vec<Access>, InvalidManifest> {
        match self.node {
            Node::Manifest(EmbeddedManifest { file, text }) => yaml::permissions(file, text, self.access),
            _ => Ok(self.access.to_vec()),
        }
    }

    /// Returns the kinds of the objects that the node applies and owns, without those of its children; none if its manifest is invalid.
    pub(crate) fn applied_kinds(&self) -> Vec<Kind> {
        match self.node {
            Node::Resource | Node::Manifest(_) | Node::Application(_) => {
                let permissions = self.permissions().unwrap_or_default();
                permissions.iter().filter_map(Access::kind).collect()
            }
            Node::Group { .. } | Node::External(_) | Node::Custom => Vec::new(),
        }
    }

    /// Checks the embedded YAML file of each manifest node in the tree: each YAML document has to be an object of a built-in or declared
    /// kind.
    ///
    /// # Errors
    /// Returns the problem of the first invalid file.
    pub(crate) fn check_manifests(&'static self) -> Result<(), InvalidManifest> {
        let mut result = Ok(());
        self.walk(&mut |visit| {
            if result.is_ok() {
                // `permissions` parses the file and checks its kinds.
                result = visit.shape.permissions().map(drop);
            }
        });
        result
    }

    /// Returns the kinds of the resource nodes whose output other nodes read (`from(...)`). Considers only nodes whose objects are in the
    /// cluster of this node.
    pub fn kinds_read(&'static self) -> Vec<Kind> {
        let mut kinds = Vec::new();
        self.walk(&mut |visit| {
            // The objects of this group are in another cluster.
            if !visit.cluster.is_empty() {
                return;
            }
            // A path in `reads` is relative to the group of the reading node.
            let reads = visit.shape.children.iter().flat_map(|edge| edge.reads.iter());
            let sources = reads.filter_map(|path| visit.shape.find(path)).filter(|shape| shape.node == Node::Resource);
            kinds.extend(sources.flat_map(|shape| shape.kinds()));
        });
        kinds
    }

    /// Returns the edges to the applications below remote nodes of this tree that the CD system in the operator's cluster deploys into the
    /// cluster of the remote node.
    pub(crate) fn remote_applications(&'static self) -> Vec<&'static Edge> {
        let mut edges = Vec::new();
        self.walk(&mut |visit| edges.extend(visit.edge.filter(|_| visit.is_registered_application())));
        edges
    }

    /// Returns the edges to all applications of this tree that the CD system in the operator's cluster deploys, for a tree that is itself
    /// below a remote node.
    pub(crate) fn applications_to_register(&'static self) -> Vec<&'static Edge> {
        let mut edges = Vec::new();
        self.walk(&mut |visit| edges.extend(visit.edge.filter(|edge| edge.registration.is_some())));
        edges
    }

    /// Returns whether this node or any node below it manages an external resource.
    pub(crate) const fn has_external_nodes(&self) -> bool {
        let mut has_external = matches!(self.node, Node::External(_));
        let mut index = 0;
        // A `const fn` can't use iterators.
        while index < self.children.len() {
            has_external |= self.children[index].shape.has_external_nodes();
            index += 1;
        }
        has_external
    }

    /// Returns whether the tree has nodes in other clusters.
    pub(crate) fn has_remote_nodes(&'static self) -> bool {
        self.children.iter().any(|edge| edge.remote || edge.shape.has_remote_nodes())
    }

    /// Returns the kinds for which nodes of the tree declare the verb `reference`: they may reference such objects, which keeps them from
    /// being deleted.
    pub fn kinds_referenced(&'static self) -> Vec<Kind> {
        let mut kinds = Vec::new();
        self.walk(&mut |visit| {
            let referenced = visit.shape.access.iter().filter(|access| access.verbs.contains(&Verb::Reference));
            kinds.extend(referenced.filter_map(Access::kind));
        });
        kinds
    }

    /// Returns the node at a path relative to this one; `None` if there is none.
    pub fn find(&'static self, path: &str) -> Option<&'static Shape> {
        path.split('/').try_fold(self, |shape, name| Some(shape.edge(name)?.shape))
    }

    /// Returns the options of the resource node at a path relative to this one. The path may contain keys of items, such as
    /// `pools[blue]/config`. Returns the default options if the tree has no such node.
    pub(crate) fn resource_options(&'static self, path: &str) -> ResourceOptions {
        let path = without_keys(path);
        // The edge from the group to the node has the options.
        let (group, name) = match path.rsplit_once('/') {
            Some((group, name)) => (self.find(group), name),
            None => (Some(self), path.as_str()),
        };
        group.and_then(|group| group.edge(name)).map_or(ResourceOptions::DEFAULT, |edge| edge.resource)
    }

    /// Returns the edge to a child.
    pub(crate) fn edge(&'static self, name: &str) -> Option<&'static Edge> {
        self.children.iter().find(|edge| edge.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::resource_options::DeletionPropagation;

    const FOREGROUND: ResourceOptions =
        ResourceOptions { delete: Some(DeletionPropagation::Foreground), ..ResourceOptions::DEFAULT };
    static LEAF: Shape = Shape { node: Node::Resource, access: &[], children: &[] };
    static POOL: Shape = Shape {
        node: Node::SERIAL,
        access: &[],
        children: &[Edge { resource: FOREGROUND, ..Edge::plain("config", &LEAF, SourceLocation::UNKNOWN) }],
    };
    static TREE: Shape = Shape {
        node: Node::SERIAL,
        access: &[],
        children: &[
            Edge { each: "pools", ..Edge::plain("pools", &POOL, SourceLocation::UNKNOWN) },
            Edge::plain("config", &LEAF, SourceLocation::UNKNOWN),
        ],
    };

    /// In `TREE`, the node `config` in a pool has the propagation policy `Foreground`, and the node `config` of the root has no options.
    #[test]
    fn the_options_of_a_node_are_found_by_its_path_with_keys() {
        assert_eq!(TREE.resource_options("pools[a%2Fb]/config"), FOREGROUND);
        assert_eq!(TREE.resource_options("config"), ResourceOptions::DEFAULT);
        assert_eq!(TREE.resource_options("pools[a]/old"), ResourceOptions::DEFAULT);
        assert_eq!(TREE.resource_options("old/config"), ResourceOptions::DEFAULT);
    }
}

//! The tree as data: what a node is, known before anything runs.
//!
//! The role, the watches and the picture of an operator are walks of the [`Shape`] of its trees. A node that is in no
//! tree asks for nothing.

use crate::{
    kind::Kind,
    shape::{
        location::SourceLocation,
        permission::Access,
        verb::Verb,
        yaml::{self, InvalidManifest},
    },
};

use std::fmt;

/// In which order a group goes through its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One after the other, as declared; on the way down reversed. One that yields or fails stops those behind it. A child that
    /// is not wanted is gone before those behind it begin, unless another node takes over its objects.
    Serial,
    /// All at once, but for those that come `after` others.
    Concurrent,
}

/// What a node of the tree does with its children, or that it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// Children, in an order for each direction.
    Group {
        /// The order of building up.
        up: Order,
        /// The order of tearing down.
        down: Order,
    },
    /// Objects of one kind, applied and owned.
    Resource,
    /// Objects of several kinds, applied and owned, given as YAML.
    Manifest(EmbeddedManifest),
    /// Written by hand.
    Custom,
}

impl Node {
    /// One child after the other; reversed on the way down.
    pub const SERIAL: Self = Self::Group { up: Order::Serial, down: Order::Serial };
    /// All children at once, both ways.
    pub const CONCURRENT: Self = Self::Group { up: Order::Concurrent, down: Order::Concurrent };
}

/// The YAML of a manifest node that is known when the operator is built; empty where a function gives it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct EmbeddedManifest {
    /// The file, as the attribute names it.
    pub file: &'static str,
    /// What it holds.
    pub text: &'static str,
}

impl fmt::Debug for EmbeddedManifest {
    // The text may hold a Secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddedManifest").field("file", &self.file).finish_non_exhaustive()
    }
}

/// What a node is: its kind of node, its permissions, its children.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Group, resource or hand-written.
    pub node: Node,
    /// What the node itself does with the API; its children speak for themselves.
    pub access: &'static [Access],
    /// The children, in the order of declaration.
    pub children: &'static [Edge],
}

/// A named child, and the terms on which it is one.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The name of the field.
    pub name: &'static str,
    /// What the child is.
    pub shape: &'static Shape,
    /// The field's line.
    pub location: SourceLocation,
    /// The predicate as written; without it the child is always wanted.
    pub when: &'static str,
    /// Where its items come from, as written; without it there is one child.
    pub each: &'static str,
    /// Siblings that come before it in a concurrent group.
    pub after: &'static [&'static str],
    /// The nodes whose result it reads, as paths from the group (`service`, `workload/service`).
    pub reads: &'static [&'static str],
    /// How the objects of a resource are treated.
    pub resource: ResourceOptions,
    /// How many objects of a resource there may be.
    pub cardinality: Cardinality,
    /// What this use of the child asks for beyond what the child is: the rights that its roles grant, or a look at Pods.
    pub access: &'static [Access],
}

/// How many objects a resource node may be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cardinality {
    /// `K`: always one.
    One,
    /// `Option<K>`: one, or none.
    Optional,
    /// `Vec<K>`: as many as its build function gives.
    Many,
}

impl Edge {
    /// A child that is always wanted.
    pub const fn plain(name: &'static str, shape: &'static Shape, location: SourceLocation) -> Self {
        let resource = ResourceOptions::DEFAULT;
        let cardinality = Cardinality::One;
        Self { name, shape, location, when: "", each: "", after: &[], reads: &[], resource, cardinality, access: &[] }
    }
}

/// How the objects of a resource node are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceOptions {
    /// Output once, with content that later passes leave as it is.
    pub once: bool,
    /// A stranger's object of its name is taken over.
    pub adopt: bool,
    /// The field managers whose fields become the operator's when an object is taken over: a stranger's, or one that its
    /// owner had from an earlier operator, which needs no `adopt`.
    pub adopt_from: &'static [&'static str],
    /// There are none as long as the cluster doesn't know their kind.
    pub if_api: bool,
    /// While a workload is not ready, its Pods are looked at for what holds them up.
    pub pods: bool,
    /// Given up in an earlier release: what is left of it is removed.
    pub retired: bool,
}

impl ResourceOptions {
    /// Applied whenever it differs; a stranger's object is left alone.
    pub const DEFAULT: Self =
        Self { once: false, adopt: false, adopt_from: &[], if_api: false, pods: false, retired: false };
    /// Removed, wherever something is left of it.
    pub const RETIRED: Self = Self { retired: true, ..Self::DEFAULT };
}

/// A node that a walk visits through a tree.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NodeVisit<'a> {
    /// The node's path from the root (`workload/service`); empty for the root.
    pub path: &'a str,
    /// 0 for the root.
    pub depth: usize,
    /// The edge that leads to it; none leads to the root.
    pub edge: Option<&'static Edge>,
    /// The node.
    pub shape: &'static Shape,
}

impl NodeVisit<'_> {
    /// What the node does with the API, and what its use asks for beyond that.
    pub fn access(&self) -> impl Iterator<Item = &'static Access> + use<> {
        self.shape.access.iter().chain(self.edge.map_or(&[] as &[Access], |edge| edge.access))
    }
}

impl Shape {
    /// The kinds of the objects that a node asks to reach, in the order of declaration.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> + use<> {
        self.access.iter().filter_map(Access::kind)
    }

    /// Calls `visit` for every node below and including this one, parents first.
    pub fn walk(&'static self, visit: &mut dyn FnMut(NodeVisit<'_>)) {
        visit(NodeVisit { path: "", depth: 0, edge: None, shape: self });
        self.walk_below("", 1, visit);
    }

    fn walk_below(&'static self, path: &str, depth: usize, visit: &mut dyn FnMut(NodeVisit<'_>)) {
        for edge in self.children {
            let path = if path.is_empty() { edge.name.to_owned() } else { format!("{path}/{}", edge.name) };
            visit(NodeVisit { path: &path, depth, edge: Some(edge), shape: edge.shape });
            edge.shape.walk_below(&path, depth + 1, visit);
        }
    }

    /// What the node itself does with the API; of a manifest with a file, that follows from the file, too.
    ///
    /// # Errors
    /// If the file can't be read as objects, or holds kinds that nobody knows.
    pub fn permissions(&self) -> Result<Vec<Access>, InvalidManifest> {
        match self.node {
            Node::Manifest(EmbeddedManifest { file, text }) => yaml::permissions(file, text, self.access),
            _ => Ok(self.access.to_vec()),
        }
    }

    /// The kinds of the objects that the node applies and owns; none where that can't be read.
    pub(crate) fn applied(&self) -> Vec<Kind> {
        match self.node {
            Node::Resource | Node::Manifest(_) => {
                let permissions = self.permissions().unwrap_or_default();
                permissions.iter().filter_map(Access::kind).collect()
            }
            Node::Group { .. } | Node::Custom => Vec::new(),
        }
    }

    /// The first manifest of the tree that can't be read.
    ///
    /// # Errors
    /// That one.
    pub(crate) fn check(&'static self) -> Result<(), InvalidManifest> {
        let mut checked = Ok(());
        self.walk(&mut |visit| {
            if checked.is_ok() {
                checked = visit.shape.permissions().map(drop);
            }
        });
        checked
    }

    /// The kinds of the resource nodes that other nodes read.
    pub fn kinds_read(&'static self) -> Vec<Kind> {
        let mut kinds = Vec::new();
        self.walk(&mut |visit| {
            let reads = visit.shape.children.iter().flat_map(|edge| edge.reads.iter());
            let sources = reads.filter_map(|path| visit.shape.find(path)).filter(|shape| shape.node == Node::Resource);
            kinds.extend(sources.flat_map(|shape| shape.kinds()));
        });
        kinds
    }

    /// The kinds of the objects that nodes of the tree reference.
    pub fn kinds_referenced(&'static self) -> Vec<Kind> {
        let mut kinds = Vec::new();
        self.walk(&mut |visit| {
            let referenced = visit.shape.access.iter().filter(|access| access.verbs.contains(&Verb::Reference));
            kinds.extend(referenced.filter_map(Access::kind));
        });
        kinds
    }

    /// The node at a path from this one.
    pub fn find(&'static self, path: &str) -> Option<&'static Shape> {
        path.split('/')
            .try_fold(self, |shape, name| shape.children.iter().find(|edge| edge.name == name).map(|edge| edge.shape))
    }
}

//! The tree as data: what a node is, known before anything runs.
//!
//! The role, the watches and the picture of an operator are walks of the [`Shape`] of its trees. A node that is in no
//! tree asks for nothing.

use crate::kind::Kind;

/// A verb of the Kubernetes API, as a role spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Read one object by name.
    Get,
    /// Read all objects of a kind in a scope.
    List,
    /// Follow the changes of a kind.
    Watch,
    /// Make an object.
    Create,
    /// Replace an object.
    Update,
    /// Change an object in part; server-side apply is one.
    Patch,
    /// Remove one object by name.
    Delete,
    /// Remove all objects of a kind in a scope.
    DeleteCollection,
}

impl Verb {
    /// The verb as a role names it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}

/// In which order a group goes through its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One after the other, as declared; on the way down reversed. One that yields or fails stops those behind it.
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
    /// Written by hand.
    Custom,
}

impl Node {
    /// One child after the other; reversed on the way down.
    pub const SERIAL: Self = Self::Group { up: Order::Serial, down: Order::Serial };
    /// All children at once, both ways.
    pub const CONCURRENT: Self = Self::Group { up: Order::Concurrent, down: Order::Concurrent };
}

/// One permission: a kind, and what is done with it.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The kind; a function, since a kind's names are not constants in `kube`.
    pub kind: fn() -> Kind,
    /// The subresource (`status`, `scale`, …), or `""` for the object itself.
    pub subresource: &'static str,
    /// What is done with it.
    pub verbs: &'static [Verb],
    /// Where it is asked for.
    pub place: Place,
}

/// A line of source code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, as the compiler was told its name.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
}

impl Place {
    /// Nowhere in particular: what the edge to the node says counts.
    pub const UNKNOWN: Self = Self { file: "", line: 0 };
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
    pub place: Place,
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
    /// What these terms do with the API, beside what the child does.
    pub access: &'static [Access],
}

impl Edge {
    /// A child that is always wanted.
    pub const fn plain(name: &'static str, shape: &'static Shape, place: Place) -> Self {
        let resource = ResourceOptions::DEFAULT;
        Self { name, shape, place, when: "", each: "", after: &[], reads: &[], resource, access: &[] }
    }
}

/// How the objects of a resource node are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceOptions {
    /// Made once, with content that later passes leave as it is.
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
}

/// One stop of a walk through a tree.
#[derive(Clone, Copy, Debug)]
pub struct Stop<'a> {
    /// The node's path from the root (`workload/service`); empty for the root.
    pub path: &'a str,
    /// 0 for the root.
    pub depth: usize,
    /// The edge that leads to it; none leads to the root.
    pub edge: Option<&'static Edge>,
    /// The node.
    pub shape: &'static Shape,
}

impl Shape {
    /// Calls `visit` for every node below and including this one, parents first.
    pub fn walk(&'static self, visit: &mut dyn FnMut(Stop<'_>)) {
        visit(Stop { path: "", depth: 0, edge: None, shape: self });
        self.walk_below("", 1, visit);
    }

    fn walk_below(&'static self, path: &str, depth: usize, visit: &mut dyn FnMut(Stop<'_>)) {
        for edge in self.children {
            let path = if path.is_empty() { edge.name.to_owned() } else { format!("{path}/{}", edge.name) };
            visit(Stop { path: &path, depth, edge: Some(edge), shape: edge.shape });
            edge.shape.walk_below(&path, depth + 1, visit);
        }
    }

    /// The kinds of the resource nodes that other nodes read.
    pub fn kinds_read(&'static self) -> Vec<Kind> {
        let mut kinds = Vec::new();
        self.walk(&mut |stop| {
            let reads = stop.shape.children.iter().flat_map(|edge| edge.reads.iter());
            let sources = reads.filter_map(|path| stop.shape.find(path)).filter(|shape| shape.node == Node::Resource);
            kinds.extend(sources.flat_map(|shape| shape.access.iter().map(|access| (access.kind)())));
        });
        kinds
    }

    /// The node at a path from this one.
    pub fn find(&'static self, path: &str) -> Option<&'static Shape> {
        path.split('/')
            .try_fold(self, |shape, name| shape.children.iter().find(|edge| edge.name == name).map(|edge| edge.shape))
    }
}

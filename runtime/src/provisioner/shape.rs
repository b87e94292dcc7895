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

/// What a node of the tree does with its children, or that it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// Children one after the other; reversed on the way down.
    Serial,
    /// Children all at once.
    Concurrent,
    /// Objects of one kind, applied and owned.
    Resource,
    /// Written by hand.
    Custom,
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

/// A named child.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The name of the field.
    pub name: &'static str,
    /// What the child is.
    pub shape: &'static Shape,
}

impl Shape {
    /// Calls `visit` for every node below and including this one, parents first, with the node's path
    /// (`root/workload/service`) and its depth.
    pub fn walk(&'static self, name: &str, visit: &mut dyn FnMut(&str, usize, &'static Shape)) {
        self.walk_at(name, 0, visit);
    }

    fn walk_at(&'static self, path: &str, depth: usize, visit: &mut dyn FnMut(&str, usize, &'static Shape)) {
        visit(path, depth, self);
        for edge in self.children {
            edge.shape.walk_at(&format!("{path}/{}", edge.name), depth + 1, visit);
        }
    }
}

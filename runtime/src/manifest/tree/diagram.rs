//! `Diagram`: a provisioner tree for display, with or without the state of one object in the cluster.

use crate::{
    kind::Kind,
    manifest::project::{KindDescription, Project},
    shape::{Edge, Node, Shape},
};
use serde_json::Value;

/// The tree of one kind, or of one object of it.
#[derive(Clone, Debug)]
pub(crate) struct Diagram {
    pub(crate) kind: Kind,
    /// The object with this tree; `None` in the diagram of a kind.
    pub(crate) object: Option<DiagramOwner>,
    pub(crate) root: DiagramNode,
}

/// The owner of the tree in the cluster, with the conditions of its status.
#[derive(Clone, Debug)]
pub(crate) struct DiagramOwner {
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    pub(crate) state: NodeState,
    /// The reason of the state; may be empty.
    pub(crate) message: String,
    pub(crate) conditions: Vec<Value>,
}

/// A node of a tree.
#[derive(Clone, Debug)]
pub(crate) struct DiagramNode {
    /// The name of its field, with the key of the item in a node with `each`.
    pub(crate) name: String,
    /// The path from the root, without keys of items.
    pub(crate) path: String,
    pub(crate) shape: &'static Shape,
    pub(crate) edge: Option<&'static Edge>,
    /// The state of its objects; `None` if the cluster was not read, or if a node has no objects to read.
    pub(crate) state: Option<NodeState>,
    /// The reason of the state; may be empty.
    pub(crate) message: String,
    pub(crate) objects: Vec<DiagramObject>,
    pub(crate) children: Vec<Self>,
}

/// An object of a node.
#[derive(Clone, Debug)]
pub(crate) struct DiagramObject {
    pub(crate) kind: Kind,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    pub(crate) state: NodeState,
    pub(crate) message: String,
}

/// The state of a node, ordered from harmless to severe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NodeState {
    /// It has no objects and needs none.
    Absent,
    Ready,
    /// The user may not read its objects.
    Unknown,
    Deleting,
    NotReady,
    /// An object makes no progress until something else happens.
    HeldUp,
    /// A required object does not exist.
    Missing,
}

impl NodeState {
    /// Returns the state in words, for all diagrams.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "none",
            Self::Ready => "ready",
            Self::Unknown => "unknown",
            Self::Deleting => "being deleted",
            Self::NotReady => "not ready",
            Self::HeldUp => "held up",
            Self::Missing => "missing",
        }
    }

    /// Returns the symbol of the state in text diagrams.
    pub(super) const fn symbol(self) -> char {
        match self {
            Self::Absent => '-',
            Self::Ready => '✓',
            Self::Unknown => '?',
            Self::Deleting | Self::NotReady => '…',
            Self::HeldUp | Self::Missing => '✗',
        }
    }
}

impl Diagram {
    /// Returns the diagram of a kind, without the state of a cluster.
    pub(crate) fn of(controlled: &KindDescription) -> Self {
        let kind = controlled.kind.clone();
        let root = DiagramNode::of(kind.kind.to_string(), String::new(), controlled.shape, None);
        Self { kind, object: None, root }
    }

    /// Returns the diagrams of all controlled kinds, sorted by kind.
    pub(crate) fn all(project: &Project) -> Vec<Self> {
        let mut controllers: Vec<_> =
            project.controllers.iter().filter(|controlled| !controlled.only_defined).collect();
        controllers.sort_by_key(|controlled| (&controlled.kind, &controlled.finalizer));
        controllers.into_iter().map(Self::of).collect()
    }
}

impl DiagramNode {
    /// Returns the diagram of the node with this shape and of all nodes below it, without the state of a cluster. `path` is the path of the
    /// node from the root, and `edge` the edge to it, which the root doesn't have.
    fn of(name: String, path: String, shape: &'static Shape, edge: Option<&'static Edge>) -> Self {
        let child_node = |edge: &'static Edge| {
            let path = if path.is_empty() { edge.name.to_owned() } else { format!("{path}/{}", edge.name) };
            Self::of(edge.name.to_owned(), path, edge.shape, Some(edge))
        };
        let children = shape.children.iter().map(child_node).collect();
        Self { name, path, shape, edge, state: None, message: String::new(), objects: Vec::new(), children }
    }

    pub(super) fn is_group(&self) -> bool {
        matches!(self.shape.node, Node::Group { .. })
    }
}

//! What a picture shows: the trees of a project, or one of them with the state of an object in the cluster.

use crate::{
    kind::Kind,
    manifest::project::{Controlled, Project},
    shape::{Edge, Node, Shape},
};
use serde_json::Value;

/// One tree.
#[derive(Clone, Debug)]
pub(crate) struct Drawing {
    pub(crate) kind: Kind,
    /// The object whose tree it is; none in a picture of the kind.
    pub(crate) object: Option<Sight>,
    pub(crate) root: Drawn,
}

/// An object in the cluster, and what its status says.
#[derive(Clone, Debug)]
pub(crate) struct Sight {
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    pub(crate) state: NodeState,
    /// Why it is in that state; may be empty.
    pub(crate) why: String,
    pub(crate) conditions: Vec<Value>,
}

/// A node of a tree.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    /// The name of its field; one item of `each` has its key behind it.
    pub(crate) name: String,
    /// The path from the root as paths of shapes are: without keys.
    pub(crate) path: String,
    pub(crate) shape: &'static Shape,
    pub(crate) edge: Option<&'static Edge>,
    /// The state of what it is made of; none where the cluster was not asked, or has nothing to tell.
    pub(crate) state: Option<NodeState>,
    /// Why it is in that state; may be empty.
    pub(crate) why: String,
    pub(crate) objects: Vec<Found>,
    pub(crate) children: Vec<Self>,
}

/// An object of a node.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) kind: Kind,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    pub(crate) state: NodeState,
    pub(crate) why: String,
}

/// How a node fares, from the lightest to the gravest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NodeState {
    /// Nothing is there, and nothing need be.
    Absent,
    Ready,
    /// It can't be seen: a permission lacks.
    Unknown,
    Ending,
    NotReady,
    HeldUp,
    /// It should be there, and isn't.
    Missing,
}

impl NodeState {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "none",
            Self::Ready => "ready",
            Self::Unknown => "unknown",
            Self::Ending => "being deleted",
            Self::NotReady => "not ready",
            Self::HeldUp => "held up",
            Self::Missing => "missing",
        }
    }

    pub(super) const fn mark(self) -> char {
        match self {
            Self::Absent => '-',
            Self::Ready => '✓',
            Self::Unknown => '?',
            Self::Ending | Self::NotReady => '…',
            Self::HeldUp | Self::Missing => '✗',
        }
    }
}

impl Drawing {
    /// The tree of a kind, without any cluster.
    pub(crate) fn of(controlled: &Controlled) -> Self {
        let kind = controlled.kind.clone();
        let root = Drawn::of(kind.kind.to_string(), String::new(), controlled.shape, None);
        Self { kind, object: None, root }
    }

    /// The trees of all kinds, sorted by kind.
    pub(crate) fn all(project: &Project) -> Vec<Self> {
        let mut controllers: Vec<_> =
            project.controllers.iter().filter(|controlled| !controlled.only_defined).collect();
        controllers.sort_by_key(|controlled| (&controlled.kind, &controlled.finalizer));
        controllers.into_iter().map(Self::of).collect()
    }
}

impl Drawn {
    fn of(name: String, path: String, shape: &'static Shape, edge: Option<&'static Edge>) -> Self {
        let below = |edge: &'static Edge| {
            let path = if path.is_empty() { edge.name.to_owned() } else { format!("{path}/{}", edge.name) };
            Self::of(edge.name.to_owned(), path, edge.shape, Some(edge))
        };
        let children = shape.children.iter().map(below).collect();
        Self { name, path, shape, edge, state: None, why: String::new(), objects: Vec::new(), children }
    }

    pub(super) fn is_group(&self) -> bool {
        matches!(self.shape.node, Node::Group { .. })
    }
}

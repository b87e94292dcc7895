//! The words in which every picture says the same.

use crate::{
    kind::Kind,
    shape::{Access, Count, Edge, Node, Order, Reach, Shape, Verb},
};

/// One of the terms on which a node is a child: a word, and what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EdgeTerm {
    pub(super) word: &'static str,
    pub(super) about: String,
}

impl std::fmt::Display for EdgeTerm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let space = if self.about.is_empty() { "" } else { " " };
        write!(f, "{}{space}{}", self.word, self.about)
    }
}

/// What a node does with its children, or what it is without.
pub(super) fn node(node: Node) -> &'static str {
    match node {
        Node::Group { up: Order::Serial, down: Order::Serial } => "serial",
        Node::Group { up: Order::Concurrent, down: Order::Concurrent } => "concurrent",
        Node::Group { up: Order::Serial, down: Order::Concurrent } => "serial up, concurrent down",
        Node::Group { up: Order::Concurrent, down: Order::Serial } => "concurrent up, serial down",
        Node::Resource => "resource",
        Node::Manifest(_) => "manifest",
        Node::Custom => "custom",
    }
}

/// When and how often a node is a child, and what comes before it.
pub(super) fn terms(edge: &Edge) -> Vec<EdgeTerm> {
    let said = [("when", edge.when.to_owned()), ("each", edge.each.to_owned())];
    let named = [("after", edge.after.join(", ")), ("reads", edge.reads.join(", "))];
    let about = said.into_iter().chain(named).filter(|(_, about)| !about.is_empty());
    about.map(|(word, about)| EdgeTerm { word, about }).collect()
}

/// How the objects of a resource node are treated; none of it for the usual one.
pub(super) fn treatment(edge: &Edge) -> Vec<EdgeTerm> {
    let options = edge.resource;
    let count = match edge.count {
        Count::One => "",
        Count::Optional => "optional",
        Count::Many => "many",
    };
    let from =
        if options.adopt_from.is_empty() { String::new() } else { format!("from {}", options.adopt_from.join(", ")) };
    let is_role = |kind: Kind| kind.kind.ends_with("Role");
    let asked = if edge.shape.kinds().any(is_role) { "hands on" } else { "also" };
    let said = [
        (!count.is_empty(), count, String::new()),
        (options.once, "once", String::new()),
        (options.adopt, "adopts", from),
        (options.if_api, "if its API is there", String::new()),
        (options.retired, "retired", String::new()),
        (!edge.access.is_empty(), asked, edge.access.iter().map(permission).collect::<Vec<_>>().join("; ")),
    ];
    said.into_iter().filter(|(holds, ..)| *holds).map(|(_, word, about)| EdgeTerm { word, about }).collect()
}

/// The kinds of a resource node.
pub(super) fn kinds(shape: &Shape) -> String {
    shape.access.iter().map(subject).collect::<Vec<_>>().join(", ")
}

/// What a node does with the API; a manifest that can't be read is told of where the files are generated.
pub(super) fn permissions(shape: &Shape) -> Vec<Access> {
    shape.permissions().unwrap_or_default()
}

/// What a permission is about, and what it allows: `Deployment/scale: get, patch`.
pub(super) fn permission(access: &Access) -> String {
    access.to_string()
}

/// What a permission is about: `Deployment/scale`, or a path of the server.
pub(super) fn subject(access: &Access) -> String {
    match access.reach {
        Reach::Url(path) => path.to_owned(),
        Reach::Objects { .. } => {
            let said = access.to_string();
            said.rsplit_once(": ").map_or_else(|| said.clone(), |(subject, _)| subject.to_owned())
        }
    }
}

/// What a permission allows: `get, patch`.
pub(super) fn verbs(access: &Access) -> String {
    access.verbs.iter().copied().map(Verb::as_str).collect::<Vec<_>>().join(", ")
}

//! Formats node types, node options and permissions with the same labels for every diagram format.

use crate::{
    kind::Kind,
    shape::{
        Access, AccessTarget, Cardinality, DeletionPropagation, Edge, Node, Order, ResourceOptions, Shape, Verb,
        duration_text,
    },
};

/// One option of a node as a child: a label and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EdgeTerm {
    pub(super) label: &'static str,
    pub(super) value: String,
}

impl std::fmt::Display for EdgeTerm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let space = if self.value.is_empty() { "" } else { " " };
        write!(f, "{}{space}{}", self.label, self.value)
    }
}

/// Returns the label of a node's type: for a group the order in which it creates (up) and deletes (down) its children, otherwise the type
/// of the leaf.
pub(super) fn node_type(node: Node) -> &'static str {
    match node {
        Node::Group { up: Order::Serial, down: Order::Serial } => "serial",
        Node::Group { up: Order::Concurrent, down: Order::Concurrent } => "concurrent",
        Node::Group { up: Order::Serial, down: Order::Concurrent } => "serial up, concurrent down",
        Node::Group { up: Order::Concurrent, down: Order::Serial } => "concurrent up, serial down",
        Node::Resource => "resource",
        Node::Manifest(_) => "manifest",
        Node::Application(_) => "application",
        Node::External(_) => "external",
        Node::Custom => "custom",
    }
}

/// Returns the conditions `when` and `each` and the dependencies `after` and `reads` that are set on an edge, the link from a group to a
/// child node.
pub(super) fn edge_terms(edge: &Edge) -> Vec<EdgeTerm> {
    let conditions = [("when", edge.when.to_owned()), ("each", edge.each.to_owned())];
    let dependencies = [("after", edge.after.join(", ")), ("reads", edge.reads.join(", "))];
    let terms = conditions.into_iter().chain(dependencies).filter(|(_, value)| !value.is_empty());
    terms.map(|(label, value)| EdgeTerm { label, value }).collect()
}

/// Returns a label for each option of a child node that differs from the default: the options of `resource(...)`, the number of objects,
/// the cluster, and the rights that the field of the node adds. `edge_terms` returns the conditions and dependencies.
pub(super) fn resource_options(edge: &Edge) -> Vec<EdgeTerm> {
    // Without `..`, so that the compiler reports an option that is not shown. `pods` shows as a permission.
    let Edge {
        shape,
        resource,
        cardinality,
        access,
        deleted_with,
        remote,
        background,
        // Shown by `edge_terms`.
        when: _,
        each: _,
        after: _,
        reads: _,
        // No options.
        name: _,
        location: _,
        registration: _,
        bucket: _,
    } = *edge;
    let ResourceOptions { once, adopt, adopt_from, if_api, pods: _, retired, delete, timeout } = resource;
    let count = match cardinality {
        Cardinality::One => "",
        Cardinality::Optional => "optional",
        Cardinality::Many => "many",
    };
    let from = if adopt_from.is_empty() { String::new() } else { format!("from {}", adopt_from.join(", ")) };
    let propagation = delete.map_or("", DeletionPropagation::as_str);
    let is_role = |kind: Kind| kind.kind.ends_with("Role");
    let access_label = if shape.kinds().any(is_role) { "grants" } else { "also" };
    let (cd_system, external) = match shape.node {
        Node::Application(system) => (system, ""),
        Node::External(name) => ("", name),
        _ => ("", ""),
    };
    let terms = [
        (!cd_system.is_empty(), "deployed by", cd_system.to_owned()),
        (!external.is_empty(), "manages", external.to_owned()),
        (remote, "in another cluster", String::new()),
        (background, "left there with the cluster", String::new()),
        (!deleted_with.is_empty(), "deleted with", deleted_with.to_owned()),
        (!count.is_empty(), count, String::new()),
        (once, "once", String::new()),
        (adopt, "adopts", from),
        (if_api, "if its API is there", String::new()),
        (delete.is_some(), "deleted in the", propagation.to_owned()),
        (timeout.is_some(), "timeout", timeout.map(duration_text).unwrap_or_default()),
        (retired, "retired", String::new()),
        (!access.is_empty() && !remote, access_label, access.iter().map(permission).collect::<Vec<_>>().join("; ")),
    ];
    terms.into_iter().filter(|(is_set, ..)| *is_set).map(|(_, label, value)| EdgeTerm { label, value }).collect()
}

/// Returns the kinds of a resource node's objects as text.
pub(super) fn kinds(shape: &Shape) -> String {
    shape.access.iter().map(subject).collect::<Vec<_>>().join(", ")
}

/// Returns the permissions of a node; none for a manifest that can't be read, which the linter reports.
pub(super) fn permissions(shape: &Shape) -> Vec<Access> {
    shape.permissions().unwrap_or_default()
}

/// Formats a permission: `Deployment/scale: get, patch`.
pub(super) fn permission(access: &Access) -> String {
    access.to_string()
}

/// Formats the target of a permission: a kind with its subresource, such as `Deployment/scale`, or a URL path of the API server.
pub(super) fn subject(access: &Access) -> String {
    match access.target {
        AccessTarget::Url(path) => path.to_owned(),
        AccessTarget::Objects { .. } => {
            let text = access.to_string();
            text.rsplit_once(": ").map_or_else(|| text.clone(), |(subject, _)| subject.to_owned())
        }
    }
}

/// Formats the verbs of a permission: `get, patch`.
pub(super) fn verbs(access: &Access) -> String {
    access.verbs.iter().copied().map(Verb::as_str).collect::<Vec<_>>().join(", ")
}

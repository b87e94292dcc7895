//! Checks the option `deleted_with(...)` of a tree node: it must name the node of the Namespace that contains the objects.

use super::dependency;
use crate::{
    diag::Diags,
    model::{
        child::{Child, DeletedWith, node_name},
        provisioner::{Node, Order, Provisioner},
        type_path::{last_segment, type_arguments},
    },
};
use syn::Type;

const NAMESPACE: &str = "Namespace";

/// Checks `deleted_with(namespace)` of the child at the index `at`: the operator deletes the Namespace instead of the child's objects. The
/// named node must be a child of the same group, must be a resource of the kind `Namespace`, and must be provisioned before this child.
pub(super) fn check(group: &Provisioner, at: usize, diags: &mut Diags) {
    let child = &group.children[at];
    let Some(DeletedWith { key, node }) = &child.deleted_with else { return };
    check_child(child, diags);
    let name = &node.0[0];
    if let Some(inner) = node.0.get(1) {
        let fix = format!("write `{key}({name})`, or move `{key}` into the group of the Namespace");
        return diags.error(inner, format!("`{key}` takes a child of this group"), fix);
    }
    if node_name(name) == child.name() {
        return diags.error(name, format!("`{name}` can't be deleted with itself"), "name the node of a Namespace");
    }
    let Some(source) = dependency::find_earlier(group, at, name, &[], diags) else { return };
    let fix = "name a resource of the kind `Namespace`";
    if source.resource.is_none() {
        return diags.conflict(name, format!("`{name}` is not a resource"), fix, &source.ident, "declared here");
    }
    if let Some(kind) = kind_name(&source.ty).filter(|kind| kind != NAMESPACE) {
        let problem = format!("`{name}` is a `{kind}`, not a `{NAMESPACE}`");
        return diags.conflict(name, problem, fix, &source.ty, "this is its kind");
    }
    let is_concurrent = matches!(group.node(), Node::Group { up: Order::Concurrent, .. });
    if is_concurrent && !begins_after(group, at, &source.name()) {
        let problem = format!("`{}` does not wait for its Namespace", child.ident);
        diags.error(name, problem, format!("add `after({name})`"));
    }
}

/// Reports `deleted_with` on a child whose objects are not in a Namespace of the operator's cluster: a remote node or an application. The
/// compiler reports a cluster-scoped kind, by a trait bound of a function that the expansion calls.
fn check_child(child: &Child, diags: &mut Diags) {
    let Some(DeletedWith { key, .. }) = &child.deleted_with else { return };
    if let Some(remote) = &child.remote {
        let fix = "remove it, and use it in the group below; `remote(background)` leaves the objects to the cluster";
        let problem = "the objects of a remote node are in another cluster than the Namespace";
        diags.conflict(key, problem, fix, &remote.key, "this makes it remote");
    }
    if let Some((application, _)) = &child.application {
        let problem = "the CD system removes the objects of an application";
        diags.conflict(key, problem, "remove it", application, "this makes it an application");
    }
}

/// Returns the last segment of the type of a resource, without an `Option` or `Vec` around it: the name of its kind. Returns `None` for a
/// type that is written as a macro.
fn kind_name(ty: &Type) -> Option<String> {
    let segment = last_segment(ty)?;
    let name = segment.ident.to_string();
    match (name.as_str(), type_arguments(segment).as_slice()) {
        ("Option" | "Vec", [inner]) => kind_name(inner),
        _ => Some(name),
    }
}

/// Returns whether the child at the index `at` of a concurrent group begins after the child `name`, because its `after` or `from` names
/// that child directly or through other children.
fn begins_after(group: &Provisioner, at: usize, name: &str) -> bool {
    let child = &group.children[at];
    let named = child.after.iter().chain(&child.from).filter_map(|path| group.child(&path.0[0]));
    // Only earlier children are followed, so that the recursion ends. `dependency::check` reports names of later children.
    let mut earlier = named.filter(|(index, _)| *index < at);
    earlier.any(|(index, other)| other.name() == name || begins_after(group, index, name))
}

//! Checks the tree nodes that a node names in `after(...)` and `from(...)`, and the names of inputs.

use crate::{
    attrs::provisioner::{NamedType, NodePath},
    diag::Diags,
    model::{
        child::{Child, node_name},
        provisioner::{Node, Order, Provisioner},
    },
};
use proc_macro2::Ident;

/// Checks the nodes that the child at the index `at` names in `after(...)` and `from(...)`: those on which it depends.
pub(super) fn check(group: &Provisioner, at: usize, diags: &mut Diags) {
    let child = &group.children[at];
    for (key, nodes) in [("after", &child.after), ("from", &child.from)] {
        check_duplicates(key, nodes, diags);
    }
    for node in &child.after {
        check_after(group, at, node, diags);
    }
    for node in &child.from {
        check_from(group, at, node, diags);
    }
}

/// Reports repeated names in `inputs(...)` of a group or a hand-written node.
pub(super) fn check_inputs(inputs: &[NamedType], diags: &mut Diags) {
    for (at, NamedType { name, .. }) in inputs.iter().enumerate() {
        if let Some(first) = inputs[..at].iter().find(|first| node_name(&first.name) == node_name(name)) {
            diags.conflict(
                name,
                format!("input `{name}` is declared twice"),
                "keep one",
                &first.name,
                "first declared here",
            );
        }
    }
}

/// Reports nodes that `after` or `from` names twice.
fn check_duplicates(key: &str, nodes: &[NodePath], diags: &mut Diags) {
    for (at, node) in nodes.iter().enumerate() {
        let text = node.text(".");
        if let Some(first) = nodes[..at].iter().find(|first| first.text(".") == text) {
            let problem = format!("`{text}` is a duplicate in `{key}`");
            diags.conflict(&node.0[0], problem, "keep one", &first.0[0], "first used here");
        }
    }
}

/// Checks one node in the `after(...)` of the child at the index `at`. The node must be an earlier child of the same group, and the group
/// concurrent, since a serial group has an order already.
fn check_after(group: &Provisioner, at: usize, node: &NodePath, diags: &mut Diags) {
    let name = &node.0[0];
    if let Some(inner) = node.0.get(1) {
        let fix = format!("write `after({name})`, which waits for the whole child");
        return diags.error(inner, "`after` takes children of this group", fix);
    }
    if matches!(group.node(), Node::Group { up: Order::Serial, .. }) {
        let fix = "remove it, or make the group concurrent";
        return diags.error(name, "the children of a serial group already run in their order", fix);
    }
    find_earlier(group, at, name, &[], diags);
}

/// Finds the child `name`, on which the child at the index `at` depends. A dependency must be declared before its dependent, so that
/// dependencies have no cycle. Returns `None` after reporting an unknown or later child, or the child itself. The message about an unknown
/// name suggests the names of earlier children and of `inputs`; the caller has already looked for the name in `inputs`.
pub(super) fn find_earlier<'g>(
    group: &'g Provisioner,
    at: usize,
    name: &Ident,
    inputs: &[NamedType],
    diags: &mut Diags,
) -> Option<&'g Child> {
    match group.child(name) {
        Some((index, child)) if index < at => return Some(child),
        Some((index, _)) if index == at => {
            diags.error(name, format!("`{name}` cannot wait for itself"), "remove it");
        }
        Some((_, later)) => {
            let problem = format!("`{name}` is declared later");
            diags.conflict(name, problem, "declare it before this field", &later.ident, "declared here");
        }
        None => {
            let children = group.children[..at].iter().map(Child::name);
            let known: Vec<String> = children.chain(inputs.iter().map(|input| node_name(&input.name))).collect();
            if known.is_empty() {
                diags.error(name, format!("unknown child `{name}`"), "remove it; no child is declared before this one");
            } else {
                diags.unknown("child", name, &known.iter().map(String::as_str).collect::<Vec<_>>());
            }
        }
    }
    None
}

/// Checks one node in the `from(...)` of the child at the index `at`, which reads the value of that node. The node must be an input of the
/// group, an earlier child, or a child of an earlier child. If a reconcile can skip the node (`when`, `if_api`), it must be able to skip
/// the reader as well.
fn check_from(group: &Provisioner, at: usize, node: &NodePath, diags: &mut Diags) {
    let (name, nested) = (&node.0[0], &node.0[1..]);
    if group.input_index(name).is_some() {
        if let Some(inner) = nested.first() {
            let fix = format!("write `from({name})`");
            diags.error(inner, format!("`{name}` is an input, and can only be read as a whole"), fix);
        }
        return;
    }
    let Some(source) = find_earlier(group, at, name, &group.inputs, diags) else { return };
    let reader = &group.children[at];
    if source.manifest.is_some() {
        let problem = format!("`{name}` is a manifest, which has no output");
        return diags.error(name, problem, "make the object a separate resource");
    }
    if source.application.is_some() {
        let problem = format!("`{name}` is an application, which has no output");
        return diags.error(name, problem, "read its objects in a hand-written node after it");
    }
    if let (Some(_), Some(inner)) = (&source.remote, nested.first()) {
        let problem = format!("the children of `{name}` are in another cluster");
        let fix = format!("give `{name}` an `output`, and read it with `from({name})`");
        return diags.error(inner, problem, fix);
    }
    if source.each.is_some() {
        let problem = format!("`{name}` has `each`, so it is several nodes");
        return diags.error(name, problem, "read the objects in a hand-written node");
    }
    if source.is_conditional() && !reader.is_conditional() {
        let problem = format!("`{name}` is not always present, but `{}` is", reader.ident);
        let fix = if source.resource.is_some() && source.if_api.is_none() {
            "add a `when` to this field, or make the source an `Option`"
        } else {
            "add a `when` to this field"
        };
        return diags.conflict(name, problem, fix, &source.ident, "this one has a condition");
    }
    match nested {
        [inner, ..] if source.resource.is_some() => {
            diags.error(inner, format!("`{name}` has no children"), format!("write `from({name})`"));
        }
        [inner] => check_child_name(inner, diags),
        [_, deeper, ..] => {
            diags.error(deeper, "only children of children can be read", "move this field or its source closer");
        }
        [] => (),
    }
}

/// Reports a name that no field can have: a path keyword such as `self`, which can't be a raw identifier either.
fn check_child_name(inner: &Ident, diags: &mut Diags) {
    if ["self", "Self", "super", "crate", "_"].iter().any(|word| inner == word) {
        diags.error(inner, format!("`{inner}` is not a child"), "use the name of the field");
    }
}

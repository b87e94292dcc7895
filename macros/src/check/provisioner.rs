//! Checks the input of `#[derive(Provisioner)]`: a group of tree nodes with its children, or a hand-written tree node.

use super::{Checked, access, child, dependency};
use crate::{
    attrs::provisioner::NamedType,
    diag::Diags,
    model::{
        child::node_name,
        provisioner::{Node, Provisioner, StructStyle},
    },
};
use proc_macro2::Ident;

/// Checks a tree node, and wraps the model in `Checked` if `diags` has no errors. Otherwise it returns the model as the error, from which
/// the macro still generates a node without children to avoid follow-up errors.
pub(crate) fn check(model: Provisioner, diags: &mut Diags) -> Result<Checked<Provisioner>, Box<Provisioner>> {
    if let StructStyle::NotStruct(found) = model.style {
        let problem = format!("`#[derive(Provisioner)]` needs a struct, found {found}");
        diags.error(&model.ident, problem, "make it a struct");
    }
    if !model.generics.params.is_empty() {
        let fix = "remove the parameters; a hand-written node can implement `Provision<O>` for every owner `O`";
        diags.error(&model.generics, format!("`{}` is generic, but a node is one type", model.ident), fix);
    }
    check_combination(&model, diags);
    dependency::check_inputs(&model.inputs, diags);
    match model.node() {
        // `check_combination` has reported the keys of two kinds of nodes.
        Node::Group { .. } if model.is_custom => (),
        Node::Group { .. } => check_group(&model, diags),
        Node::Custom => check_custom(&model, diags),
        Node::Unspecified => (),
    }
    if diags.has_errors() { Err(Box::new(model)) } else { Ok(Checked(model)) }
}

/// Checks that the keys select one kind of node: `serial`, `concurrent`, `up` with `down`, or `access`.
fn check_combination(model: &Provisioner, diags: &mut Diags) {
    if model.node_keys.is_empty() && !diags.has_errors() {
        diags.missing(
            format!("`{}` doesn't declare its kind of node", model.ident),
            "add `#[provisioner(serial, owner = Kind)]`, `concurrent` instead of `serial`, or `access(...)`",
        );
    }
    // `up` and `down` belong together. Any other two different keys contradict each other.
    let Some((first, rest)) = model.node_keys.split_first() else { return };
    let is_direction = |key: &Ident| key == "up" || key == "down";
    if is_direction(first) && rest.is_empty() && !diags.has_errors() {
        let other = if first == "up" { "down" } else { "up" };
        diags.error(
            first,
            format!("`{first}` without `{other}`"),
            format!("add `{other} = serial` or `{other} = concurrent`"),
        );
    }
    // One error is enough: `serial` with both `up` and `down` is one mistake.
    if let Some(other) = rest.iter().find(|other| *other != first && !(is_direction(first) && is_direction(other))) {
        let group = if first == "access" { other } else { first };
        let fix = if other == "access" || first == "access" {
            format!("keep `{group}` and move the code into a child, or keep `access` for a hand-written node")
        } else {
            "keep one".to_owned()
        };
        diags.conflict(other, format!("`{other}` cannot be combined with `{first}`"), fix, first, "also set here");
    }
}

/// Checks a group: its owner, and each of its children.
fn check_group(model: &Provisioner, diags: &mut Diags) {
    if model.owner.is_none() && !diags.has_errors() {
        diags.missing(
            "missing `owner` in `#[provisioner(...)]`",
            "add `owner = Kind`, the managed kind that the tree is for",
        );
    }
    match model.style {
        StructStyle::Named if model.children.is_empty() => {
            diags.error(&model.ident, format!("`{}` has no children", model.ident), "add a field for each");
        }
        StructStyle::Named | StructStyle::NotStruct(_) => (),
        StructStyle::Tuple => {
            diags.error(
                &model.ident,
                "the children of a group need names",
                "name each field; the function with that name builds its object",
            );
        }
        StructStyle::Unit => {
            diags.error(&model.ident, format!("`{}` has no children", model.ident), "add a field for each, in braces")
        }
    }
    if let Some(output) = &model.output_key {
        diags.error(output, "a group has no output", "remove it, and read a child with `from(group.child)`");
    }
    check_names(model, diags);
    for at in 0..model.children.len() {
        child::check(model, at, diags);
    }
}

/// Checks the names in `inputs(...)` and `retired(...)`: no input and no retired node (a child of an earlier release) has the name of a
/// child, and each retired node has a kind and is listed once.
fn check_names(model: &Provisioner, diags: &mut Diags) {
    for NamedType { name, .. } in &model.inputs {
        if let Some((_, child)) = model.child(name) {
            let problem = format!("`{name}` is both an input and a child");
            diags.conflict(name, problem, "rename one", &child.ident, "also used here");
        }
    }
    for (at, NamedType { name, ty }) in model.retired.iter().enumerate() {
        if let Some((_, child)) = model.child(name) {
            let problem = format!("`{name}` is both retired and a child");
            diags.conflict(name, problem, "remove one", &child.ident, "still a child here");
        }
        let before = &model.retired[..at];
        if let Some(first) = before.iter().find(|first| node_name(&first.name) == node_name(name) && first.ty == *ty) {
            diags.conflict(name, format!("`{name}` is retired twice"), "keep one", &first.name, "first retired here");
        }
        if !child::is_named(ty) {
            diags.error(ty, "a retired node needs a kind", "write the type of its objects: `config: ConfigMap`");
        }
    }
}

/// Checks a hand-written node: it has no owner, retired nodes or children, and valid access rights.
fn check_custom(model: &Provisioner, diags: &mut Diags) {
    if let Some(owner) = &model.owner_key {
        let fix = format!("remove it; `impl Provision<Kind> for {}` defines it", model.ident);
        diags.error(owner, "`owner` is only for groups", fix);
    }
    if let Some(retired) = &model.retired_key {
        diags.error(retired, "`retired` is only for groups", "move it to the group that the node was a child of");
    }
    for key in model.children.iter().filter_map(|child| child.keys.first()) {
        let fix = "remove it, or write `serial` instead of `access(...)`";
        diags.error(key, "a hand-written node has no children", fix);
    }
    access::check(&model.access, diags);
    access::check_calls(&model.access, diags);
}

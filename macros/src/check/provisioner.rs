//! The rules for a node of a tree.

use super::{Checked, access};
use crate::{
    diag::Diags,
    model::{
        managed::{last_segment, type_arguments},
        provisioner::{Child, Form, Node, Provisioner},
    },
};
use syn::Type;

pub(crate) fn check(model: Provisioner, diags: &mut Diags) -> Result<Checked<Provisioner>, Box<Provisioner>> {
    if let Form::NoStruct(found) = model.form {
        let what = format!("`#[derive(Provisioner)]` needs a struct, found {found}");
        diags.error(&model.ident, what, "make it a struct");
    }
    if !model.generics.params.is_empty() {
        let fix = "remove the parameters; a hand-written node can implement `Provision<O>` for every owner `O`";
        diags.error(&model.generics, format!("`{}` is generic, and a node is one type", model.ident), fix);
    }
    combination(&model, diags);
    match model.node {
        Node::Serial | Node::Concurrent => group(&model, diags),
        Node::Custom => by_hand(&model, diags),
        Node::Open => (),
    }
    if diags.has_errors() { Err(Box::new(model)) } else { Ok(Checked(model)) }
}

fn combination(model: &Provisioner, diags: &mut Diags) {
    if model.node_keys.is_empty() && !diags.has_errors() {
        diags.missing(
            format!("`{}` doesn't say what kind of node it is", model.ident),
            "add `#[provisioner(serial, owner = Kind)]`, `concurrent` instead of `serial`, or `access(...)`",
        );
    }
    let Some((first, rest)) = model.node_keys.split_first() else { return };
    for other in rest.iter().filter(|other| *other != first) {
        let group = if first == "access" { other } else { first };
        let fix = if other == "access" || first == "access" {
            format!("keep `{group}` and move the work into a child, or keep `access` and write the node by hand")
        } else {
            "keep one".to_owned()
        };
        diags.conflict(other, format!("`{other}` cannot be combined with `{first}`"), fix, first, "also set here");
    }
}

fn group(model: &Provisioner, diags: &mut Diags) {
    if model.owner.is_none() && !diags.has_errors() {
        diags.missing(
            "missing `owner` in `#[provisioner(...)]`",
            "add `owner = Kind`, the managed kind that the tree is for",
        );
    }
    match model.form {
        Form::Named if model.children.is_empty() => {
            diags.error(&model.ident, format!("`{}` has no children", model.ident), "add a field for each");
        }
        Form::Named | Form::NoStruct(_) => (),
        Form::Tuple => {
            diags.error(
                &model.ident,
                "the children of a group have names",
                "give each field a name; the function of that name builds it",
            );
        }
        Form::Unit => {
            diags.error(&model.ident, format!("`{}` has no children", model.ident), "add a field for each, in braces")
        }
    }
    for field in &model.children {
        child(field, diags);
    }
}

fn child(child: &Child, diags: &mut Diags) {
    let name = child.name();
    if child.resource.is_some() && ["provision", "deprovision"].contains(&name.as_str()) {
        let what = format!("a resource named `{name}` hides what every node does");
        diags.error(&child.ident, what, "rename the field and its function");
    }
    match &child.ty {
        Type::Path(_) | Type::Group(_) | Type::Paren(_) | Type::Macro(_) => (),
        other => {
            let fix = "write the type of a kind, `Option` or `Vec` of one, or a provisioner";
            return diags.error(other, "a child is a named type", fix);
        }
    }
    let Some(segment) = last_segment(&child.ty) else { return };
    let outer = segment.ident.to_string();
    let arguments = type_arguments(segment);
    match (outer.as_str(), arguments.as_slice(), child.resource.is_some()) {
        ("Option" | "Vec", [inner], true) if wrapper(inner) => {
            let fix = "use the kind, `Option` of it (wanted or removed), or `Vec` of it (any number)";
            diags.error(&child.ty, "a resource is wanted once, perhaps, or many times", fix);
        }
        ("Box" | "Arc" | "Rc" | "HashMap" | "BTreeMap" | "HashSet" | "BTreeSet" | "Result", _, true) => {
            let fix = "use the kind, `Option` of it (wanted or removed), or `Vec` of it (any number)";
            diags.error(&child.ty, format!("`{outer}` says nothing of how many objects there are"), fix);
        }
        ("Option" | "Vec" | "Box" | "Arc" | "Rc", [_], false) => {
            let fix = "name the provisioner itself, or add `#[provisioner(resource)]` if it is a kind";
            diags.error(
                &child.ty,
                format!("a provisioner is a type, never a value, so `{outer}` of it has no meaning"),
                fix,
            );
        }
        _ => (),
    }
}

fn wrapper(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|segment| ["Option", "Vec"].iter().any(|wrapper| segment.ident == wrapper))
}

fn by_hand(model: &Provisioner, diags: &mut Diags) {
    if let Some(owner) = &model.owner_key {
        let fix = format!("remove it; `impl Provision<Kind> for {}` says it", model.ident);
        diags.error(owner, "`owner` is for groups", fix);
    }
    for child in &model.children {
        if let Some(resource) = &child.resource {
            diags.error(
                resource,
                "a hand-written node has no children",
                "remove it, or write `serial` instead of `access(...)`",
            );
        }
    }
    access::check(&model.access, diags);
}

//! The rules for a child of a group.

use crate::{
    attrs::provisioner::NodePath,
    diag::Diags,
    model::{
        child::Child,
        managed::{last_segment, type_arguments},
        provisioner::{Node, Order, Provisioner},
    },
};
use proc_macro2::Ident;
use syn::{Expr, Type};

pub(super) fn check(group: &Provisioner, at: usize, diags: &mut Diags) {
    let child = &group.children[at];
    name(child, diags);
    ty(child, diags);
    terms(child, diags);
    for node in &child.after {
        after(group, at, node, diags);
    }
    for node in &child.from {
        from(group, at, node, diags);
    }
    for closure in [&child.when, &child.each].into_iter().flatten() {
        arguments(child, closure, diags);
    }
}

fn name(child: &Child, diags: &mut Diags) {
    let name = child.name();
    if child.has_function() && ["provision", "deprovision", "keys"].contains(&name.as_str()) {
        let what = format!("a resource named `{name}` hides what every node does");
        diags.error(&child.ident, what, "rename the field and its function");
    }
}

/// What is said of the field fits together.
fn terms(child: &Child, diags: &mut Diags) {
    if let (Some(each), Some(_)) = (&child.each_key, &child.resource) {
        diags.error(each, "`each` is for provisioners", "remove it, and let the function build a `Vec` of the kind");
    }
    manifest(child, diags);
    match (&child.each_key, &child.key_key) {
        (Some(each), None) => {
            let fix = "add `key = |item| ...`, by which its child is found again";
            diags.error(each, "an item has no key", fix);
        }
        (None, Some(key)) => {
            diags.error(key, "`key` is for the items of `each`", "add `each = |object| ...`, or remove it")
        }
        _ => (),
    }
    if let (Some(if_api), None) = (&child.if_api, &child.resource) {
        let fix = "move it to the resources below whose kind may be missing";
        diags.error(if_api, "`if_api` is for resources", fix);
    }
}

fn manifest(child: &Child, diags: &mut Diags) {
    let Some((key, manifest)) = &child.manifest else { return };
    if let Some(resource) = &child.resource {
        let what = "a field is a resource or a manifest";
        diags.conflict(key, what, "keep one", &resource.word, "the other is here");
    }
    if let Some(each) = &child.each_key {
        diags.error(each, "`each` is for provisioners", "make the manifest a child of the group that `each` names");
    }
    if manifest.file.is_none() && manifest.kinds.is_empty() {
        let fix = "name a file: `manifest = \"manifests/agent.yaml\"`; or the kinds that the function gives: `manifest(ConfigMap)`";
        diags.error(key, "a manifest has a file, or kinds", fix);
    }
    if let Some(file) = manifest.file.as_ref().filter(|file| file.value().is_empty() || file.value().starts_with('/')) {
        let fix = "write a path from the crate's root, for example `\"manifests/agent.yaml\"`";
        diags.error(file, format!("`\"{}\"` is no file of the crate", file.value()), fix);
    }
    if let (Some(from), Some(_)) = (&child.from_key, &manifest.file) {
        let fix = "remove it, or let a function give the text: `manifest(ConfigMap)`";
        diags.error(from, "a file takes no values", fix);
    }
    let is_meant = last_segment(&child.ty).is_some_and(|segment| segment.ident == "Manifest");
    if child.resource.is_none() && !is_meant {
        diags.error(&child.ty, "the type of a manifest is `Manifest`", "write `Manifest`, which is in opgen's prelude");
    }
}

fn after(group: &Provisioner, at: usize, node: &NodePath, diags: &mut Diags) {
    let [name] = node.0.as_slice() else {
        return diags.error(&node.0[0], "`after` names children of this group", "name the child that holds the node");
    };
    if matches!(group.node(), Node::Group { up: Order::Serial, .. }) {
        let fix = "remove it, or make the group concurrent";
        return diags.error(name, "the children of a serial group already run in their order", fix);
    }
    earlier(group, at, name, diags);
}

/// Children come after those declared before them, so there is no circle.
fn earlier<'g>(group: &'g Provisioner, at: usize, name: &Ident, diags: &mut Diags) -> Option<&'g Child> {
    match group.child(name) {
        Some((place, child)) if place < at => Some(child),
        Some((place, _)) if place == at => {
            diags.error(name, format!("`{name}` cannot wait for itself"), "remove it");
            None
        }
        Some((_, later)) => {
            let what = format!("`{name}` comes later");
            diags.conflict(name, what, "declare it before this field", &later.ident, "declared here");
            None
        }
        None => {
            let before: Vec<String> = group.children[..at].iter().map(Child::name).collect();
            let fix = match before.is_empty() {
                true => "there is none before this one".to_owned(),
                false => format!("use one of `{}`", before.join("`, `")),
            };
            diags.error(name, format!("the group has no child `{name}`"), fix);
            None
        }
    }
}

fn from(group: &Provisioner, at: usize, node: &NodePath, diags: &mut Diags) {
    let (name, below) = (&node.0[0], &node.0[1..]);
    if group.taken(name).is_some() && below.is_empty() {
        return;
    }
    let Some(source) = earlier(group, at, name, diags) else { return };
    let reader = &group.children[at];
    if source.manifest.is_some() {
        let what = format!("`{name}` is a manifest, which hands nothing on");
        return diags.error(name, what, "make what is read a resource of its own");
    }
    if source.each.is_some() {
        let what = format!("`{name}` is a node for each item, and it is open which is meant");
        return diags.error(name, what, "read the objects in a hand-written node");
    }
    if source.is_conditional() && !reader.is_conditional() {
        let what = format!("`{name}` is not always there, and `{}` is", reader.ident);
        let fix = "give this field a `when`, too; or make the source an `Option` instead of a condition";
        diags.conflict(name, what, fix, &source.ident, "this one has a condition");
    }
    match below {
        [] => (),
        [_] if source.resource.is_none() => (),
        [inner, ..] if source.resource.is_some() => {
            diags.error(inner, format!("`{name}` has no children"), format!("write `from({name})`"));
        }
        [_, deeper, ..] => {
            diags.error(deeper, "only children of children can be read", "let the group between hand it on");
        }
        [..] => (),
    }
}

/// A closure takes the object alone, or also all that `from` names.
fn arguments(child: &Child, asked: &Expr, diags: &mut Diags) {
    let Expr::Closure(closure) = asked else { return };
    let (given, all) = (closure.inputs.len(), child.from.len() + 1);
    if given != 1 && given != all {
        let what = format!("the closure takes {given} arguments");
        let fix = match all {
            1 => "let it take one, the object".to_owned(),
            _ => format!("let it take one, the object, or {all}: also what `from` names"),
        };
        return diags.error(&closure.inputs, what, fix);
    }
    if given > 4 {
        diags.error(&closure.inputs, "a closure takes four arguments at most", "name a function instead");
    }
}

fn ty(child: &Child, diags: &mut Diags) {
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

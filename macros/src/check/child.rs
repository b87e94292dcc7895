//! The rules for a child of a group.

use super::{data, role};
use crate::{
    diag::Diags,
    model::{
        child::Child,
        managed::{last_segment, type_arguments},
        provisioner::Provisioner,
    },
};
use syn::{Expr, ExprClosure, Type};

pub(super) fn check(group: &Provisioner, at: usize, diags: &mut Diags) {
    let child = &group.children[at];
    name(child, diags);
    ty(child, diags);
    terms(child, diags);
    role::check(child, diags);
    managers(child, diags);
    for (key, asked) in child.questions() {
        question(child, key, asked, diags);
    }
    data::check(group, at, diags);
}

fn name(child: &Child, diags: &mut Diags) {
    let name = child.name();
    if child.has_function() && ["provision", "deprovision", "keys"].contains(&name.as_str()) {
        let what = format!("a resource named `{name}` hides what every node does");
        diags.error(&child.ident, what, "rename the field and its function");
    }
}

/// The field managers that an object is taken over from.
fn managers(child: &Child, diags: &mut Diags) {
    let Some((_, managers)) = child.resource.as_ref().and_then(|resource| resource.adopt.as_ref()) else { return };
    for (at, manager) in managers.iter().enumerate() {
        if manager.value().is_empty() {
            diags.error(
                manager,
                "a field manager has a name",
                "write it as `managedFields` does, or write `adopt` alone",
            );
        } else if let Some(first) = managers[..at].iter().find(|first| first.value() == manager.value()) {
            let what = format!("`{}` is named twice", manager.value());
            diags.conflict(manager, what, "keep one", first, "first named here");
        }
    }
}

/// What is said of the field fits together.
fn terms(child: &Child, diags: &mut Diags) {
    if let (Some(each), Some(resource)) = (&child.each_key, &child.resource) {
        let fix = "remove it, and let the function build a `Vec` of the kind";
        diags.conflict(each, "`each` is for provisioners", fix, &resource.word, "this makes it a resource");
    }
    manifest(child, diags);
    match (&child.each_key, &child.key_key) {
        (Some(each), None) if !diags.has_errors() => {
            let fix = "add `key = |item| ...`, by which its child is found again";
            diags.error(each, "an item has no key", fix);
        }
        (None, Some(key)) if !diags.has_errors() => {
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

/// A question is a closure, which is shown the object, or a function.
fn question(child: &Child, key: &str, asked: &Expr, diags: &mut Diags) {
    match asked {
        Expr::Closure(closure) => {
            if let Some(asyncness) = &closure.asyncness {
                let fix = "ask in a hand-written node, which gives the answer to this one";
                return diags.error(asyncness, format!("the closure of `{key}` cannot wait"), fix);
            }
            arguments(child, key, closure, diags);
        }
        Expr::Path(_) => (),
        other => {
            let fix = format!("write `{key} = |{}| ...`, or name a function", subject(key));
            diags.error(other, format!("`{key}` asks a closure or a function"), fix);
        }
    }
}

fn subject(key: &str) -> &'static str {
    if key == "key" { "item" } else { "object" }
}

/// A closure takes the object alone, or also all that `from` names.
fn arguments(child: &Child, key: &str, closure: &ExprClosure, diags: &mut Diags) {
    let (given, subject) = (closure.inputs.len(), subject(key));
    let all = if key == "key" { 1 } else { child.from.len() + 1 };
    if given == 0 {
        let what = format!("the closure of `{key}` takes nothing");
        return diags.error(closure.inputs_begin, what, format!("let it take the {subject}: `|{subject}| ...`"));
    }
    if given != 1 && given != all {
        let fix = match all {
            1 => format!("let it take one, the {subject}"),
            _ => format!("let it take one, the object, or {all}: also what `from` names"),
        };
        return diags.error(&closure.inputs, format!("the closure of `{key}` takes {given} arguments"), fix);
    }
    if given > 4 {
        diags.error(&closure.inputs, "a closure takes four arguments at most", "name a function instead");
    }
}

fn ty(child: &Child, diags: &mut Diags) {
    if !is_named(&child.ty) {
        let fix = "write the type of a kind, `Option` or `Vec` of one, or a provisioner";
        return diags.error(&child.ty, "a child is a named type", fix);
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
        ("Vec", [_], false) if child.each.is_some() => {
            diags.error(&child.ty, "`each` makes the children, one for each item", "name the provisioner itself");
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

pub(super) fn is_named(ty: &Type) -> bool {
    matches!(ty, Type::Path(_) | Type::Group(_) | Type::Paren(_) | Type::Macro(_))
}

fn wrapper(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|segment| ["Option", "Vec"].iter().any(|wrapper| segment.ident == wrapper))
}

//! Checks a child of a group of tree nodes: its name, type, options and closures.

use super::{dependency, namespace, role};
use crate::{
    diag::Diags,
    model::{
        child::Child,
        provisioner::Provisioner,
        type_path::{last_segment, type_arguments},
    },
};
use syn::{Expr, ExprClosure, Type};

/// The maximum number of arguments of a closure: opgen calls it through `call1` to `call4` of its private module.
const MAX_ARGUMENTS: usize = 4;

/// Checks the child at the index `at` of a group of tree nodes: its name, type, keys and closures, and the nodes that it names.
pub(super) fn check(group: &Provisioner, at: usize, diags: &mut Diags) {
    let child = &group.children[at];
    check_name(child, diags);
    check_type(child, diags);
    check_combination(child, diags);
    role::check(child, diags);
    check_managers(child, diags);
    for (key, expression) in child.closures() {
        check_closure(child, key, expression, diags);
    }
    dependency::check(group, at, diags);
    namespace::check(group, at, diags);
}

/// Reports a child whose build function would shadow a function of the traits of a node (`provision`, `deprovision`, `keys`). The build
/// function is an associated function with the name of the field.
fn check_name(child: &Child, diags: &mut Diags) {
    let name = child.name();
    if child.has_function() && ["provision", "deprovision", "keys"].contains(&name.as_str()) {
        let problem = format!("a resource named `{name}` shadows a function of every node");
        diags.error(&child.ident, problem, "rename the field and its function");
    }
}

/// Reports empty and repeated names of field managers in `resource(adopt("helm"))`.
fn check_managers(child: &Child, diags: &mut Diags) {
    let Some((_, managers)) = child.resource.as_ref().and_then(|resource| resource.adopt.as_ref()) else { return };
    for (at, manager) in managers.iter().enumerate() {
        if manager.value().is_empty() {
            diags.error(
                manager,
                "the name of a field manager is empty",
                "use the name in `managedFields`, or write `adopt` without a value",
            );
        } else if let Some(first) = managers[..at].iter().find(|first| first.value() == manager.value()) {
            let problem = format!("`{}` is a duplicate", manager.value());
            diags.conflict(manager, problem, "keep one", first, "first used here");
        }
    }
}

/// Reports keys that exclude or require each other: `each` on a resource, `each` without `key` or the reverse, and `if_api` on a
/// provisioner. Also checks `manifest`, `application` and `remote`.
fn check_combination(child: &Child, diags: &mut Diags) {
    if let (Some(each), Some(resource)) = (&child.each_key, &child.resource) {
        let fix = "remove it, and let the function build a `Vec` of the kind";
        diags.conflict(each, "`each` is only for provisioners", fix, &resource.key, "this makes it a resource");
    }
    check_manifest(child, diags);
    check_application(child, diags);
    check_remote(child, diags);
    match (&child.each_key, &child.key_key) {
        // After another error, `each` or `key` may be absent because its value is invalid.
        (Some(each), None) if !diags.has_errors() => {
            let fix = "add `key = |item| ...`, which identifies the child of an item";
            diags.error(each, "`key` is missing", fix);
        }
        (None, Some(key)) if !diags.has_errors() => {
            diags.error(key, "`key` needs `each`", "add `each = |object| ...`, or remove it")
        }
        _ => (),
    }
    if let (Some(if_api), None) = (&child.if_api, &child.resource) {
        let fix = "move it to the resources in the group whose kind may be missing";
        diags.error(if_api, "`if_api` is only for resources", fix);
    }
}

/// Checks a child with the key `manifest`: its file, its kinds, the type of its field, and keys that can't be combined with `manifest`.
fn check_manifest(child: &Child, diags: &mut Diags) {
    let Some((key, manifest)) = &child.manifest else { return };
    if let Some(resource) = &child.resource {
        let problem = "a field can't be both a resource and a manifest";
        diags.conflict(key, problem, "keep one", &resource.key, "the other is here");
    }
    if let Some(each) = &child.each_key {
        diags.error(each, "`each` is only for provisioners", "use a group with `each` and make the manifest its child");
    }
    if manifest.file.is_none() && manifest.kinds.is_empty() {
        let fix = "set a file: `manifest = \"manifests/agent.yaml\"`; \
                   or the kinds of the function: `manifest(ConfigMap)`";
        diags.error(key, "a manifest needs a file or kinds", fix);
    }
    if let Some(file) = manifest.file.as_ref().filter(|file| file.value().is_empty() || file.value().starts_with('/')) {
        let fix = "write a path from the crate's root, for example `\"manifests/agent.yaml\"`";
        diags.error(file, format!("`\"{}\"` is not a file of the crate", file.value()), fix);
    }
    if let (Some(from), Some(_)) = (&child.from_key, &manifest.file) {
        let fix = "remove it, or build the text in a function: `manifest(ConfigMap)`";
        diags.error(from, "a manifest from a file has no inputs", fix);
    }
    let is_manifest = last_segment(&child.ty).is_some_and(|segment| segment.ident == "Manifest");
    if child.resource.is_none() && !is_manifest {
        diags.error(&child.ty, "the type of a manifest is `Manifest`", "use `Manifest` from opgen's prelude");
    }
}

/// Checks a child with the key `application`: its driver, the type of its field, and keys that can't be combined with `application`.
fn check_application(child: &Child, diags: &mut Diags) {
    let Some((key, driver)) = &child.application else { return };
    let resource = child.resource.as_ref().map(|resource| ("a resource", &resource.key));
    let manifest = child.manifest.as_ref().map(|(key, _)| ("a manifest", key));
    if let Some((other, first)) = resource.or(manifest) {
        let problem = format!("a field can't be both {other} and an application");
        diags.conflict(key, problem, "keep one", first, "the other is here");
    }
    if let Some(each) = &child.each_key {
        let fix = "use a group with `each` and make the application its child";
        diags.error(each, "`each` is only for provisioners", fix);
    }
    if driver.is_none() {
        diags.error(
            key,
            "an application needs a driver",
            "name it: `application(ArgoCd)` or `application(flux::HelmCharts)`",
        );
    }
    let is_application = last_segment(&child.ty).is_some_and(|segment| segment.ident == "Application");
    if child.resource.is_none() && child.manifest.is_none() && !is_application {
        diags.error(&child.ty, "the type of an application is `Application`", "use `opgen::cd::Application`");
    }
}

/// Reports keys that can't be combined with `remote`: `resource`, `manifest`, `application` and `each`.
fn check_remote(child: &Child, diags: &mut Diags) {
    let Some(key) = child.remote.as_ref().map(|remote| &remote.key) else { return };
    let resource = child.resource.as_ref().map(|resource| &resource.key);
    let manifest = child.manifest.as_ref().map(|(key, _)| key);
    let application = child.application.as_ref().map(|(key, _)| key);
    if let Some(first) = resource.or(manifest).or(application) {
        let fix = "make it a child of a group, and the group `remote`";
        diags.conflict(key, "only a provisioner can be in another cluster", fix, first, "this makes it none");
    }
    if let Some(each) = &child.each_key {
        let fix = "use a group with `each`, and make the remote node its child";
        diags.conflict(each, "a remote node can't have `each`", fix, key, "this makes it remote");
    }
}

/// Checks that `when`, `each` or `key` is a function or a closure that is not async and has the right arguments.
fn check_closure(child: &Child, key: &str, expression: &Expr, diags: &mut Diags) {
    match expression {
        Expr::Closure(closure) => {
            if let Some(asyncness) = &closure.asyncness {
                let fix = "do the call in a hand-written node, and read its output here";
                return diags.error(asyncness, format!("the closure of `{key}` can't be async"), fix);
            }
            check_arguments(child, key, closure, diags);
        }
        Expr::Path(_) => (),
        other => {
            let fix = format!("write `{key} = |{}| ...`, or the name of a function", subject(key));
            diags.error(other, format!("`{key}` needs a closure or a function"), fix);
        }
    }
}

/// Returns what the closure of an option takes, for messages: `key` takes the item, the others the object.
fn subject(key: &str) -> &'static str {
    if key == "key" { "item" } else { "object" }
}

/// Checks the number of arguments of the closure of `when`, `each` or `key`. The closures of `when` and `each` take the object, and
/// optionally one further argument for each node in `from`. The closure of `key` takes the item of `each`.
fn check_arguments(child: &Child, key: &str, closure: &ExprClosure, diags: &mut Diags) {
    let (count, subject) = (closure.inputs.len(), subject(key));
    // The number of arguments of a closure that takes everything it can.
    let all = if key == "key" { 1 } else { child.from.len() + 1 };
    if count == 0 {
        let problem = format!("the closure of `{key}` has no argument");
        return diags.error(closure.inputs_begin, problem, format!("add the {subject}: `|{subject}| ...`"));
    }
    if count != 1 && count != all {
        let fix = match all {
            1 => format!("use one argument, the {subject}"),
            _ => format!("use one argument, the object, or {all}, the object and the nodes of `from`"),
        };
        return diags.error(&closure.inputs, format!("the closure of `{key}` takes {count} arguments"), fix);
    }
    if count > MAX_ARGUMENTS {
        diags.error(&closure.inputs, "a closure can have at most four arguments", "use a function instead");
    }
}

/// Checks the type of the field: for a resource it must be a kind, `Option<Kind>` or `Vec<Kind>`; otherwise a type that is not in a wrapper
/// such as `Option` or `Box`.
fn check_type(child: &Child, diags: &mut Diags) {
    if !is_named(&child.ty) {
        let fix = "write the type of a kind, `Option` or `Vec` of one, or a provisioner";
        return diags.error(&child.ty, "a child is a named type", fix);
    }
    let Some(segment) = last_segment(&child.ty) else { return };
    let outer = segment.ident.to_string();
    let arguments = type_arguments(segment);
    match (outer.as_str(), arguments.as_slice(), child.resource.is_some()) {
        ("Option" | "Vec", [inner], true) if is_wrapper(inner) => {
            let fix = "use the kind, `Option` of it (one or none), or `Vec` of it (any number)";
            diags.error(&child.ty, "`Option` and `Vec` of a resource can't be nested", fix);
        }
        ("Box" | "Arc" | "Rc" | "HashMap" | "BTreeMap" | "HashSet" | "BTreeSet" | "Result", _, true) => {
            let fix = "use the kind, `Option` of it (one or none), or `Vec` of it (any number)";
            diags.error(&child.ty, format!("`{outer}` does not define the number of objects"), fix);
        }
        ("Vec", [_], false) if child.each.is_some() => {
            diags.error(&child.ty, "`each` creates one child per item", "use the type of the provisioner");
        }
        ("Option" | "Vec" | "Box" | "Arc" | "Rc", [_], false) => {
            let fix = "use the type of the provisioner, or add `#[provisioner(resource)]` if it is a kind";
            diags.error(&child.ty, format!("a provisioner can't be in `{outer}`"), fix);
        }
        _ => (),
    }
}

/// Returns whether a type is a path (or a macro that may expand to one), unlike a tuple or reference.
pub(super) fn is_named(ty: &Type) -> bool {
    matches!(ty, Type::Path(_) | Type::Group(_) | Type::Paren(_) | Type::Macro(_))
}

fn is_wrapper(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|segment| ["Option", "Vec"].iter().any(|wrapper| segment.ident == wrapper))
}

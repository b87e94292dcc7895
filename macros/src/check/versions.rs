//! Checks the module of `#[versions(...)]`: the versions, and the history of each field and variant.

use super::{Checked, names::is_version};
use crate::{
    attrs::versions::{ChangeArgument, ChangeInput},
    diag::Diags,
    model::{
        type_path::last_segment,
        versions::{Member, VersionedType, VersionsModule, attributes_of, type_name},
    },
};
use proc_macro2::Ident;
use syn::{Expr, Fields, Item};

const FIELD_CHANGES: [&str; 5] = ["added", "removed", "renamed", "retyped", "moved"];
const VARIANT_CHANGES: [&str; 3] = ["added", "removed", "renamed"];

/// Checks the module. Returns `None` after an error.
pub(crate) fn check(model: VersionsModule, diags: &mut Diags) -> Option<Checked<VersionsModule>> {
    let before = diags.error_count();
    check_versions(&model, diags);
    for versioned in &model.types {
        check_type(&model, versioned, diags);
    }
    let is_kind = |versioned: &VersionedType| attributes_of(&versioned.item).iter().any(|attribute| attribute.path().is_ident("kube"));
    if !model.types.iter().any(is_kind) {
        let fix = "move the struct with `#[kube(...)]` here, or remove `#[versions(...)]`";
        diags.error(&model.name, format!("the module `{}` has no kind", model.name), fix);
    }
    for item in &model.shared {
        check_shared(&model, item, diags);
    }
    (diags.error_count() == before).then_some(Checked(model))
}

fn check_versions(model: &VersionsModule, diags: &mut Diags) {
    if model.versions.is_empty() {
        diags.missing("no versions", "name them, the oldest first: `#[versions(v1alpha1, v1)]`");
    }
    for (index, version) in model.versions.iter().enumerate() {
        let name = version.name.to_string();
        let earlier = model.versions.get(..index).unwrap_or_default();
        if !is_version(&name) {
            let fix = "use a name such as `v1`, `v1beta1` or `v2alpha3`";
            diags.error(&version.name, format!("`{name}` is not a version"), fix);
        } else if let Some(other) = earlier.iter().find(|other| other.name == version.name) {
            diags.conflict(&version.name, format!("`{name}` appears twice"), "remove one", &other.name, "the first is here");
        } else if let Some(other) = earlier.iter().rfind(|other| priority(&other.name) > priority(&version.name)) {
            let problem = format!("`{name}` is older than `{}` before it", other.name);
            diags.error(&version.name, problem, "name the oldest version first");
        }
        if let (Some(stored), Some(not_served)) = (&version.stored, &version.not_served) {
            let fix = "remove one";
            diags.conflict(stored, "a stored version must be served, or no client can write it", fix, not_served, "not served here");
        }
        if let (Some(stored), Some(other)) = (&version.stored, earlier.iter().find_map(|version| version.stored.as_ref())) {
            diags.conflict(stored, "the objects are stored in one version", "keep one `stored`", other, "the other is here");
        }
    }
    if let Some(not_served) = model.versions.last().and_then(|newest| newest.not_served.as_ref()) {
        diags.error(not_served, "the operator works with the newest version", "remove `not_served`, or the version");
    }
}

/// Returns the parts by which Kubernetes orders versions: the stability, the major number and the number after it.
fn priority(version: &Ident) -> (u8, u32, u32) {
    let text = version.to_string();
    let rest = text.strip_prefix('v').unwrap_or(&text);
    let number = |text: &str| text.parse().unwrap_or_default();
    for (word, stability) in [("alpha", 0), ("beta", 1)] {
        if let Some((major, minor)) = rest.split_once(word) {
            return (stability, number(major), number(minor));
        }
    }
    (2, number(rest), 0)
}

fn check_type(model: &VersionsModule, versioned: &VersionedType, diags: &mut Diags) {
    let Some(name) = type_name(&versioned.item) else { return };
    let generics = match &versioned.item {
        Item::Struct(item) => &item.generics,
        Item::Enum(item) => &item.generics,
        _ => return,
    };
    if !generics.params.is_empty() {
        diags.error(generics, format!("`{name}` is generic"), "remove the parameters and name the types");
    }
    if let Item::Struct(item) = &versioned.item
        && !matches!(item.fields, Fields::Named(_))
    {
        diags.error(name, format!("`{name}` has no named fields"), "use a struct with named fields");
    }
    check_tagging(versioned, name, diags);
    for (member, change) in &versioned.changes {
        let member = member.and_then(|index| versioned.members.get(index));
        check_change(model, versioned, member, change, diags);
    }
    for member in &versioned.members {
        check_lifetime(versioned, member, diags);
    }
}

/// Reports tags that leave a variant without a place of its own.
fn check_tagging(versioned: &VersionedType, name: &Ident, diags: &mut Diags) {
    if let Some(tagging) = versioned.hints.tagging.as_ref().filter(|_| versioned.is_enum())
        && !tagging.path().is_ident("tag")
    {
        let problem = format!("the versions of `{name}` can't be converted with this tagging");
        diags.error(tagging, problem, "remove it, or use `#[serde(tag = \"...\")]` alone");
    }
}

/// Checks one change: its name and place, its version, and its arguments.
fn check_change(
    model: &VersionsModule,
    versioned: &VersionedType,
    member: Option<&Member>,
    change: &ChangeInput,
    diags: &mut Diags,
) {
    let key = change.key.to_string();
    let known: &[&str] = match (member, versioned.is_enum()) {
        (None, false) => &["replaced"],
        (None, true) => {
            return diags.error(&change.key, "an enum has no changes of its own", "move the change to a variant");
        }
        (Some(_), false) => &FIELD_CHANGES,
        (Some(_), true) => &VARIANT_CHANGES,
    };
    if !known.contains(&key.as_str()) {
        return diags.unknown("change", &change.key, known);
    }
    let versions: Vec<_> = model.versions.iter().map(|version| version.name.to_string()).collect();
    match versions.iter().position(|version| change.version == version) {
        None => {
            let known: Vec<_> = versions.iter().map(String::as_str).collect();
            return diags.unknown("version", &change.version, &known);
        }
        Some(0) => {
            let problem = format!("`{}` is the oldest version, so nothing changes with it", change.version);
            return diags.error(&change.version, problem, "name the version with the change");
        }
        Some(_) => {}
    }
    check_arguments(versioned, change, diags);
    if key == "replaced" {
        check_replaced(versioned, change, diags);
    }
}

/// Reports arguments that the change doesn't have, and those that are missing.
fn check_arguments(versioned: &VersionedType, change: &ChangeInput, diags: &mut Diags) {
    let is_enum = versioned.is_enum();
    let key = change.key.to_string();
    let (known, needed): (&[&str], &[(&str, &str)]) = match (key.as_str(), is_enum) {
        ("added", true) | ("removed", true) => (&["instead"], &[("instead", "instead = Other")]),
        ("added", false) => (&["default"], &[]),
        ("removed", false) => (&["default", "moved"], &[]),
        ("renamed", _) => (&["from"], &[("from", "from = old_name")]),
        ("moved", _) => (&["from"], &[("from", "from = parent.field")]),
        ("retyped", _) => (&["from", "up", "down"], &[("from", "from = OldType")]),
        _ => (
            &["from", "to", "up", "down"],
            &[("from", "from(old)"), ("to", "to(new)"), ("up", "up = function"), ("down", "down = function")],
        ),
    };
    for argument in &change.arguments {
        let name = argument.name();
        if !known.contains(&name.to_string().as_str()) {
            diags.unknown(&format!("argument of `{key}`"), name, known);
        }
    }
    for (name, example) in needed {
        if !change.arguments.iter().any(|argument| argument.name() == name) {
            diags.error(&change.key, format!("`{key}` has no `{name}`"), format!("add `{example}`"));
        }
    }
    let has = |name: &str| change.function(name).is_some();
    if key == "retyped" && has("up") != has("down") {
        let (there, missing) = if has("up") { ("up", "down") } else { ("down", "up") };
        let problem = format!("`retyped` has `{there}`, but no `{missing}`");
        diags.error(&change.key, problem, format!("add `{missing} = function`, or remove `{there}`"));
    }
    if let (true, Some(value)) = (is_enum && key != "renamed", change.value()) {
        check_instead(versioned, &value, diags);
    }
    if key == "moved" && change.from().is_some_and(|path| path.len() < 2) {
        diags.error(&change.key, "a moved field was a field of another one", "name both: `from = parent.field`, or use `renamed`");
    }
}

/// Reports a value for older versions that is no variant of the enum.
fn check_instead(versioned: &VersionedType, value: &Expr, diags: &mut Diags) {
    let path = match value {
        Expr::Path(path) => Some(&path.path),
        Expr::Struct(value) => Some(&value.path),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => Some(&path.path),
            _ => None,
        },
        _ => None,
    };
    let Some(variant) = path.and_then(|path| path.get_ident()) else {
        return diags.error(value, "`instead` is no variant", "name a variant: `instead = Other`, or `instead = Size(3)`");
    };
    if versioned.position(variant).is_none() {
        let names: Vec<_> = versioned.members.iter().map(|member| member.ident.to_string()).collect();
        diags.unknown("variant", variant, &names.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

/// Reports fields of a replacement that don't exist, or that have a change of their own.
fn check_replaced(versioned: &VersionedType, change: &ChangeInput, diags: &mut Diags) {
    let fields = change.arguments.iter().filter_map(|argument| match argument {
        ChangeArgument::Fields(_, fields) => Some(fields),
        _ => None,
    });
    for field in fields.flatten() {
        let Some(index) = versioned.position(field) else {
            let names: Vec<_> = versioned.members.iter().map(|member| member.ident.to_string()).collect();
            diags.unknown("field", field, &names.iter().map(String::as_str).collect::<Vec<_>>());
            continue;
        };
        let is_same = |(member, other): &&(Option<usize>, ChangeInput)| {
            *member == Some(index) && other.version == change.version
        };
        if let Some((_, other)) = versioned.changes.iter().find(is_same) {
            let problem = format!("`{field}` is in `replaced({})`, and has a change in the same version", change.version);
            diags.conflict(&other.key, problem, "remove one of both", field, "replaced here");
        }
    }
}

/// Checks the order of the changes of a field, and that it has a value where a version needs one.
fn check_lifetime(versioned: &VersionedType, member: &Member, diags: &mut Diags) {
    if member.since >= member.until {
        let problem = format!("`{}` is removed before it is added, so no version has it", member.ident);
        return diags.error(&member.ident, problem, "change the version of `added` or `removed`");
    }
    let renames = member.renames.iter().map(|(version, _)| *version);
    let changes = renames.chain(member.retypes.iter().map(|retype| retype.version));
    for version in changes {
        if version <= member.since && member.since > 0 || version >= member.until {
            let problem = format!("`{}` changes in a version before or after its own time", member.ident);
            diags.error(&member.ident, problem, "a field changes after the version with `added`, and before that with `removed`");
        }
    }
    if versioned.is_enum() || member.is_replaced {
        return;
    }
    if member.since > 0 && member.moved_from.is_none() && member.added_default.is_none() && !member.is_optional(member.since) {
        let problem = format!("objects of older versions have no value for `{}`", member.ident);
        diags.error(&member.ident, problem, "write `added(version, default = value)`, or make it an `Option`");
    }
    let last = member.until.saturating_sub(1);
    let is_removed = versioned.changes.iter().any(|(index, change)| {
        change.key == "removed" && index.and_then(|index| versioned.members.get(index)).is_some_and(|other| other.ident == member.ident)
    });
    if is_removed && !member.is_moved_away && member.removed_default.is_none() && !member.is_optional(last) {
        let problem = format!("objects of newer versions have no value for `{}`", member.ident);
        diags.error(&member.ident, problem, "write `removed(version, default = value)`, or make it an `Option`");
    }
}

/// Reports implementations for types that each version has.
fn check_shared(model: &VersionsModule, item: &Item, diags: &mut Diags) {
    if let Item::Impl(item) = item
        && let Some(last) = last_segment(&item.self_ty)
        && model.versioned_type(&last.ident.to_string()).is_some()
    {
        let newest = model.versions.last().map_or_else(String::new, |version| version.name.to_string());
        let fix = format!("move it out of the module, for `{}::{newest}::{}`", model.name, last.ident);
        diags.error(&item.self_ty, format!("each version has a `{}` of its own", last.ident), fix);
    }
    if let Some(name) = item_name(item)
        && let Some(version) = model.versions.iter().find(|version| version.name == *name)
    {
        diags.conflict(name, format!("the module of the version `{name}` has this name"), "rename the item", &version.name, "the version");
    }
}

fn item_name(item: &Item) -> Option<&Ident> {
    match item {
        Item::Mod(item) => Some(&item.ident),
        item => type_name(item),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::Span;
    use std::cmp::Ordering;

    #[test]
    fn versions_are_in_the_order_of_kubernetes() {
        let ident = |name: &str| Ident::new(name, Span::call_site());
        let names = ["v1alpha1", "v1alpha2", "v2alpha1", "v1beta1", "v1", "v2", "v10"];
        assert!(names.windows(2).all(|pair| priority(&ident(pair[0])).cmp(&priority(&ident(pair[1]))) == Ordering::Less));
    }
}

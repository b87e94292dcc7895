//! Checks a change in `#[version(...)]`: its place, its version and its arguments.

use super::closure;
use crate::{
    attrs::versions::{ChangeArgument, ChangeInput, ChangeValue},
    diag::Diags,
    model::versions::{Member, VersionedType, VersionsModule},
};
use proc_macro2::Ident;
use syn::{Expr, ext::IdentExt};

const FIELD_CHANGES: [&str; 5] = ["added", "removed", "renamed", "retyped", "moved"];
const VARIANT_CHANGES: [&str; 3] = ["added", "removed", "renamed"];

/// Checks one change in `#[version(...)]`: its place, its version, and then its arguments. `member` is the field or variant with the
/// change, or `None` for a change of the type itself. Returns the index of the version that the change names, or `None` after an error.
pub(super) fn check(
    model: &VersionsModule,
    versioned: &VersionedType,
    member: Option<&Member>,
    change: &ChangeInput,
    diags: &mut Diags,
) -> Option<usize> {
    let before = diags.error_count();
    check_place(versioned, member, change, diags);
    let version = check_version(model, change, diags);
    if diags.error_count() > before {
        return None;
    }
    check_arguments(versioned, change, diags);
    if diags.error_count() == before {
        match change.key.to_string().as_str() {
            "replaced" => {
                check_replaced(versioned, change, diags);
                closure::check(change, diags);
            }
            "added" | "removed" if versioned.is_enum() => check_instead(model, versioned, change, version?, diags),
            "renamed" | "moved" => check_path(change, diags),
            "retyped" => {
                check_functions(change, diags);
                closure::check(change, diags);
            }
            _ => {}
        }
    }
    version.filter(|_| diags.error_count() == before)
}

/// Reports an unknown change, a change at a wrong place (`renamed` on a struct, `replaced` on a field), and a change of a field that JSON
/// does not have under its own name (`#[serde(flatten)]`, `#[serde(skip)]`).
fn check_place(versioned: &VersionedType, member: Option<&Member>, change: &ChangeInput, diags: &mut Diags) {
    let key = change.key.to_string();
    let is_one_of = |changes: &[&str]| changes.contains(&key.as_str());
    let name = versioned.name().map(ToString::to_string).unwrap_or_default();
    match (member, versioned.is_enum()) {
        (None, false) if is_one_of(&FIELD_CHANGES) => {
            diags.error(&change.key, format!("`{key}` is a change of a field"), "move it to the field");
        }
        (None, false) if key != "replaced" => diags.unknown("change", &change.key, &["replaced"]),
        (None, true) if is_one_of(&VARIANT_CHANGES) => {
            diags.error(&change.key, format!("`{key}` is a change of a variant"), "move it to the variant");
        }
        (Some(_), false) if key == "replaced" => {
            diags.error(&change.key, "`replaced` is a change of the struct", format!("move it above `{name}`"));
        }
        (Some(_), false) if !is_one_of(&FIELD_CHANGES) => diags.unknown("change", &change.key, &FIELD_CHANGES),
        (_, true) if is_one_of(&["retyped", "moved", "replaced"]) => {
            let fix = "use `added` and `removed`, or change the fields of a struct that is the content of the variant";
            diags.error(&change.key, format!("an enum has no change `{key}`"), fix);
        }
        (_, true) if !is_one_of(&VARIANT_CHANGES) => diags.unknown("change", &change.key, &VARIANT_CHANGES),
        (Some(field), false) if field.hints.flatten || field.hints.skip => {
            let problem = format!("`{}` is not a field of its own in JSON", field.ident);
            let fix =
                if field.hints.flatten { "move the change to the fields of its type" } else { "remove the change" };
            diags.error(&change.key, problem, fix);
        }
        _ => {}
    }
}

/// Returns the index of the version that a change names. Reports an unknown version, and the oldest version: it has no earlier version to
/// change from.
fn check_version(model: &VersionsModule, change: &ChangeInput, diags: &mut Diags) -> Option<usize> {
    let names: Vec<_> = model.versions.iter().map(|version| version.name.to_string()).collect();
    let version = names.iter().position(|name| change.version == name);
    match version {
        None => diags.unknown("version", &change.version, &names.iter().map(String::as_str).collect::<Vec<_>>()),
        Some(0) => {
            let problem = format!("`{}` is the oldest version, so that nothing changes with it", change.version);
            diags.error(&change.version, problem, "name a later version, or remove the change");
        }
        Some(_) => {}
    }
    version
}

/// Returns the arguments that a change takes, each as its name and an example, and how many of them are required, counted from the first.
fn arguments_of(key: &str, is_enum: bool) -> (&'static [(&'static str, &'static str)], usize) {
    match key {
        "added" | "removed" if is_enum => (&[("instead", "instead = Other")], 1),
        "added" => (&[("default", "default = value")], 0),
        "removed" => (&[("default", "default = value"), ("moved", "moved")], 0),
        "renamed" => (&[("from", "from = old_name")], 1),
        "moved" => (&[("from", "from = parent.field")], 1),
        "retyped" => (&[("from", "from = OldType"), ("up", "up = function"), ("down", "down = function")], 1),
        _ => (&[("from", "from(old)"), ("to", "to(new)"), ("up", "up = function"), ("down", "down = function")], 4),
    }
}

/// Checks the arguments of a change. Reports unknown and repeated arguments, arguments whose value has the wrong form (for example a type
/// in the place of a name), and, if there are no such errors, missing arguments.
fn check_arguments(versioned: &VersionedType, change: &ChangeInput, diags: &mut Diags) {
    let key = change.key.to_string();
    let (arguments, needed) = arguments_of(&key, versioned.is_enum());
    let before = diags.error_count();
    for (index, argument) in change.arguments.iter().enumerate() {
        let name = &argument.name;
        let earlier = change.arguments.get(..index).unwrap_or_default();
        let Some((_, example)) = arguments.iter().find(|(known, _)| name == known) else {
            let known: Vec<_> = arguments.iter().map(|(name, _)| *name).collect();
            diags.unknown("argument", name, &known);
            continue;
        };
        if let Some(other) = earlier.iter().find(|other| other.name == *name) {
            diags.conflict(name, format!("`{name}` appears twice"), "remove one", &other.name, "the first is here");
        } else if !has_form(&key, argument) {
            let problem = format!("`{name}` of `{key}` takes {}", expected_value(&key, name));
            diags.error(name, problem, format!("write `{example}`"));
        } else if matches!(&argument.value, ChangeValue::Fields(fields) if fields.is_empty()) {
            diags.error(name, format!("`{name}` names no field"), format!("write `{example}`"));
        }
    }
    if diags.error_count() > before {
        return;
    }
    let missing = arguments.iter().take(needed).filter(|(name, _)| change.argument(name).is_none());
    let (names, examples): (Vec<_>, Vec<_>) = missing.copied().unzip();
    if !names.is_empty() {
        let problem = format!("`{key}` has no `{}`", names.join("` and no `"));
        diags.error(&change.key, problem, format!("add `{}`", examples.join("`, `")));
    }
}

/// Returns a description of the value that an argument takes, such as "the former name", for messages.
fn expected_value(change: &str, argument: &Ident) -> &'static str {
    match (argument.to_string().as_str(), change) {
        ("default", _) => "a value",
        ("instead", _) => "a variant",
        ("from", "renamed") => "the former name",
        ("from", "moved") => "the former place",
        ("from", "retyped") => "the former type",
        ("from" | "to", _) => "names of fields in parentheses",
        ("up" | "down", _) => "the name of a function or a closure",
        _ => "no value",
    }
}

/// Returns whether the value of an argument has the right syntactic form for its name and change, for example a path of fields for `from`
/// in `renamed`.
fn has_form(change: &str, argument: &ChangeArgument) -> bool {
    match (argument.name.to_string().as_str(), &argument.value) {
        ("default" | "instead", ChangeValue::Expression(_))
        | ("up" | "down", ChangeValue::Function(_))
        | ("moved", ChangeValue::Flag) => true,
        ("from", ChangeValue::Type(_)) => change == "retyped",
        ("from" | "to", ChangeValue::Fields(_)) => change == "replaced",
        ("from", ChangeValue::Path(_)) => change == "renamed" || change == "moved",
        _ => false,
    }
}

/// Checks the path in `from` of the changes `renamed` and `moved`: `renamed` takes one name, and `moved` a path of two or more names.
fn check_path(change: &ChangeInput, diags: &mut Diags) {
    let path = change.from().unwrap_or_default();
    if let (true, [_, rest @ ..]) = (change.key == "renamed", path)
        && let Some(name) = rest.last()
    {
        let fix = format!("write `from = {name}`, or use `moved` if another field contained the field");
        diags.error(name, "the former name is a path", fix);
    }
    if let (true, [name]) = (change.key == "moved", path) {
        let fix = format!("name both: `from = parent.{name}`, or use `renamed`");
        diags.error(name, "the former place names no field around the field", fix);
    }
}

/// Reports a change `retyped` that has only one of the conversion functions `up` and `down`: it needs none or two.
fn check_functions(change: &ChangeInput, diags: &mut Diags) {
    let (present, missing) = match (change.argument("up"), change.argument("down")) {
        (Some(up), None) => (up, "down"),
        (None, Some(down)) => (down, "up"),
        _ => return,
    };
    let problem = format!("`retyped` has `{}`, but no `{missing}`", present.name);
    diags.error(&present.name, problem, format!("add `{missing} = function`, or remove `{}`", present.name));
}

/// Checks `instead` of an added or removed variant: the variant that replaces it in objects of the version without it. `instead` must name
/// a variant of that version, which is the version before `version` (the version of the change) for `added`, and `version` for `removed`.
fn check_instead(
    model: &VersionsModule,
    versioned: &VersionedType,
    change: &ChangeInput,
    version: usize,
    diags: &mut Diags,
) {
    let Some(value) = change.value() else { return };
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
        let last = path.and_then(|path| path.segments.last()).map(|last| &last.ident);
        let fix = match last {
            Some(name) => format!("write `{name}` without a path before it"),
            None => "name a variant: `instead = Other`, or `instead = Size(3)`".to_owned(),
        };
        return diags.error(value, "`instead` is not the name of a variant", fix);
    };
    let target_version = if change.key == "added" { version.saturating_sub(1) } else { version };
    if versioned.member_in(variant, target_version).is_some() {
        return;
    }
    // Another check reports a version without variants.
    if versioned.members.iter().any(|member| member.is_in(target_version)) {
        report_unknown(model, versioned, variant, target_version, diags);
    }
}

/// Reports a name that no field or variant of a type has in the version with the index `version`. The fix is the name that the field has
/// there, if the field has `name` in another version; otherwise the names of the fields of that version.
pub(super) fn report_unknown(
    model: &VersionsModule,
    versioned: &VersionedType,
    name: &Ident,
    version: usize,
    diags: &mut Diags,
) {
    let noun = if versioned.is_enum() { "variant" } else { "field" };
    let text = model.version_name(version);
    let members = versioned.members.iter().filter(|member| member.is_in(version));
    let names: Vec<_> = members.map(|member| member.name(version).unraw().to_string()).collect();
    let has_name = |member: &&Member| (0..model.versions.len()).any(|version| member.name(version) == name);
    match versioned.members.iter().find(has_name) {
        Some(member) if member.is_in(version) => {
            let problem = format!("`{name}` has the name `{}` in `{text}`", member.name(version));
            diags.error(name, problem, format!("write `{}`", member.name(version)));
        }
        Some(_) => {
            let fix = if names.is_empty() {
                "remove the change".to_owned()
            } else {
                format!("use one of `{}`", names.join("`, `"))
            };
            diags.error(name, format!("`{text}` has no {noun} `{name}`"), fix);
        }
        None => diags.unknown(noun, name, &names.iter().map(String::as_str).collect::<Vec<_>>()),
    }
}

/// Checks the fields in `from(...)` and `to(...)` of the change `replaced`. Reports a field that the struct or its JSON doesn't have, and a
/// field that appears twice.
fn check_replaced(versioned: &VersionedType, change: &ChangeInput, diags: &mut Diags) {
    let lists = ["from", "to"].into_iter().filter_map(|name| change.fields(name));
    let mut seen: Vec<&Ident> = Vec::new();
    for field in lists.flatten() {
        let member = versioned.position(field).and_then(|index| versioned.members.get(index));
        match member {
            None => {
                let names: Vec<_> = versioned.members.iter().map(|member| member.ident.to_string()).collect();
                diags.unknown("field", field, &names.iter().map(String::as_str).collect::<Vec<_>>());
            }
            Some(member) if member.hints.flatten || member.hints.skip => {
                diags.error(field, format!("`{field}` is not a field of its own in JSON"), "name another field");
            }
            Some(_) => match seen.iter().find(|other| **other == field) {
                Some(other) => {
                    diags.conflict(field, format!("`{field}` appears twice"), "remove one", other, "the first is here");
                }
                None => seen.push(field),
            },
        }
    }
}

//! Checks that objects of each version have a value for each field, and that the names in a version differ.

use super::dated::Dated;
use crate::{
    diag::Diags,
    model::versions::{End, Member, Origin, VersionedType, VersionsModule, items_of},
};
use syn::ext::IdentExt;

/// Reports an added or removed field that is neither optional nor has a default. If an object of a version without the field is converted,
/// the field would have no value.
pub(super) fn check_needed(versioned: &VersionedType, member: &Member, dated: &[Dated<'_>], diags: &mut Diags) {
    if versioned.is_enum() {
        return;
    }
    let change = |key: &str| dated.iter().map(|dated| dated.change).find(|change| change.key == key);
    let mut report = |key: &str, objects: &str, other_fix: &str| {
        let Some(change) = change(key).filter(|change| !change.is_removed_by_move()) else { return };
        let problem = format!("objects of {objects} versions have no value for `{}`", member.ident);
        let fix = format!("write `{key}({}, default = value)`, or {other_fix}", change.version);
        diags.error(&change.key, problem, fix);
    };
    if matches!(member.origin, Origin::Added(None)) && !versioned.is_optional(member, member.since) {
        report("added", "older", "derive `Deserialize`, so that it is the default of the type");
    }
    if matches!(member.end, End::Removed(None)) && !versioned.is_optional(member, member.until.saturating_sub(1)) {
        report("removed", "newer", "make the field an `Option`");
    }
}

/// Reports two members (fields or variants) of a type that have the same name in Rust, or in the JSON of a version. Also reports an enum
/// that has no variants in a version. It reports two members at most once.
pub(super) fn check_names(model: &VersionsModule, versioned: &VersionedType, diags: &mut Diags) {
    let noun = if versioned.is_enum() { "variants" } else { "fields" };
    let mut reported = Vec::new();
    for (index, member) in versioned.members.iter().enumerate() {
        if let Some(other) = versioned.members.iter().take(index).find(|other| other.ident == member.ident) {
            let problem = format!("two {noun} have the name `{}`", member.ident);
            let fix = format!("rename one; `#[serde(rename = \"{}\")]` keeps its name in JSON", member.ident.unraw());
            diags.conflict(&member.ident, problem, fix, &other.ident, "the other is here");
            reported.push((member.ident.to_string(), other.ident.to_string()));
        }
    }
    for version in 0..model.versions.len() {
        let members: Vec<_> = versioned.members.iter().filter(|member| member.is_in(version)).collect();
        if let (true, true, Some(name)) = (versioned.is_enum(), members.is_empty(), versioned.name()) {
            let problem = format!("`{name}` has no variant in `{}`", model.version_name(version));
            return diags.error(name, problem, "add a variant that all versions have");
        }
        let in_json = |member: &Member| !member.hints.flatten && !member.hints.skip;
        for (index, member) in members.iter().enumerate() {
            for other in members.iter().take(index) {
                let (name, json) = (member.name(version), versioned.json_name(member, version));
                let names = (member.ident.to_string(), other.ident.to_string());
                if reported.contains(&names) {
                    continue;
                }
                let place = if name.unraw() == other.name(version).unraw() {
                    format!("the name `{name}` in `{}`", model.version_name(version))
                } else if in_json(member) && in_json(other) && json == versioned.json_name(other, version) {
                    format!("the name `{json}` in the JSON of `{}`", model.version_name(version))
                } else {
                    continue;
                };
                let problem = format!("two {noun} have {place}");
                diags.conflict(name, problem, "rename one", other.name(version), "the other is here");
                reported.push(names);
            }
        }
    }
}

/// Reports changes of the fields that identify the items of a list (`x-kubernetes-list-map-keys`): they must have the same name in all
/// versions. Only their type may change (`retyped`).
pub(super) fn check_list_keys(model: &VersionsModule, versioned: &VersionedType, diags: &mut Diags) {
    for member in &versioned.members {
        let items = member.ty.as_ref().and_then(items_of).and_then(|name| model.versioned_type(name));
        let Some(items) = items else { continue };
        for key in &member.hints.list_keys {
            let changed = items
                .by_json_name(&key.value())
                .and_then(|field| items.changes_of(field).find(|change| change.key != "retyped"));
            if let Some(change) = changed {
                let problem =
                    format!("`{}` identifies the items of `{}`, so that it can't change", key.value(), member.ident);
                diags.conflict(&change.key, problem, "remove the change, or use another key", key, "the key is here");
            }
        }
    }
}

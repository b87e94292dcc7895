//! Checks fields that move: the source path in `moved(v1, from = ...)`, and `removed(v1, moved)` at the source field.

use super::change::report_unknown;
use crate::{
    attrs::versions::ChangeInput,
    diag::Diags,
    model::versions::{End, Member, VersionedType, VersionsModule, type_text, unwrapped},
};
use proc_macro2::Ident;

/// The source field of a `moved` change: the name of its struct, its own name, and the index of the version in which it moves.
type MoveSource = (Option<Ident>, Ident, usize);

/// Checks the moves of fields in all types: each field with `moved(v1, from = ...)` must have a valid source field, and each source field
/// with `removed(v1, moved)` must be the source of exactly one `moved` field. The caller has checked each type alone.
pub(super) fn check(model: &VersionsModule, diags: &mut Diags) {
    let mut sources: Vec<(MoveSource, &Ident)> = Vec::new();
    for versioned in &model.types {
        for member in &versioned.members {
            let Some(change) = versioned.changes_of(member).find(|change| change.key == "moved") else { continue };
            let Some(source) = check_moved(model, versioned, member, change, diags) else { continue };
            if let Some((_, other)) = sources.iter().find(|(known, _)| *known == source) {
                let problem = format!("`{}` moves to two fields", source.1);
                diags.conflict(&change.key, problem, "remove one of both", other, "the other is here");
            }
            sources.push((source, &change.key));
        }
    }
    if diags.has_errors() {
        return;
    }
    for versioned in &model.types {
        for member in &versioned.members {
            let Some(change) = versioned.changes_of(member).find(|change| change.is_removed_by_move()) else {
                continue;
            };
            let source = (versioned.name().cloned(), member.ident.clone(), member.until);
            if !sources.iter().any(|(known, _)| *known == source) {
                let moved = change.argument("moved").map(|argument| &argument.name);
                let problem =
                    format!("`{}` moves with `{}`, but no field takes its value", member.ident, change.version);
                let fix = format!(
                    "add `#[version(moved({}, from = ...))]` to the new field, or remove `moved`",
                    change.version
                );
                diags.error(moved, problem, fix);
            }
        }
    }
}

/// Checks a field with `moved(version, from = path)`: the path must lead to a field of the version before, which is removed with `moved` in
/// the same version and has the same type. If one of the two fields may be absent, the other must be optional as well or have a default.
/// Returns the source field, or `None` after an error about its path or type.
fn check_moved(
    model: &VersionsModule,
    versioned: &VersionedType,
    member: &Member,
    change: &ChangeInput,
    diags: &mut Diags,
) -> Option<MoveSource> {
    let (path, old) = (change.from()?, member.since.checked_sub(1)?);
    // The fields up to the first name that is no field; all names of a valid path.
    let fields = model.fields_on_path(versioned, path, old);
    if let Some(name) = path.get(fields.len()) {
        report_end_of_path(model, versioned, fields.last().map(|(_, field)| *field), name, old, diags);
        return None;
    }
    let ((parent, former), ancestors) = fields.split_last()?;
    let (field_ident, before) = (path.last()?, diags.error_count());
    // If the version removes an object around the source field, the source field needs no `removed` of its own.
    if ancestors.iter().all(|(_, field)| field.is_in(member.since)) {
        check_source(parent, former, member.since, change, field_ident, diags);
    }
    let (old_type, new_type) = (former.type_in(old)?, member.type_in(member.since)?);
    if type_text(unwrapped(old_type)) != type_text(unwrapped(new_type)) {
        let problem =
            format!("`{}` is `{}` there, and `{}` here", member.ident, type_text(old_type), type_text(new_type));
        diags.error(field_ident, problem, "use one type, and change it with another version");
    }
    if diags.error_count() > before {
        return None;
    }
    let may_lack = |(parent, field): &(&VersionedType, &Member)| parent.is_optional(field, old);
    if fields.iter().any(may_lack) && !versioned.is_optional(member, member.since) {
        let problem = format!("objects of older versions may have no value for `{}`", member.ident);
        diags.error(&change.key, problem, "make the field an `Option`, or add `#[serde(default)]`");
    }
    if versioned.is_optional(member, member.since)
        && !parent.is_optional(former, old)
        && matches!(former.end, End::Removed(None))
        && let Some(removed) = parent.changes_of(former).find(|change| change.is_removed_by_move())
    {
        let problem = format!("objects of newer versions may have no value for `{}`", former.ident);
        let fix =
            format!("write `removed({}, moved, default = value)`, or make the field an `Option`", removed.version);
        diags.error(&removed.key, problem, fix);
    }
    Some((parent.name().cloned(), former.ident.clone(), member.since))
}

/// Reports the source field `former` of a move, in the struct `parent`, if the version of the move still has it, or if it is removed by
/// `removed(...)` without `moved`. The errors point at `field_ident`, the last name in the path of the moved field.
fn check_source(
    parent: &VersionedType,
    former: &Member,
    version: usize,
    change: &ChangeInput,
    field_ident: &Ident,
    diags: &mut Diags,
) {
    let name = parent.name().map(ToString::to_string).unwrap_or_default();
    if former.is_in(version) {
        let problem = format!("`{field_ident}` of `{name}` is still there in `{}`", change.version);
        diags.error(field_ident, problem, format!("add `#[version(removed({}, moved))]` to it", change.version));
    } else if let Some(removed) =
        parent.changes_of(former).find(|change| change.key == "removed" && !change.is_removed_by_move())
    {
        let problem = format!("`{field_ident}` of `{name}` is removed without `moved`");
        diags.error(field_ident, problem, format!("write `removed({}, moved)` there", removed.version));
    }
}

/// Reports `name`, the first name in the path of a moved field that is no field of a struct of this module, in the version `old` before the
/// move. `field` is the field before it on the path; `None` if `name` is the first name, which must be a field of `versioned`.
fn report_end_of_path(
    model: &VersionsModule,
    versioned: &VersionedType,
    field: Option<&Member>,
    name: &Ident,
    old: usize,
    diags: &mut Diags,
) {
    let ty = field.and_then(|field| field.type_in(old));
    let within = ty.map_or(Some(versioned), |ty| model.type_of_object(ty).filter(|within| !within.is_enum()));
    match (within, field, ty) {
        (Some(within), ..) => report_unknown(model, within, name, old, diags),
        (None, Some(field), Some(ty)) => {
            let problem =
                format!("the type of `{}`, `{}`, is not a struct of this module", field.name(old), type_text(ty));
            diags.error(name, problem, "name a field of a struct of this module, perhaps in an `Option` or `Box`");
        }
        _ => {}
    }
}

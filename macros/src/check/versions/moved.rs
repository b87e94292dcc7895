//! Checks `moved` fields: the path of the former field, and its `removed(v1, moved)` there.

use super::change::report_unknown;
use crate::{
    attrs::versions::ChangeInput,
    diag::Diags,
    model::versions::{End, Member, VersionedType, VersionsModule, type_text, unwrapped},
};
use proc_macro2::Ident;

/// The place from which a field moves: the type, the field and the position of the version.
type Place = (Option<Ident>, Ident, usize);

/// Checks all fields that move. The histories have no errors.
pub(super) fn check(model: &VersionsModule, diags: &mut Diags) {
    let mut places: Vec<(Place, &Ident)> = Vec::new();
    for versioned in &model.types {
        for member in &versioned.members {
            let Some(change) = versioned.changes_of(member).find(|change| change.key == "moved") else { continue };
            let Some(place) = check_moved(model, versioned, member, change, diags) else { continue };
            if let Some((_, other)) = places.iter().find(|(known, _)| *known == place) {
                let problem = format!("`{}` moves to two fields", place.1);
                diags.conflict(&change.key, problem, "remove one of both", other, "the other is here");
            }
            places.push((place, &change.key));
        }
    }
    if diags.has_errors() {
        return;
    }
    for versioned in &model.types {
        for member in &versioned.members {
            let Some(change) = versioned.changes_of(member).find(|change| change.is_moved()) else { continue };
            let place = (versioned.name().cloned(), member.ident.clone(), member.until);
            if !places.iter().any(|(known, _)| *known == place) {
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

/// Checks the path of a moved field, and that its former place ends and has the same type. Returns the place.
fn check_moved(
    model: &VersionsModule,
    versioned: &VersionedType,
    member: &Member,
    change: &ChangeInput,
    diags: &mut Diags,
) -> Option<Place> {
    let (path, old) = (change.from()?, member.since.checked_sub(1)?);
    let fields = model.fields_on_path(versioned, path, old);
    if let Some(name) = path.get(fields.len()) {
        report_end_of_path(model, versioned, fields.last().map(|(_, field)| *field), name, old, diags);
        return None;
    }
    let ((within, former), around) = fields.split_last()?;
    let (last, before) = (path.last()?, diags.error_count());
    // The object around it may end, too.
    if around.iter().all(|(_, field)| field.is_in(member.since)) {
        check_former_place(within, former, member.since, change, last, diags);
    }
    let (old_type, new_type) = (former.type_in(old)?, member.type_in(member.since)?);
    if type_text(unwrapped(old_type)) != type_text(unwrapped(new_type)) {
        let problem =
            format!("`{}` is `{}` there, and `{}` here", member.ident, type_text(old_type), type_text(new_type));
        diags.error(last, problem, "use one type, and change it with another version");
    }
    if diags.error_count() > before {
        return None;
    }
    let may_lack = |(within, field): &(&VersionedType, &Member)| within.is_optional(field, old);
    if fields.iter().any(may_lack) && !versioned.is_optional(member, member.since) {
        let problem = format!("objects of older versions may have no value for `{}`", member.ident);
        diags.error(&change.key, problem, "make the field an `Option`, or add `#[serde(default)]`");
    }
    if versioned.is_optional(member, member.since)
        && !within.is_optional(former, old)
        && matches!(former.end, End::Removed(None))
        && let Some(removed) = within.changes_of(former).find(|change| change.is_moved())
    {
        let problem = format!("objects of newer versions may have no value for `{}`", former.ident);
        let fix =
            format!("write `removed({}, moved, default = value)`, or make the field an `Option`", removed.version);
        diags.error(&removed.key, problem, fix);
    }
    Some((within.name().cloned(), former.ident.clone(), member.since))
}

/// Reports a former field that does not end with the version of the move, or that ends without `moved`.
fn check_former_place(
    within: &VersionedType,
    former: &Member,
    version: usize,
    change: &ChangeInput,
    last: &Ident,
    diags: &mut Diags,
) {
    let name = within.name().map(ToString::to_string).unwrap_or_default();
    if former.is_in(version) {
        let problem = format!("`{last}` of `{name}` is still there in `{}`", change.version);
        diags.error(last, problem, format!("add `#[version(removed({}, moved))]` to it", change.version));
    } else if let Some(removed) = within.changes_of(former).find(|change| change.key == "removed" && !change.is_moved())
    {
        let problem = format!("`{last}` of `{name}` is removed without `moved`");
        diags.error(last, problem, format!("write `removed({}, moved)` there", removed.version));
    }
}

/// Reports a name on a path that is not a field of a struct of this module in the version before.
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

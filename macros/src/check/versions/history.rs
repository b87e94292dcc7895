//! Checks the history of a type: the versions that add, change and remove its fields and variants.

use super::{change, dated::Dated, values};
use crate::{
    attrs::versions::ChangeInput,
    diag::Diags,
    model::versions::{Member, VersionedType, VersionsModule, type_text},
};
use proc_macro2::Ident;
use syn::ext::IdentExt;

/// The first version with a field, or the first version without it, and the change that says so.
struct Limit<'a> {
    /// The tokens at which messages point: the key of the change, or the name of the field in `replaced(...)`.
    at: &'a Ident,
    version: usize,
}

/// Checks all changes in the `#[version(...)]` of a type and of its fields or variants: first each change alone, then the changes of one
/// member together, and then the names in each version. Skips the later steps for a member with an invalid change, and for all members
/// after an invalid `replaced`.
pub(super) fn check(model: &VersionsModule, versioned: &VersionedType, diags: &mut Diags) {
    let before = diags.error_count();
    // The valid changes of each member.
    let mut dated: Vec<Vec<Dated<'_>>> = versioned.members.iter().map(|_| Vec::new()).collect();
    let mut invalid = vec![false; versioned.members.len()];
    let (mut replacements, mut are_fields_known) = (Vec::new(), true);
    for (index, change) in &versioned.changes {
        let member = index.and_then(|index| versioned.members.get(index));
        let version = change::check(model, versioned, member, change, diags);
        match (index, version) {
            (Some(index), Some(version)) => {
                dated.get_mut(*index).into_iter().for_each(|dated| dated.push(Dated { change, version }));
            }
            (Some(index), None) => invalid.get_mut(*index).into_iter().for_each(|invalid| *invalid = true),
            (None, Some(version)) => replacements.push(Dated { change, version }),
            // The fields of an invalid replacement are not known.
            (None, None) => are_fields_known = false,
        }
    }
    if !are_fields_known {
        return;
    }
    for ((member, dated), _) in versioned.members.iter().zip(&dated).zip(&invalid).filter(|(_, invalid)| !**invalid) {
        let count = diags.error_count();
        check_limits(model, member, dated, &replacements, diags);
        check_former(model, member, dated, diags);
        if diags.error_count() == count {
            values::check_needed(versioned, member, dated, diags);
        }
    }
    if diags.error_count() == before {
        values::check_names(model, versioned, diags);
        values::check_list_keys(model, versioned, diags);
    }
}

/// Reports a member (field or variant) that is added twice or removed twice, and a member that is removed before or with the version that
/// adds it. The `to` fields of a replacement count as added, and its `from` fields as removed.
fn check_limits(
    model: &VersionsModule,
    member: &Member,
    dated: &[Dated<'_>],
    replacements: &[Dated<'_>],
    diags: &mut Diags,
) {
    let limits = |keys: &[&str], list: &str| -> Vec<Limit<'_>> {
        let own = dated.iter().filter(|dated| keys.iter().any(|key| dated.change.key == key));
        let own = own.map(|dated| Limit { at: &dated.change.key, version: dated.version });
        let replaced = replacements.iter().filter_map(|dated| {
            let fields = dated.change.fields(list)?;
            let at = fields.iter().find(|field| field.unraw() == member.ident.unraw())?;
            Some(Limit { at, version: dated.version })
        });
        own.chain(replaced).collect()
    };
    let (begins, ends) = (limits(&["added", "moved"], "to"), limits(&["removed"], "from"));
    for (limits, verb, label) in [(&begins, "added", "also added here"), (&ends, "removed", "also removed here")] {
        if let [first, second, ..] = limits.as_slice() {
            let problem = format!("`{}` is {verb} twice", member.ident);
            return diags.conflict(second.at, problem, "remove one of both", first.at, label);
        }
    }
    if let ([begin], [end]) = (begins.as_slice(), ends.as_slice())
        && end.version <= begin.version
    {
        let (since, until) = (model.version_name(begin.version), model.version_name(end.version));
        let problem =
            format!("`{}` is removed with `{until}` and added with `{since}`, so that no version has it", member.ident);
        diags.conflict(end.at, problem, "remove it with a later version", begin.at, "added here");
    }
}

/// Checks the changes `renamed` and `retyped` of a member. Reports a change in a version that does not have the member or that adds it, two
/// such changes in one version, and a former name or type that equals the new one.
fn check_former(model: &VersionsModule, member: &Member, dated: &[Dated<'_>], diags: &mut Diags) {
    for (key, noun) in [("renamed", "name"), ("retyped", "type")] {
        let changes: Vec<_> = dated.iter().filter(|dated| dated.change.key == key).collect();
        for (index, Dated { change, version }) in changes.iter().enumerate() {
            let earlier = changes.get(..index).unwrap_or_default();
            let (since, until) = (model.version_name(member.since), model.version_name(member.until));
            if let Some(other) = earlier.iter().find(|other| other.version == *version) {
                let problem = format!("`{}` is {key} twice in `{}`", member.ident, change.version);
                diags.conflict(&change.key, problem, "remove one of both", &other.change.key, "also here");
            } else if member.since > 0 && *version <= member.since {
                let problem =
                    format!("`{}` is added with `{since}`, so that it had no other {noun} before", member.ident);
                diags.error(&change.version, problem, format!("name a version after `{since}`, or remove `{key}`"));
            } else if *version >= member.until {
                let problem =
                    format!("`{}` is removed with `{until}`, so that it has no new {noun} then", member.ident);
                diags.error(&change.version, problem, format!("name a version before `{until}`, or remove `{key}`"));
            } else {
                check_difference(member, change, *version, diags);
            }
        }
    }
}

/// Reports a change `renamed` or `retyped` whose former name or type is the same as the name or type since the version of the change.
fn check_difference(member: &Member, change: &ChangeInput, version: usize, diags: &mut Diags) {
    let now = member.name(version);
    if let Some(former) = change.from().and_then(<[Ident]>::last).filter(|former| former.unraw() == now.unraw()) {
        let problem = format!("the former name is the same as the name since `{}`", change.version);
        diags.error(former, problem, "write another name, or remove `renamed`");
    }
    if let (Some(former), Some(now)) = (change.former_type(), member.type_in(version))
        && type_text(former) == type_text(now)
    {
        let problem = format!("the former type is the same as the type since `{}`", change.version);
        diags.error(former, problem, "write another type, or remove `retyped`");
    }
}

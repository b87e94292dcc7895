//! Server-side apply: merges an applied object into the stored one, and removes the fields that the manager has applied before and no
//! longer applies.

use super::{
    content::{fields_in, with_named_fields, without_fields},
    field_set::FieldSet,
    managers::{self, APPLY, FieldManagers, ManagerEntry, OwnedFields, UPDATE},
    merge::merged,
    structure::FieldType,
    update::{FieldWriter, UNOWNED},
};
use serde_json::Value;

/// The manager that gets the fields of an object that has no managers at its first apply.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// The result of an apply.
#[derive(Debug)]
pub(crate) enum AppliedFields {
    /// The object with its new managers.
    Object(Value),
    /// The fields that the apply would change and that others own: the manager, and the path of the field.
    Conflicts(Vec<(String, String)>),
}

/// Merges the `applied` object into the `live` one and updates `managedFields`; `live` is `None` if the apply creates the object. If the
/// apply changes fields that other managers own, it returns the conflicts; with `force`, it takes these fields from the other managers
/// instead.
pub(crate) fn apply(writer: FieldWriter<'_>, live: Option<&Value>, applied: &Value, force: bool) -> AppliedFields {
    let (root, empty) = (writer.root(), writer.empty_object());
    let mut live_object = live.unwrap_or(&empty).clone();
    let mut managers = FieldManagers::of(&live_object).unwrap_or_default();
    managers::clear(&mut live_object);
    if live.is_some() && managers.is_empty() {
        managers = writer.update_managers(managers, &empty, &live_object, BEFORE_FIRST_APPLY);
    }
    let api_version = writer.kind.kind.api_version();
    let manager = ManagerEntry::new(writer.manager, APPLY, &api_version, writer.subresource);
    // The manager owns exactly the fields of the applied object, in place of those of its last apply.
    let set = fields_in(root, applied).without(&writer.ignored());
    let before = managers.entries.get(&manager).cloned();
    let time = before.as_ref().map(|owned| owned.time.clone()).unwrap_or_default();
    managers.entries.insert(manager.clone(), OwnedFields { api_version, time, set });
    let mut new = merged(root, &live_object, applied);
    if let Some(before) = before.filter(|before| !before.set.is_empty()) {
        new = without_abandoned_fields(root, &new, &managers, &before.set);
    }
    let changes = writer.changes(&live_object, &new);
    let changed = changes.modified.union(&changes.added);
    let others = || managers.entries.iter().filter(|(other, _)| **other != manager);
    let conflicts: Vec<_> = others().flat_map(|(other, owned)| conflicts_with(other, owned, &changed)).collect();
    if !force && !conflicts.is_empty() {
        return AppliedFields::Conflicts(conflicts);
    }
    for (other, owned) in &mut managers.entries {
        if *other != manager {
            changes.take_from(&mut owned.set);
        }
    }
    // The time of the entry changes only if the apply changes the object.
    let is_changed = new != live_object;
    if let Some(owned) = managers.entries.get_mut(&manager) {
        owned.set.subtract(&UNOWNED);
        if is_changed || owned.time.is_empty() {
            writer.now.clone_into(&mut owned.time);
        }
    }
    managers.remove_empty();
    managers.write_to(&mut new);
    AppliedFields::Object(new)
}

/// Returns the changed fields that a manager owns, as pairs of the description of the manager, as kube-apiserver has it in messages, and
/// the path of the field.
fn conflicts_with(manager: &ManagerEntry, owned: &OwnedFields, changed: &FieldSet) -> Vec<(String, String)> {
    let mut description = format!("{:?}", manager.name);
    if !manager.subresource.is_empty() {
        description.push_str(&format!(" with subresource {:?}", manager.subresource));
    }
    if manager.operation == UPDATE {
        description.push_str(&format!(" using {}", owned.api_version));
    }
    let paths = owned.set.intersection(changed).paths();
    paths.into_iter().map(|path| (description.clone(), path)).collect()
}

/// Returns the merged object without the fields that the manager has applied before (`last`) and no longer applies, unless a manager owns
/// them or fields below them.
///
/// Source: `prune` of `sigs.k8s.io/structured-merge-diff/merge`.
fn without_abandoned_fields(root: FieldType<'_>, merged: &Value, managers: &FieldManagers, last: &FieldSet) -> Value {
    let named = |set: &FieldSet| with_named_fields(root, set);
    let fields_of = |object: &Value| named(&fields_in(root, object));
    let (last, all) = (named(last), fields_of(merged));
    let without_last = without_fields(root, merged, &last).unwrap_or_default();
    let mut owned = FieldSet::default();
    managers.entries.values().for_each(|fields| owned.extend(&fields.set));
    // The removal of a field also removes the fields below it. Those that have an owner stay.
    let kept = fields_of(&without_last).union(&named(&owned));
    let with_owned = without_fields(root, merged, &all.difference(&kept)).unwrap_or_default();
    // A field that the last apply of the manager did not have stays, even if it has no owner.
    let removed = all.difference(&fields_of(&with_owned)).intersection(&last);
    without_fields(root, merged, &removed).unwrap_or_default()
}

//! Implements server-side apply: merges an applied configuration into an object, and updates the field managers of the object.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    Set,
    compare::{self, Changes},
    empty::empty_object,
    managers::{self, Manager, ManagerOperation, Managers, VersionedSet},
    merge, reset,
    typed::Type,
    update::{self, STRIPPED, remove_changed},
    walk,
};
use crate::{object, request::ResourceRequest};

/// The manager that gets the fields of an object that had no managers before its first apply.
const BEFORE: &str = "before-first-apply";

/// The fields that other managers own and this apply would change, by manager.
pub(crate) type Conflicts = BTreeMap<Manager, VersionedSet>;

/// Merges an applied configuration into the live object (server-side apply), and returns the result with updated `managedFields`. `live` is
/// `None` if the apply creates the object; `name` is the name of the field manager.
///
/// # Errors
/// Unless `force` is set, returns the conflicts: the fields that the apply changes and other managers own.
pub(crate) fn apply(
    request: ResourceRequest<'_>,
    live: Option<&Value>,
    applied: &Value,
    name: &str,
    force: bool,
) -> Result<Value, Conflicts> {
    let empty = empty_object(request.kind);
    let mut live_object = live.unwrap_or(&empty).clone();
    let mut managers = update::managers_of(request, &live_object);
    managers::clear(&mut live_object);
    let version = request.kind.api_version();
    if live.is_some() && !update::is_tracked(request, &managers) {
        managers = assign_before_first_apply(request, managers, &empty, &live_object);
    }
    let type_ = Type::Root(request.kind.schema());
    let manager = Manager::new(name, ManagerOperation::Apply, &version, request.subresource);
    let set = walk::set_of(type_, applied).without(&reset::reset_fields(request, &version));
    let before = managers.sets.get(&manager).cloned();
    let time = before.as_ref().and_then(|owned| owned.time);
    managers.sets.insert(manager.clone(), VersionedSet { time, ..VersionedSet::new(&version, set) });
    let mut new = merge::merged(type_, &live_object, applied);
    if let Some(before) = before.filter(|before| !before.set.is_empty()) {
        new = prune_given_up_fields(type_, new, &managers, &before);
    }
    take_ownership(request, &mut managers, &manager, (&live_object, &new), force)?;
    let changed = new != live_object;
    if let Some(owned) = managers.sets.get_mut(&manager) {
        owned.set = owned.set.difference(&STRIPPED);
        if changed {
            owned.time = update::write_time(request);
        }
    }
    managers.remove_empty();
    let mut result = if changed { new } else { live_object };
    managers.write_to(&mut result);
    Ok(result)
}

/// Assigns the fields of the live object, which has no managers yet, to the manager `before-first-apply`; for the subresource `scale` only
/// the field with the number of replicas.
fn assign_before_first_apply(
    request: ResourceRequest<'_>,
    mut managers: Managers,
    empty: &Value,
    live: &Value,
) -> Managers {
    if request.subresource != Some("scale") {
        return update::update_managers(request, managers, empty, live, BEFORE);
    }
    let version = request.kind.api_version();
    let path: Vec<_> = update::replicas_path(request).split('.').collect();
    let manager = Manager::new(BEFORE, ManagerOperation::Update, &version, request.subresource);
    managers.sets.insert(manager, VersionedSet::new(&version, Set::from_paths(&[&path])));
    managers
}

/// Removes the fields that the apply changes from the other managers that own them.
///
/// # Errors
/// Returns these fields as conflicts, unless `force` is set.
fn take_ownership(
    request: ResourceRequest<'_>,
    managers: &mut Managers,
    applier: &Manager,
    (old, new): (&Value, &Value),
    force: bool,
) -> Result<(), Conflicts> {
    let mut by_version: BTreeMap<String, Option<Changes>> = BTreeMap::new();
    let mut conflicts = Conflicts::new();
    for (manager, owned) in managers.sets.iter().filter(|(manager, _)| *manager != applier) {
        let version = owned.api_version.clone();
        let changes =
            by_version.entry(version).or_insert_with_key(|version| update::changes(request, version, old, new));
        let Some(changes) = changes else { continue };
        let set = owned.set.intersection(&changes.modified.union(&changes.added));
        if !set.is_empty() {
            conflicts.insert(manager.clone(), VersionedSet { set, ..owned.clone() });
        }
    }
    if !force && !conflicts.is_empty() {
        return Err(conflicts);
    }
    for (_, owned) in managers.sets.iter_mut().filter(|(manager, _)| *manager != applier) {
        match by_version.get(&owned.api_version) {
            Some(Some(changes)) => remove_changed(owned, changes),
            // A manager of a version that the server no longer serves loses all its fields.
            _ => owned.set = Set::default(),
        }
    }
    managers.remove_empty();
    Ok(())
}

/// Removes from the merged object the fields that the applier set before and no longer sets, unless another manager
/// owns them (upstream: `prune`).
fn prune_given_up_fields(type_: Type<'_>, merged: Value, managers: &Managers, before: &VersionedSet) -> Value {
    // First removes the fields of the last apply from the object, then adds those that a manager still owns.
    let last_applied = walk::with_named_fields(type_, &before.set);
    let without_last = walk::without_fields(type_, &merged, &last_applied).unwrap_or_default();
    let owned = managers.sets.values().fold(Set::default(), |all, owned| all.union(&owned.set));
    let owned = walk::with_named_fields(type_, &owned);
    let merged_fields = walk::with_named_fields(type_, &walk::set_of(type_, &merged));
    let fields_of = |object: &Value| walk::with_named_fields(type_, &walk::set_of(type_, object));
    let with_owned =
        walk::without_fields(type_, &merged, &merged_fields.difference(&fields_of(&without_last).union(&owned)))
            .unwrap_or_default();
    // Removes from the merged object only fields of the last apply, so that fields without any manager stay.
    walk::without_fields(type_, &merged, &merged_fields.difference(&fields_of(&with_owned)).intersection(&last_applied))
        .unwrap_or_default()
}

/// Returns the fields of an applied object that have the same values in the live object.
pub(crate) fn unchanged_fields(request: ResourceRequest<'_>, applied: &Value, live: &Value) -> Set {
    let type_ = Type::Root(request.kind.schema());
    let changes = compare::changes(type_, applied, live);
    walk::set_of(type_, applied).difference(&changes.modified).difference(&changes.added).difference(&changes.removed)
}

/// Returns whether the object has `managedFields`.
pub(crate) fn has_managed_fields(object: &Value) -> bool {
    object::at(object, &["metadata", "managedFields"]).is_some()
}

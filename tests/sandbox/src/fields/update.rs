//! Updates `managedFields` after a write other than an apply.

use std::{borrow::Cow, sync::LazyLock};

use jiff::Timestamp;
use serde_json::Value;

use super::{
    Set, cap,
    compare::{self, Changes},
    empty::empty_object,
    managers::{self, Manager, ManagerOperation, Managers, VersionedSet},
    reconcile::reconcile_set,
    reset,
    typed::Type,
};
use crate::{object, request::ResourceRequest};

/// Makes the manager of the request the owner of the fields that the request changes, and writes the result to
/// `managedFields` of `new`. `old` is `None` for a create.
pub(super) fn update(request: ResourceRequest<'_>, old: Option<&Value>, new: &mut Value) {
    let managers = managers_before(request, old, new);
    managers::clear(new);
    // An existing object without managers gets its first manager by an apply only.
    if old.is_some() && !is_tracked(request, &managers) {
        managers.write_to(new);
        return;
    }
    let managers = match old {
        Some(old) => update_managers(request, managers, old, new, request.call.field_manager()),
        None => update_managers(request, managers, &empty_object(request.kind), new, request.call.field_manager()),
    };
    managers.write_to(new);
}

/// Returns the managers of an object. For a custom kind, converts their field sets to the current schemas, because the
/// CRD may have changed since the fields were written.
pub(super) fn managers_of(request: ResourceRequest<'_>, object: &Value) -> Managers {
    let mut managers = Managers::of(object).unwrap_or_default();
    if request.kind.custom().is_none() {
        return managers;
    }
    for owned in managers.sets.values_mut() {
        if let Some(kind) = request.server.kinds.of_kind(&owned.api_version, &request.kind.kind) {
            owned.set = reconcile_set(Type::Root(kind.schema()), &owned.set);
        }
    }
    managers
}

/// Returns whether the object has a manager; for a write of the `scale` subresource, whether a manager owns the replicas.
pub(super) fn is_tracked(request: ResourceRequest<'_>, managers: &Managers) -> bool {
    if request.subresource != Some("scale") {
        return !managers.is_empty();
    }
    let path = replicas_path(request);
    managers.sets.values().any(|owned| owned.set.has_path(&path.split('.').collect::<Vec<_>>()))
}

/// Returns the path of the field that a scale writes.
pub(super) fn replicas_path<'a>(request: ResourceRequest<'a>) -> &'a str {
    let scale_paths = request.kind.custom().and_then(|custom| custom.scale.as_ref());
    scale_paths.map_or("spec.replicas", |paths| paths.spec_replicas.as_str())
}

/// Returns the managers before the write: the managers in the written object if the client sends any, else the managers
/// of the live object. Returns none if the client requests a reset. A write of a subresource ignores `managedFields` of
/// the client.
fn managers_before(request: ResourceRequest<'_>, old: Option<&Value>, new: &Value) -> Managers {
    let live_managers = || old.map(|old| managers_of(request, old)).unwrap_or_default();
    if request.subresource.is_some() {
        return live_managers();
    }
    if managers::requests_reset(request.kind, new) {
        return Managers::default();
    }
    Managers::of(new).filter(|managers| !managers.is_empty()).unwrap_or_else(live_managers)
}

/// Returns the managers after the manager `name` updates `old` to `new`: all managers lose the changed fields, and
/// `name` gains the added and modified fields. Merges the oldest `Update` entries if there are too many.
pub(super) fn update_managers(
    request: ResourceRequest<'_>,
    mut managers: Managers,
    old: &Value,
    new: &Value,
    name: &str,
) -> Managers {
    let version = request.kind.api_version();
    let own_changes = changes(request, &version, old, new).unwrap_or_default();
    for owned in managers.sets.values_mut() {
        if owned.api_version == version {
            remove_changed(owned, &own_changes);
        } else if let Some(changes) = changes(request, &owned.api_version, old, new) {
            remove_changed(owned, &changes);
        } else {
            // The server no longer serves the version of this entry.
            owned.set = Set::default();
        }
    }
    managers.remove_empty();
    let mut gained = own_changes.modified;
    gained.insert_all(own_changes.added);
    gained.subtract(&STRIPPED);
    if !gained.is_empty() {
        let manager = Manager::new(name, ManagerOperation::Update, &version, request.subresource);
        let owned = managers.sets.entry(manager).or_insert_with(|| VersionedSet::new(&version, Set::default()));
        owned.set.insert_all(gained);
        owned.time = write_time(request);
    }
    cap::cap_update_entries(&mut managers);
    managers
}

/// Returns the changes between two states under the schema of a version, without the fields that a write through this
/// subresource (or to the object itself) can't change; `None` if the server no longer serves the version.
pub(super) fn changes(request: ResourceRequest<'_>, api_version: &str, old: &Value, new: &Value) -> Option<Changes> {
    let ignored = reset::reset_fields(request, api_version);
    let (old, new) = (with_status(request, old), with_status(request, new));
    let changes_under = |schema| compare::changes(Type::Root(schema), &old, &new).without(&ignored);
    if request.kind.api_version() == api_version {
        return Some(changes_under(request.kind.schema()));
    }
    let kind = request.server.kinds.of_kind(api_version, &request.kind.kind)?;
    Some(changes_under(kind.schema()))
}

/// Returns the object with an empty status if it is of a built-in kind with a status and has none, because the Go struct
/// always has one.
fn with_status<'a>(request: ResourceRequest<'_>, object: &'a Value) -> Cow<'a, Value> {
    let is_struct = || request.kind.custom().is_none() && request.kind.has_status();
    if object.get("status").is_some() || !is_struct() {
        return Cow::Borrowed(object);
    }
    let mut object = object.clone();
    object::map_at(&mut object, &["status"]);
    Cow::Owned(object)
}

/// Returns the time for the entry of the writing manager: now, but `None` for a write of a scale, because kube-apiserver
/// loses the time when it converts the scale to the object.
pub(super) fn write_time(request: ResourceRequest<'_>) -> Option<Timestamp> {
    (request.subresource != Some("scale")).then(|| request.server.environment.now())
}

/// Removes the changed fields of a write (added, modified or removed) from the fields that a manager owns.
pub(super) fn remove_changed(owned: &mut VersionedSet, changes: &Changes) {
    [&changes.modified, &changes.added, &changes.removed].into_iter().for_each(|fields| owned.set.subtract(fields));
}

/// The fields that no manager owns: fields that only the server writes, and fields that identify the object (upstream:
/// `stripSet`).
pub(super) static STRIPPED: LazyLock<Set> = LazyLock::new(|| {
    let metadata_fields = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    let stripped = Set::from_paths(&[&["apiVersion"], &["kind"], &["metadata"]]);
    metadata_fields.iter().fold(stripped, |all, name| all.union(&Set::from_paths(&[&["metadata", name]])))
});

/// Returns whether the managers of two states differ at most in their times.
pub(super) fn equal_except_times(new: &Managers, old: &Managers) -> bool {
    new.sets.len() == old.sets.len()
        && new.sets.iter().all(|(manager, owned)| {
            let old_set = old.sets.get(manager);
            old_set.is_some_and(|old_set| old_set.set == owned.set && old_set.api_version == owned.api_version)
        })
}

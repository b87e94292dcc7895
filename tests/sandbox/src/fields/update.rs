//! Updates `managedFields` after a write other than an apply.

use std::{borrow::Cow, sync::LazyLock};

use jiff::Timestamp;
use serde_json::Value;

use super::{
    Set, cap,
    compare::{self, Changes},
    empty::empty,
    managers::{self, Manager, ManagerOperation, Managers, Share},
    reconcile::reconciled,
    reset,
    typed::Type,
};
use crate::{object, request::ResourceRequest};

/// Gives the fields that the write changes to its manager; `old` is `None` for a create.
pub(super) fn update(request: ResourceRequest<'_>, old: Option<&Value>, new: &mut Value) {
    let managers = known(request, old, new);
    managers::clear(new);
    // An object without managers stays so until the first apply.
    if old.is_some() && !is_tracked(request, &managers) {
        managers.write_to(new);
        return;
    }
    let managers = match old {
        Some(old) => updated(request, managers, old, new, request.call.field_manager()),
        None => updated(request, managers, &empty(request.kind), new, request.call.field_manager()),
    };
    managers.write_to(new);
}

/// Returns the managers of an object, with field sets migrated to the current schema.
pub(super) fn managers_of(request: ResourceRequest<'_>, object: &Value) -> Managers {
    let mut managers = Managers::of(object).unwrap_or_default();
    if request.kind.custom().is_none() {
        return managers;
    }
    for share in managers.shares.values_mut() {
        if let Some(kind) = request.server.kinds.of_kind(&share.api_version, &request.kind.kind) {
            share.set = reconciled(Type::Root(kind.schema()), &share.set);
        }
    }
    managers
}

/// Whether any manager owns the fields that the path of the request writes; for a scale, only the replicas.
pub(super) fn is_tracked(request: ResourceRequest<'_>, managers: &Managers) -> bool {
    if request.subresource != Some("scale") {
        return !managers.is_empty();
    }
    let path = replicas(request);
    managers.shares.values().any(|share| share.set.has_path(&path.split('.').collect::<Vec<_>>()))
}

/// The path of the field that a scale writes.
pub(super) fn replicas<'a>(request: ResourceRequest<'a>) -> &'a str {
    let own = request.kind.custom().and_then(|custom| custom.scale.as_ref());
    own.map_or("spec.replicas", |paths| paths.spec_replicas.as_str())
}

/// Returns the managers before the write: those of the written object if it has any, else those of the live object.
fn known(request: ResourceRequest<'_>, old: Option<&Value>, new: &Value) -> Managers {
    let live = || old.map(|old| managers_of(request, old)).unwrap_or_default();
    if request.subresource.is_some() {
        return live();
    }
    if managers::is_reset(request.kind, new) {
        return Managers::default();
    }
    Managers::of(new).filter(|managers| !managers.is_empty()).unwrap_or_else(live)
}

/// Returns the managers after the manager `name` updates `old` to `new`.
pub(super) fn updated(
    request: ResourceRequest<'_>,
    mut managers: Managers,
    old: &Value,
    new: &Value,
    name: &str,
) -> Managers {
    let version = request.kind.api_version();
    let own = changes(request, &version, old, new).unwrap_or_default();
    for share in managers.shares.values_mut() {
        if share.api_version == version {
            lose(share, &own);
        } else if let Some(changes) = changes(request, &share.api_version, old, new) {
            lose(share, &changes);
        } else {
            share.set = Set::default();
        }
    }
    managers.tidy();
    let mut gained = own.modified;
    gained.absorb(own.added);
    gained.subtract(&STRIPPED);
    if !gained.is_empty() {
        let manager = Manager::new(name, ManagerOperation::Update, &version, request.subresource);
        let share = managers.shares.entry(manager).or_insert_with(|| Share::new(&version, Set::default()));
        share.set.absorb(gained);
        share.time = time(request);
    }
    cap::cap(&mut managers);
    managers
}

/// Returns the changes between two states under a version's schema, without the fields that the path does not write;
/// `None` if the server no longer serves the version.
pub(super) fn changes(request: ResourceRequest<'_>, api_version: &str, old: &Value, new: &Value) -> Option<Changes> {
    let ignored = reset::ignored(request, api_version);
    let (old, new) = (with_status(request, old), with_status(request, new));
    let compared = |schema| compare::changes(Type::Root(schema), &old, &new).without(&ignored);
    if request.kind.api_version() == api_version {
        return Some(compared(request.kind.schema()));
    }
    let kind = request.server.kinds.of_kind(api_version, &request.kind.kind)?;
    Some(compared(kind.schema()))
}

/// Adds an empty status to an object of a built-in kind: the Go struct always has one.
fn with_status<'a>(request: ResourceRequest<'_>, object: &'a Value) -> Cow<'a, Value> {
    let is_struct = || request.kind.custom().is_none() && request.kind.has_status();
    if object.get("status").is_some() || !is_struct() {
        return Cow::Borrowed(object);
    }
    let mut object = object.clone();
    object::map_at(&mut object, &["status"]);
    Cow::Owned(object)
}

/// The time of a write. For a scale it is `None`: the real server loses the time when it converts the scale to the
/// object.
pub(super) fn time(request: ResourceRequest<'_>) -> Option<Timestamp> {
    (request.subresource != Some("scale")).then(|| request.server.environment.now())
}

/// Removes the fields from a share that somebody else changed or removed.
pub(super) fn lose(share: &mut Share, changes: &Changes) {
    [&changes.modified, &changes.added, &changes.removed].into_iter().for_each(|gone| share.set.subtract(gone));
}

/// The fields that nobody owns: those that only the server writes and those that identify the object.
pub(super) static STRIPPED: LazyLock<Set> = LazyLock::new(|| {
    let of_metadata = [
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
    let stripped = Set::of(&[&["apiVersion"], &["kind"], &["metadata"]]);
    of_metadata.iter().fold(stripped, |all, name| all.union(&Set::of(&[&["metadata", name]])))
});

/// Whether the managers of two states differ at most in their times.
pub(super) fn same_but_for_times(new: &Managers, old: &Managers) -> bool {
    new.shares.len() == old.shares.len()
        && new.shares.iter().all(|(manager, share)| {
            let held = old.shares.get(manager);
            held.is_some_and(|held| held.set == share.set && held.api_version == share.api_version)
        })
}

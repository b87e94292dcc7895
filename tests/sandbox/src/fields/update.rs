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

/// What a write that is no apply changes becomes its manager's; `old` is the empty object for a creation.
pub(super) fn update(request: ResourceRequest<'_>, old: Option<&Value>, new: &mut Value) {
    let managers = known(request, old, new);
    managers::clear(new);
    // An object of which nobody knew who managed it stays so until it is applied.
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

/// The managers of an object, with field sets migrated to the current schema.
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

/// Whether anybody manages what the path of the request writes: of a scale only the replicas.
pub(super) fn is_tracked(request: ResourceRequest<'_>, managers: &Managers) -> bool {
    if request.subresource != Some("scale") {
        return !managers.is_empty();
    }
    let path = replicas(request);
    managers.shares.values().any(|share| share.set.has_path(&path.split('.').collect::<Vec<_>>()))
}

/// The path to the number that a scale writes.
pub(super) fn replicas<'a>(request: ResourceRequest<'a>) -> &'a str {
    let own = request.kind.custom().and_then(|custom| custom.scale.as_ref());
    own.map_or("spec.replicas", |paths| paths.spec_replicas.as_str())
}

/// The managers of before the write: as the write says itself, else as the live object does.
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

/// The managers after an update of `old` to `new` by a manager of this name.
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

/// What differs between two states, in the words of a version, without what the path doesn't write; `None` if the version
/// isn't served any more.
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

/// A Go struct always has its status, if only an empty one.
fn with_status<'a>(request: ResourceRequest<'_>, object: &'a Value) -> Cow<'a, Value> {
    let is_struct = || request.kind.custom().is_none() && request.kind.has_status();
    if object.get("status").is_some() || !is_struct() {
        return Cow::Borrowed(object);
    }
    let mut object = object.clone();
    object::map_at(&mut object, &["status"]);
    Cow::Owned(object)
}

/// When a manager writes. Of a scale the real server loses it on its way to the object.
pub(super) fn time(request: ResourceRequest<'_>) -> Option<Timestamp> {
    (request.subresource != Some("scale")).then(|| request.server.environment.now())
}

/// Takes from a share what somebody else changed or removed.
pub(super) fn lose(share: &mut Share, changes: &Changes) {
    [&changes.modified, &changes.added, &changes.removed].into_iter().for_each(|gone| share.set.subtract(gone));
}

/// What nobody owns: what the server alone writes, and what says which object it is.
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

/// Whether the managers of two states differ in nothing but when they wrote.
pub(super) fn same_but_for_times(new: &Managers, old: &Managers) -> bool {
    new.shares.len() == old.shares.len()
        && new.shares.iter().all(|(manager, share)| {
            let held = old.shares.get(manager);
            held.is_some_and(|held| held.set == share.set && held.api_version == share.api_version)
        })
}

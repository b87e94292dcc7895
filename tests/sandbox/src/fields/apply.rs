//! Server-side apply: merges an applied configuration and updates its managers.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    Set,
    compare::{self, Changes},
    empty::empty,
    managers::{self, Manager, ManagerOperation, Managers, Share},
    merge, reset,
    typed::Type,
    update::{self, STRIPPED, lose},
    walk,
};
use crate::{object, request::ResourceRequest};

/// The manager that gets the fields of an object that had no managers before its first apply.
const BEFORE: &str = "before-first-apply";

/// The fields that other managers own and this apply would change, by manager.
pub(crate) type Conflicts = BTreeMap<Manager, Share>;

/// Returns the object after an apply, with updated `managedFields`; or the conflicts with other managers.
pub(crate) fn apply(
    request: ResourceRequest<'_>,
    live: Option<&Value>,
    applied: &Value,
    name: &str,
    force: bool,
) -> Result<Value, Conflicts> {
    let blank = empty(request.kind);
    let mut held = live.unwrap_or(&blank).clone();
    let mut managers = update::managers_of(request, &held);
    managers::clear(&mut held);
    let version = request.kind.api_version();
    if live.is_some() && !update::is_tracked(request, &managers) {
        managers = before_first(request, managers, &blank, &held);
    }
    let of = Type::Root(request.kind.schema());
    let manager = Manager::new(name, ManagerOperation::Apply, &version, request.subresource);
    let set = walk::set_of(of, applied).without(&reset::ignored(request, &version));
    let before = managers.shares.get(&manager).cloned();
    let time = before.as_ref().and_then(|share| share.time);
    managers.shares.insert(manager.clone(), Share { time, ..Share::new(&version, set) });
    let mut new = merge::merged(of, &held, applied);
    if let Some(before) = before.filter(|before| !before.set.is_empty()) {
        new = without_given_up(of, new, &managers, &before);
    }
    take(request, &mut managers, &manager, (&held, &new), force)?;
    let changed = new != held;
    if let Some(share) = managers.shares.get_mut(&manager) {
        share.set = share.set.difference(&STRIPPED);
        if changed {
            share.time = update::time(request);
        }
    }
    managers.tidy();
    let mut result = if changed { new } else { held };
    managers.write_to(&mut result);
    Ok(result)
}

/// Assigns the fields that have no manager yet to `before-first-apply`.
fn before_first(request: ResourceRequest<'_>, mut managers: Managers, blank: &Value, held: &Value) -> Managers {
    if request.subresource != Some("scale") {
        return update::updated(request, managers, blank, held, BEFORE);
    }
    let version = request.kind.api_version();
    let path: Vec<_> = update::replicas(request).split('.').collect();
    let manager = Manager::new(BEFORE, ManagerOperation::Update, &version, request.subresource);
    managers.shares.insert(manager, Share::new(&version, Set::of(&[&path])));
    managers
}

/// Removes changed fields from the other managers that own them; returns the conflicts instead unless the apply is
/// forced.
fn take(
    request: ResourceRequest<'_>,
    managers: &mut Managers,
    applier: &Manager,
    (old, new): (&Value, &Value),
    force: bool,
) -> Result<(), Conflicts> {
    let mut by_version: BTreeMap<String, Option<Changes>> = BTreeMap::new();
    let mut conflicts = Conflicts::new();
    for (manager, share) in managers.shares.iter().filter(|(manager, _)| *manager != applier) {
        let version = share.api_version.clone();
        let changes =
            by_version.entry(version).or_insert_with_key(|version| update::changes(request, version, old, new));
        let Some(changes) = changes else { continue };
        let set = share.set.intersection(&changes.modified.union(&changes.added));
        if !set.is_empty() {
            conflicts.insert(manager.clone(), Share { set, ..share.clone() });
        }
    }
    if !force && !conflicts.is_empty() {
        return Err(conflicts);
    }
    for (_, share) in managers.shares.iter_mut().filter(|(manager, _)| *manager != applier) {
        match by_version.get(&share.api_version) {
            Some(Some(changes)) => lose(share, changes),
            // A version that the server no longer serves has no managers.
            _ => share.set = Set::default(),
        }
    }
    managers.tidy();
    Ok(())
}

/// Removes from the merged object the fields that the applier set before, no longer sets, and nobody else owns.
fn without_given_up(of: Type<'_>, merged: Value, managers: &Managers, before: &Share) -> Value {
    let last = walk::with_named(of, &before.set);
    let pruned = walk::removed(of, &merged, &last).unwrap_or_default();
    let owned = managers.shares.values().fold(Set::default(), |all, share| all.union(&share.set));
    let owned = walk::with_named(of, &owned);
    let whole = walk::with_named(of, &walk::set_of(of, &merged));
    let kept = |object: &Value| walk::with_named(of, &walk::set_of(of, object));
    let with_owned = walk::removed(of, &merged, &whole.difference(&kept(&pruned).union(&owned))).unwrap_or_default();
    // A field that nobody ever owned stays, too.
    walk::removed(of, &merged, &whole.difference(&kept(&with_owned)).intersection(&last)).unwrap_or_default()
}

/// Returns the fields of an applied object whose values equal those of the live object.
pub(crate) fn agreed(request: ResourceRequest<'_>, applied: &Value, live: &Value) -> Set {
    let of = Type::Root(request.kind.schema());
    let changes = compare::changes(of, applied, live);
    walk::set_of(of, applied).difference(&changes.modified).difference(&changes.added).difference(&changes.removed)
}

/// Whether the object has `managedFields`.
pub(crate) fn says_managers(object: &Value) -> bool {
    object::at(object, &["metadata", "managedFields"]).is_some()
}

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

/// Who gets the fields of an object that had no managers when it was applied first.
const BEFORE: &str = "before-first-apply";

/// A field that an applier sets otherwise than somebody else did.
pub(crate) type Conflicts = BTreeMap<Manager, Share>;

/// The object after an apply, managers included; or who else has fields that it would change.
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
    let mut made = if changed { new } else { held };
    managers.write_to(&mut made);
    Ok(made)
}

/// Gives what nobody managed so far to somebody.
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

/// Takes what changes from the managers that have it, if they may be overruled.
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
            // A version that isn't served any more has no managers.
            _ => share.set = Set::default(),
        }
    }
    managers.tidy();
    Ok(())
}

/// The merged object without what the applier set before and doesn't now, and nobody else has.
fn without_given_up(of: Type<'_>, merged: Value, managers: &Managers, before: &Share) -> Value {
    let last = walk::with_named(of, &before.set);
    let pruned = walk::removed(of, &merged, &last).unwrap_or_default();
    let owned = managers.shares.values().fold(Set::default(), |all, share| all.union(&share.set));
    let owned = walk::with_named(of, &owned);
    let whole = walk::with_named(of, &walk::set_of(of, &merged));
    let kept = |object: &Value| walk::with_named(of, &walk::set_of(of, object));
    let with_owned = walk::removed(of, &merged, &whole.difference(&kept(&pruned).union(&owned))).unwrap_or_default();
    // What nobody ever had stays, too.
    walk::removed(of, &merged, &whole.difference(&kept(&with_owned)).intersection(&last)).unwrap_or_default()
}

/// The fields of an object that differ in nothing from another's.
pub(crate) fn agreed(request: ResourceRequest<'_>, applied: &Value, live: &Value) -> Set {
    let of = Type::Root(request.kind.schema());
    let changes = compare::changes(of, applied, live);
    walk::set_of(of, applied).difference(&changes.modified).difference(&changes.added).difference(&changes.removed)
}

/// Whether anything of the object says who manages it.
pub(crate) fn says_managers(object: &Value) -> bool {
    object::at(object, &["metadata", "managedFields"]).is_some()
}

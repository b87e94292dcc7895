//! Tracks the owners of fields in `managedFields` (server-side apply, KEP-555).

use serde_json::Value;

use crate::{object, request::ResourceRequest};

pub(crate) use element::Element;
pub(crate) use set::{Set, SetEntry};

pub(crate) mod apply;
mod cap;
pub(crate) mod check;
mod compare;
mod element;
pub(crate) mod empty;
pub(crate) mod go;
pub(crate) mod managers;
mod merge;
mod reconcile;
mod reset;
mod set;
pub(crate) mod typed;
mod update;
mod walk;

use managers::Managers;

/// Updates `managedFields` after a write other than an apply: the writer owns the fields that it changed.
pub(crate) fn update(request: ResourceRequest<'_>, old: Option<&Value>, new: &mut Value) {
    update::update(request, old, new);
}

/// Completes `managedFields` of `new` after mutating admission and after the fields that the server itself sets.
///
/// Keeps changes of `managedFields` by admission if they are valid; otherwise restores the managers of `old` and
/// returns a warning. If the write changes nothing but `managedFields`, and these only in their times, restores the
/// times of `old`. `reshaped` is whether a policy or a webhook has returned a new state of the object.
pub(crate) fn settle(old: Option<&Value>, new: &mut Value, reshaped: bool) -> Option<String> {
    let managed_fields = |object| object::at(object, &["metadata", "managedFields"]);
    let before = old.and_then(managed_fields);
    // The server itself computed the entries, so they are valid. The object is new or changed, so their times are right.
    if !reshaped && old.is_none_or(|old| !object::same_but_for(new, old, NOT_CONTENT)) {
        return None;
    }
    if managed_fields(new) == before {
        return None;
    }
    let Some(managers) = Managers::of(new) else {
        match before.cloned() {
            Some(before) => drop(object::metadata_mut(new).insert("managedFields".into(), before)),
            None => managers::clear(new),
        }
        return Some(INVALID_MANAGED_FIELDS.to_owned());
    };
    let (old, old_managers) = (old?, Managers::of(old?)?);
    if update::equal_except_times(&managers, &old_managers) && object::same_but_for(new, old, NOT_CONTENT) {
        let old_managed_fields = before.cloned().unwrap_or_default();
        object::metadata_mut(new).insert("managedFields".into(), old_managed_fields);
    }
    None
}

/// The metadata fields that don't count as a change of the object.
const NOT_CONTENT: &[&str] = &["managedFields", "resourceVersion"];

/// Removes the replicas, which a write of the `scale` subresource sets, from the fields of all managers.
pub(crate) fn disown_replicas(request: ResourceRequest<'_>, object: &mut Value) {
    let mut managers = update::managers_of(request, object);
    let path: Vec<&str> = update::replicas_path(request).split('.').collect();
    let replicas = Set::from_paths(&[&path]);
    managers.sets.values_mut().for_each(|owned| owned.set = owned.set.difference(&replicas));
    managers.remove_empty();
    managers.write_to(object);
}

/// The warning for an object whose `managedFields` are invalid after admission.
const INVALID_MANAGED_FIELDS: &str = ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests";

//! `managedFields`: field ownership (KEP-555).

use serde_json::Value;

use crate::{object, request::ResourceRequest};

pub(crate) use element::Element;
pub(crate) use set::Set;

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

/// What a write that is no apply changes becomes its manager's.
pub(crate) fn update(request: ResourceRequest<'_>, old: Option<&Value>, new: &mut Value) {
    update::update(request, old, new);
}

/// After admission and the server's own changes, which are nobody's. What admission made of `managedFields` counts if it
/// can be read, else it is told so; and where nothing else changed, the times of the managers don't change either.
/// `reshaped` is whether admission made anything of the object.
pub(crate) fn settle(old: Option<&Value>, new: &mut Value, reshaped: bool) -> Option<String> {
    let listed = |object| object::at(object, &["metadata", "managedFields"]);
    let before = old.and_then(listed);
    // What was written here can be read.
    if !reshaped && old.is_none_or(|old| !object::same_but_for(new, old, CONTENT)) {
        return None;
    }
    if listed(new) == before {
        return None;
    }
    let Some(managers) = Managers::of(new) else {
        match before.cloned() {
            Some(before) => drop(object::metadata_mut(new).insert("managedFields".into(), before)),
            None => managers::clear(new),
        }
        return Some(SPOILED.to_owned());
    };
    let (old, held) = (old?, Managers::of(old?)?);
    if update::same_but_for_times(&managers, &held) && object::same_but_for(new, old, CONTENT) {
        let kept = before.cloned().unwrap_or_default();
        object::metadata_mut(new).insert("managedFields".into(), kept);
    }
    None
}

/// What a write is not about.
const CONTENT: &[&str] = &["managedFields", "resourceVersion"];

/// Takes the replicas of a scale from all who have them.
pub(crate) fn disown_replicas(request: ResourceRequest<'_>, object: &mut Value) {
    let mut managers = update::managers_of(request, object);
    let path: Vec<&str> = update::replicas(request).split('.').collect();
    let replicas = Set::of(&[&path]);
    managers.shares.values_mut().for_each(|share| share.set = share.set.difference(&replicas));
    managers.tidy();
    managers.write_to(object);
}

/// What a client is told whose object came from admission with managers that can't be read.
const SPOILED: &str = ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests";

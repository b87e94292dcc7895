//! `managedFields`: who wrote which field last (KEP-555).

use serde_json::Value;

use crate::{object, verb::Asked};

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
mod reset;
mod set;
pub(crate) mod typed;
mod update;
mod walk;

use managers::Managers;

/// What a write that is no apply changes becomes its manager's.
pub(crate) fn update(asked: Asked<'_>, old: Option<&Value>, new: &mut Value) {
    update::update(asked, old, new);
}

/// After admission and the server's own changes, which are nobody's. What admission made of `managedFields` counts if it
/// can be read; and where nothing else changed, the times of the managers don't either.
pub(crate) fn settle(asked: Asked<'_>, old: Option<&Value>, new: &mut Value) {
    let _ = asked;
    let Some(old) = old else { return };
    let listed = |object| object::at(object, &["metadata", "managedFields"]);
    if listed(new) == listed(old) {
        return;
    }
    let (Some(managers), Some(held)) = (Managers::of(new), Managers::of(old)) else { return };
    if managers == held || !update::same_but_for_times(&managers, &held) {
        return;
    }
    if update::content(new) == update::content(old) {
        let kept = object::at(old, &["metadata", "managedFields"]).cloned().unwrap_or_default();
        object::metadata_mut(new).insert("managedFields".into(), kept);
    }
}

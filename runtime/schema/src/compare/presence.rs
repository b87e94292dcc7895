//! Compares two schemas of a field by `required` and `default`: whether the field must be set, and its default if it isn't.

use serde_json::Value;

use super::change::{Breaks, Changes};

/// Whether a field must be set, and the value that it has if it is not.
#[derive(Clone, Copy)]
pub(super) struct Presence<'a> {
    pub(super) is_required: bool,
    pub(super) default: Option<&'a Value>,
}

/// Compares whether a field must be set, and its default. The API server also sets defaults in stored objects when it reads them, so a new
/// or other default changes the meaning of stored objects and of requests.
pub(super) fn compare_presence(old: Presence<'_>, new: Presence<'_>, path: &str, changes: &mut Changes) {
    match (old.default, new.default) {
        (None, Some(default)) if old.is_required => {
            changes.add(path, Breaks::NOTHING, format!("it may be left out, and is {default} then"));
        }
        (None, Some(default)) => {
            let message =
                format!("it has the default {default}, which stored objects and requests without it get, too");
            changes.add(path, Breaks::BOTH, message);
        }
        (Some(default), None) => {
            let consequence = if new.is_required { "are invalid" } else { "have no value" };
            changes.add(
                path,
                Breaks::BOTH,
                format!("the default {default} is removed: objects without it {consequence}"),
            );
        }
        (Some(before), Some(after)) if before != after => {
            let message = format!("the default was {before} and is {after}: the same request means something else");
            changes.add(path, Breaks::BOTH, message);
        }
        (Some(_), Some(_)) => {}
        (None, None) => match (old.is_required, new.is_required) {
            (false, true) => changes.add(path, Breaks::BOTH, "it is required: objects without it are invalid"),
            (true, false) => {
                changes.add(
                    path,
                    Breaks::CLIENTS,
                    "it is optional: a client that reads it must know that it can be absent",
                );
            }
            _ => {}
        },
    }
}

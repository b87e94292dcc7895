//! `managedFields`: who wrote which field last (KEP-555).

use serde_json::Value;

use crate::verb::Asked;

/// What a write that is no apply changes becomes its manager's.
pub(crate) fn update(asked: Asked<'_>, old: Option<&Value>, new: &mut Value) {
    let _ = (asked, old, new);
}

/// After admission and the server's own changes: what these changed belongs to the manager of the write.
pub(crate) fn settle(asked: Asked<'_>, old: Option<&Value>, new: &mut Value) {
    let _ = (asked, old, new);
}

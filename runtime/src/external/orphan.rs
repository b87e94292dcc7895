//! Reports, after the teardown of the tree of a deleted owner, the external resources (such as DNS records) that remain because no tree
//! node manages them any more.

use super::record::remaining_records;
use crate::{engine::pass::PassCore, event::EventType};

/// The reason of the event about an external resource that no node manages.
const REASON: &str = "ExternalResourceOrphaned";

/// Reports the records (ConfigMaps with the ids of external resources) that an owner still has after the teardown of its tree, by events
/// and in the log. These records belong to nodes of an earlier release of the operator, whose code to delete the external resources is
/// gone. A failed list is only logged: the deletion of the owner does not depend on it.
pub(crate) async fn report_remaining_records(core: &PassCore<'_>) {
    let owner = &core.owner;
    let notes = match remaining_records(core).await {
        Ok(notes) => notes,
        Err(error) => {
            tracing::warn!(owner = %owner.key, %error, "failed to list the records of external resources");
            return;
        }
    };
    for note in notes {
        tracing::warn!(owner = %owner.key, "{note}");
        core.shared.recorder.record(&core.regarding(), EventType::Warning, REASON, "Delete", &note);
    }
}

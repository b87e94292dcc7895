//! `SideEffects`: what the nodes of a pass ask of the control loop, such as the time of the next pass, and whether they wrote the owner.

use crate::{
    cache::{ObjectKey, ResourceVersion},
    kind::Kind,
};
use serde_json::Value;
use std::{collections::BTreeSet, time::Duration};

/// What the nodes of a pass have requested and written. The loop reads it after the tree has run.
#[derive(Debug, Default)]
pub(crate) struct SideEffects {
    pub(crate) requeue: RequeueRequest,
    /// Reason and message for the conditions of a pass that succeeds.
    pub(crate) report: Option<(String, String)>,
    /// A sentence for each object that has not been ready for longer than the timeout of its node, sorted so that the status
    /// does not depend on the order of the nodes.
    pub(crate) timeouts: BTreeSet<String>,
    /// The objects that hand-written nodes have referenced.
    pub(crate) added_references: Vec<(Kind, ObjectKey)>,
    /// Whether a hand-written node has deleted the owner.
    pub(crate) owner_deleted: bool,
    /// The last write of the owner by a hand-written node.
    pub(crate) owner_write: Option<OwnerWrite>,
}

impl SideEffects {
    /// Adds the side effects of a part of the pass, such as the part in another cluster. The shorter delays win, and the report and the
    /// owner write of the part replace earlier ones.
    pub(crate) fn add(&mut self, part: Self) {
        self.requeue.soon |= part.requeue.soon;
        if let Some(after) = part.requeue.after {
            self.requeue.request_after(after);
        }
        if let Some(limit) = part.requeue.at_most {
            self.requeue.request_at_most(limit);
        }
        self.report = part.report.or(self.report.take());
        self.timeouts.extend(part.timeouts);
        self.added_references.extend(part.added_references);
        self.owner_deleted |= part.owner_deleted;
        self.owner_write = part.owner_write.or(self.owner_write.take());
    }
}

/// The owner as the API server returned it after a write.
#[derive(Debug)]
pub(crate) struct OwnerWrite {
    pub(crate) version: ResourceVersion,
    pub(crate) status: Value,
}

/// When the nodes of a pass want the object to be reconciled again, although the pass succeeds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequeueRequest {
    /// After the requeue interval.
    pub(crate) soon: bool,
    /// After this time.
    pub(crate) after: Option<Duration>,
    /// After this time, unless the next pass is earlier anyway. It does not shorten the backoff of the controller.
    pub(crate) at_most: Option<Duration>,
}

impl RequeueRequest {
    /// Requests a pass after a time; the shortest requested time wins.
    pub(crate) fn request_after(&mut self, after: Duration) {
        self.after = Some(self.after.map_or(after, |earlier| earlier.min(after)));
    }

    /// Requests a pass after a time at the latest; the shortest requested time wins.
    pub(crate) fn request_at_most(&mut self, limit: Duration) {
        self.at_most = Some(self.at_most.map_or(limit, |earlier| earlier.min(limit)));
    }
}

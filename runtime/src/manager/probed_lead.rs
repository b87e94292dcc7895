//! `ProbedLead`: the leadership and the shards of a replica, as the liveness and readiness probes check them.

use crate::{
    lease::{lead::LeadState, leads::Leads},
    manager::checks::CheckResult,
    shard::gate::Shards,
};

/// The lead and the shards of a replica.
#[derive(Clone, Default)]
pub(crate) struct ProbedLead {
    /// The leads; `None` if this replica is the only one.
    pub(super) leads: Option<Leads>,
    /// The shards, if the operator has any.
    pub(super) shards: Option<Shards>,
}

impl ProbedLead {
    /// Returns the result of the liveness check `lead`. It fails if this replica holds a Lease that was not renewed in time: the task of
    /// the election must be stuck, since it would have renewed or lost the Lease.
    pub(super) fn check_live(&self) -> CheckResult {
        let is_overdue = self.leads.as_ref().is_some_and(Leads::is_overdue);
        let line = if is_overdue { "leader election: the lead was not renewed in time\n" } else { "" };
        CheckResult::of_failures("lead", line.to_owned())
    }

    /// Returns the result of the readiness check `lead`. With shards, it fails until this replica has joined the members and has listed
    /// the objects of each shard that it holds. A replica that waits for the Lease of the leader, or for the end of members with another
    /// number of shards, is ready, so that a rolling update goes on.
    pub(super) fn check_ready(&self) -> CheckResult {
        match &self.shards {
            Some(shards) => match shards.describe_waiting() {
                Some(lines) => CheckResult { name: "lead".to_owned(), is_ok: true, lines },
                None => CheckResult::of_failures("lead", shards.describe_unready()),
            },
            None => {
                let lines = self.describe_waiting().unwrap_or_default();
                CheckResult { name: "lead".to_owned(), is_ok: true, lines }
            }
        }
    }

    /// Returns a line about what this replica waits for: the Lease of the leader, or with shards the end of members with another number of
    /// shards; `None` if it waits for neither.
    pub(super) fn describe_waiting(&self) -> Option<String> {
        if let Some(shards) = &self.shards {
            return shards.describe_waiting();
        }
        match self.leads.as_ref()?.process().state() {
            LeadState::Waiting { holder: Some(holder) } => Some(format!("waiting for the lead, held by {holder}\n")),
            LeadState::Waiting { holder: None } => Some("waiting for the lead\n".to_owned()),
            LeadState::Held(_) | LeadState::Ended => None,
        }
    }
}

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
    /// Fails if a lead was not renewed in time although it is held: the candidate or the clock is stuck.
    pub(super) fn check_live(&self) -> CheckResult {
        let is_overdue = self.leads.as_ref().is_some_and(Leads::is_overdue);
        let line = if is_overdue { "leader election: the lead was not renewed in time\n" } else { "" };
        CheckResult::of_failures("lead", line.to_owned())
    }

    /// Fails if this replica is no member yet, or has not listed the objects of a shard. One that waits for the lead, or for the end of
    /// members with another number of shards, is ready.
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

    /// Returns the line of a replica that waits for the lead or for other members; `None` if it works.
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

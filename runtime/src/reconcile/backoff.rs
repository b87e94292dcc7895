//! Stops passes over objects that only a change by a user can repair, resets backoffs after such changes, and reports fights with other
//! clients as errors.

use crate::{
    engine::{controller_state::ControllerState, pass::PassTrigger, repair::RepairReason},
    error::{Error, Result},
    queue::Trigger,
    reconcile::{Header, Significance, control_loop::Loop},
};
use std::time::Duration;
use tokio::time::Instant;

impl Loop {
    /// Applies a change of a primary to the state of the object: passes that were stopped until a change by a user run again (unpark), and
    /// if the change ends the backoff, the counts of failures, conflicts and repairs begin at zero. Returns how the change enqueues the
    /// object: `Request` if it ends the backoff, else `significance`, but at most `Accepted`.
    pub(super) fn apply_change(&self, header: &Header, significance: Significance) -> Significance {
        let (key, uid) = (&header.key, &header.uid);
        let ends_backoff = match significance {
            Significance::Request => true,
            Significance::UserChange => {
                // Without failures there is no backoff to end. Else only a limited number of consecutive changes ends it.
                !self.has_failures(header) || self.states.allow_backoff_reset(key, uid, Instant::now())
            }
            _ => false,
        };
        if significance >= Significance::Accepted {
            self.states.unpark(key, uid);
        }
        if ends_backoff {
            self.states.reset_failures(key, uid);
            let owner = self.identity(header);
            self.shared.owner_states().reset_repairs(&owner);
            self.shared.remote_states().iter().for_each(|state| state.owner_states().reset_repairs(&owner));
        }
        if ends_backoff { Significance::Request } else { significance.min(Significance::Accepted) }
    }

    /// Returns whether the counts of failures, conflicts or repairs of the object, in any cluster, are above zero.
    fn has_failures(&self, header: &Header) -> bool {
        let (key, uid) = (&header.key, &header.uid);
        self.states.read(key, uid, |state| state.failures > 0 || state.conflicts > 0)
            || self.shared.owner_states().has_repairs(key, uid)
            || self.shared.remote_states().iter().any(|state| state.owner_states().has_repairs(key, uid))
    }

    /// Turns a fight (the operator and another client repeatedly undo each other's writes) into the error `Fighting` of a pass that has no
    /// other error. Also returns the time until the fight ends if this pass, which began at `start`, repaired nothing: the next pass is due
    /// after this time, however long the backoff is.
    pub(super) fn escalate_fight(
        &self,
        header: &Header,
        start: Instant,
        outcome: Result<()>,
    ) -> (Result<()>, Option<Duration>) {
        let has_no_error = matches!(outcome, Ok(()) | Err(Error::Yield { .. } | Error::Conflict(_)));
        let fight_in = |state: &ControllerState| state.owner_states().fight(&header.key, &header.uid);
        let fight =
            || fight_in(&self.shared).or_else(|| self.shared.remote_states().iter().find_map(|state| fight_in(state)));
        let Some(fight) = has_no_error.then(fight).flatten() else { return (outcome, None) };
        self.shared.counters.count_fight();
        self.shared.metrics.fights.increment();
        let remaining = fight.end.saturating_duration_since(Instant::now());
        (Err(Error::blocked("Fighting", fight.message)), (fight.last < start).then_some(remaining))
    }

    /// Returns whether the object waits for a change by a user.
    pub(super) fn is_parked(&self, header: &Header) -> bool {
        self.states.read(&header.key, &header.uid, |state| state.parked)
    }

    /// Stops passes over the object until a user changes it.
    pub(super) fn park(&self, header: &Header) {
        self.states.update(&header.key, &header.uid, |state| state.parked = true);
    }
}

/// Returns the reason for which a write of the status counts as a repair (repairs that recur slow down the passes), given the trigger of
/// the pass. `None` if the write is not a repair.
pub(super) fn repair_of_status(trigger: PassTrigger) -> Option<RepairReason> {
    // If the only cause of this pass is an own write of the status, and this pass wrote it again, that is perhaps a hot loop.
    let by_itself = || (trigger.event == Trigger::Own).then_some(RepairReason::StatusChanged);
    RepairReason::of_chain(&trigger.chain).or_else(by_itself)
}

//! Parks objects, ends backoffs, and turns fights over children into errors.

use crate::{
    error::{Error, Result},
    reconcile::{Header, Worth, control_loop::Loop, next::Next},
};
use tokio::time::Instant;

impl Loop {
    /// Begins to count failures, conflicts and repairs anew after a change that ends a backoff. Gives what the change is worth, all
    /// told.
    pub(super) fn heed(&self, header: &Header, worth: Worth) -> Worth {
        let (key, uid) = (&header.key, &header.uid);
        let ends = match worth {
            Worth::Request => true,
            Worth::Wish => !self.has_counts(header) || self.states.may_end_backoff(key, uid, Instant::now()),
            _ => false,
        };
        if worth >= Worth::News {
            self.states.unpark(key, uid, ends);
        }
        if ends {
            self.shared.memory().forget_repairs(&self.identity(header));
        }
        if ends { Worth::Request } else { worth.min(Worth::News) }
    }

    fn has_counts(&self, header: &Header) -> bool {
        let (key, uid) = (&header.key, &header.uid);
        self.states.read(key, uid, |state| state.failures > 0 || state.conflicts > 0)
            || self.shared.memory().has_repairs(key, uid)
    }

    /// A fight over children is an error of every pass that goes well otherwise. A pass that repaired nothing is repeated when the
    /// fight is over.
    pub(super) fn with_fight(
        &self,
        header: &Header,
        began: Instant,
        outcome: Result<()>,
    ) -> (Result<()>, Option<Next>) {
        let goes_well = matches!(outcome, Ok(()) | Err(Error::Yield { .. } | Error::Conflict(_)));
        let fight = || self.shared.memory().fight(&header.key, &header.uid);
        let Some(fight) = goes_well.then(fight).flatten() else { return (outcome, None) };
        self.shared.counters.count_fight();
        let is_quiet = fight.last < began;
        let over = Next::After(fight.over.saturating_duration_since(Instant::now()));
        (Err(Error::blocked("Fighting", fight.sentence)), is_quiet.then_some(over))
    }

    pub(super) fn is_parked(&self, header: &Header) -> bool {
        self.states.read(&header.key, &header.uid, |state| state.parked)
    }

    pub(super) fn park(&self, header: &Header) {
        self.states.update(&header.key, &header.uid, |state| state.parked = true);
    }
}

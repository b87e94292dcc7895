//! `Baseline`: the results of test runs without faults, with which the oracles compare all other runs.

use std::sync::OnceLock;

use opgen_sandbox::fault::{ObservedWebhookCall, Timeline};

use crate::{
    diff::Noise,
    scenario,
    schedule::Schedule,
    simulation::{Failure, Outcome},
    snapshot::Snapshot,
    target::Target,
};

/// The results of undisturbed runs.
pub(crate) struct Baseline {
    /// The snapshot after the samples were created.
    pub(crate) after_create: Snapshot,
    /// The snapshot of the older release after the creation; `None` if there is no older release.
    pub(crate) older: Option<Snapshot>,
    /// What differs between undisturbed runs.
    pub(crate) noise: Noise,
    /// The number of calls until the program was at rest after the creation of the samples.
    pub(crate) calls_to_create: u64,
    /// The number of all calls.
    pub(crate) calls: u64,
    pub(crate) timeline: Timeline,
    /// The number of calls to webhooks before the samples were created.
    webhook_calls_to_set_up: u64,
    /// The results of the variants as new objects.
    fresh: Vec<OnceLock<FreshResult>>,
}

/// The result of a run with a variant as a new object.
#[derive(Debug, Default)]
pub(super) struct FreshResult {
    /// `None` if the server rejects the variant, or if the program does not come to rest.
    pub(super) after_create: Option<Snapshot>,
    pub(super) is_not_at_rest: bool,
}

impl Baseline {
    /// Creates the baseline from two runs without faults, with different seeds, and from a run of the older release. The snapshot and the
    /// counts are those of the `first` run; the `second` one only shows which fields differ between such runs.
    pub(crate) fn new(target: &Target, first: Outcome, second: Outcome, older: Option<Outcome>) -> Self {
        let (after_create, other) = (first.after_create.unwrap_or_default(), second.after_create.unwrap_or_default());
        Self {
            noise: Noise::between(&after_create, &other),
            fresh: target.variants.iter().map(|_| OnceLock::new()).collect(),
            after_create,
            older: older.and_then(|outcome| outcome.after_create),
            calls_to_create: first.calls_to_create,
            calls: first.calls,
            timeline: first.timeline,
            webhook_calls_to_set_up: first.webhook_calls_to_set_up,
        }
    }

    /// Returns the result of a run without faults in which the samples are created as a variant, an edited form of them, from the start.
    /// The first call for a variant makes the run. `None` if there is no such variant.
    pub(super) fn fresh(&self, target: &Target, variant: usize) -> Option<&FreshResult> {
        let fresh = self.fresh.get(variant)?;
        Some(fresh.get_or_init(|| {
            let outcome = scenario::execute(target, None, &Schedule::fresh(variant));
            let is_not_at_rest = matches!(outcome.failure, Some(Failure::NotAtRest(_)));
            FreshResult { after_create: outcome.after_create, is_not_at_rest }
        }))
    }

    /// Returns the calls to webhooks from the creation of the samples on.
    pub(crate) fn webhook_calls(&self) -> impl Iterator<Item = &ObservedWebhookCall> {
        self.timeline.webhook_calls().filter(|call| call.number > self.webhook_calls_to_set_up)
    }

    /// Returns how many variants have been run by [`Self::fresh`], so that a check can count these runs.
    pub(crate) fn fresh_runs(&self) -> usize {
        self.fresh.iter().filter(|fresh| fresh.get().is_some()).count()
    }
}

//! Executes one test run by its schedule of faults, on a separate tokio runtime. Before the first one, a run without faults finds the
//! `Footprint` of the operator: the namespaces and labels of its objects.

use super::lifecycle::run;
use crate::{
    footprint::Footprint,
    pool,
    schedule::Schedule,
    simulation::{Failure, Outcome},
    target::Target,
};

/// Runs a program by a schedule, and before it the older release if the schedule has an upgrade. Finds their footprints first.
pub(crate) fn execute(target: &Target, older: Option<&Target>, schedule: &Schedule) -> Outcome {
    [Some(target), older].into_iter().flatten().for_each(find_footprint);
    pool::block_on(run(target, older, schedule)).unwrap_or_else(|error| {
        let failure = Some(Failure::Setup(error));
        Outcome { failure, ..Outcome::default() }
    })
}

/// Finds the footprint of a program with an undisturbed run; the first call runs it.
fn find_footprint(target: &Target) {
    target.footprint.get_or_init(|| {
        let outcome = pool::block_on(run(target, None, &Schedule::undisturbed(1)));
        let created = outcome.ok().and_then(|outcome| outcome.after_create).unwrap_or_default();
        Footprint::of(&target.name, &target.manifests.samples, &created)
    });
}

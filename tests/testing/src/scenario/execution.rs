//! Starts a test run on a separate tokio runtime. Before the first run of an operator, a run without faults finds its `Footprint`: the
//! namespaces and labels of its objects.

use super::lifecycle::run;
use crate::{
    footprint::Footprint,
    pool,
    schedule::Schedule,
    simulation::{Failure, Outcome},
    target::Target,
};

/// Executes a schedule for a program, and returns the outcome of the run. `older` is its older release, which runs first if the schedule
/// has an upgrade. Before the first run of each of the two, finds its footprint: the namespaces and labels of its objects.
pub(crate) fn execute(target: &Target, older: Option<&Target>, schedule: &Schedule) -> Outcome {
    [Some(target), older].into_iter().flatten().for_each(find_footprint);
    pool::block_on(run(target, older, schedule)).unwrap_or_else(|error| {
        let failure = Some(Failure::Setup(error));
        Outcome { failure, ..Outcome::default() }
    })
}

/// Stores the footprint of a program, the namespaces and labels of its objects, which an undisturbed run shows. Does nothing if it is
/// stored.
fn find_footprint(target: &Target) {
    target.footprint.get_or_init(|| {
        let outcome = pool::block_on(run(target, None, &Schedule::undisturbed(1)));
        let created = outcome.ok().and_then(|outcome| outcome.after_create).unwrap_or_default();
        Footprint::of(&target.name, &target.manifests.samples, &created)
    });
}

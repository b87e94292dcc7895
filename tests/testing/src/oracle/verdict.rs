//! Applies all oracles (the functions that look for problems) to a test run and returns their findings.

use super::{
    baseline::Baseline,
    bucket,
    case::Case,
    comparison::{self, Comparison},
    external_service::service_problem,
    failure, invariant,
    leak::leaked_objects,
    orphan::orphaned_children,
    status, upgrade,
};
use crate::{diff::diff, report::Finding, schedule::Propagation, simulation::Failure, target::Target};

/// Returns the findings of all oracles, the functions that look for problems, about a run. `older` is the older release, for schedules with
/// an upgrade. A run in which the program never becomes idle is no finding if the same is true of a new object with the same change.
pub(crate) fn judge(case: &Case<'_>, older: Option<&Target>, baseline: &Baseline) -> Vec<Finding> {
    let schedule = case.schedule;
    let mut findings: Vec<Finding> = Vec::new();
    if !waits_like_new_object(case, baseline) {
        findings.extend(failure::run_failure(case));
    }
    for Comparison { problem, expected, actual } in comparison::snapshots_to_compare(case, older, baseline) {
        let lines = diff(&expected, &actual, &baseline.noise);
        if !lines.is_empty() {
            findings.push(case.mismatch(problem, lines));
        }
    }
    if let Some(older) = older.filter(|_| schedule.upgrade) {
        findings.extend(upgrade::replaced_objects(case, older, baseline));
    }
    findings.extend(invariant::violations(case, baseline));
    findings.extend(status::stale_status(case, baseline));
    findings.extend(bucket::undone_removal(case));
    findings.extend(bucket::remaining_objects(case));
    findings.extend(bucket::lost_children(case, baseline));
    let keeps_objects = schedule.bucket.is_none_or(|(_, disturbance)| disturbance.keeps_objects());
    // A schedule that changes the desired state may itself require the deletion of a child.
    let keeps_desired_state =
        comparison::creates_samples_unchanged(schedule) && schedule.recreate_at.is_none() && keeps_objects;
    if keeps_desired_state {
        findings.extend(invariant::recreated_child(case, baseline));
    }
    if schedule.propagation == Propagation::Orphan {
        findings.extend(orphaned_children(case, baseline));
    }
    findings.extend(leaked_objects(case));
    findings.extend(service_problem(case));
    findings
}

/// Returns whether the program does not become idle after a change of the samples during their creation, nor in a run that creates them in
/// the changed form: the change makes them wait for an object that does not exist.
fn waits_like_new_object(case: &Case<'_>, baseline: &Baseline) -> bool {
    let Some((_, variant)) = case.schedule.change else { return false };
    matches!(case.outcome.failure, Some(Failure::NotAtRest(_)))
        && baseline.fresh(case.target, variant).is_some_and(|fresh| fresh.is_not_at_rest)
}

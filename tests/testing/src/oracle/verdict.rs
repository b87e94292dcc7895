//! Applies all oracles to a run.

use super::{
    baseline::Baseline, case::Case, comparison, failure, invariant, leak::leaked, orphan::orphaned, status, upgrade,
};
use crate::{diff::diff, report::Finding, schedule::Propagation, simulation::Failure, target::Target};

/// All findings about a run.
pub(crate) fn judge(case: &Case<'_>, older: Option<&Target>, baseline: &Baseline) -> Vec<Finding> {
    let schedule = case.schedule;
    let mut findings: Vec<Finding> = Vec::new();
    if !waits_as_a_new_object_does(case, baseline) {
        findings.extend(failure::failed(case));
    }
    for (problem, expected, actual) in comparison::comparisons(case, older, baseline) {
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
    if comparison::is_only_disturbed(schedule) && schedule.recreate_at.is_none() {
        findings.extend(invariant::recreated_child(case, baseline));
    }
    if schedule.propagation == Propagation::Orphan {
        findings.extend(orphaned(case, baseline));
    }
    findings.extend(leaked(case));
    findings
}

/// Whether the program does not come to rest after a change during creation, and neither does a new object: both wait for an
/// object that does not exist.
fn waits_as_a_new_object_does(case: &Case<'_>, baseline: &Baseline) -> bool {
    let Some((_, variant)) = case.schedule.change else { return false };
    matches!(case.outcome.failure, Some(Failure::NotAtRest(_)))
        && baseline.fresh(case.target, variant).is_some_and(|fresh| fresh.is_not_at_rest)
}

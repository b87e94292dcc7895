//! Reports a status that still describes the spec before an edit.

use super::{baseline::Baseline, case::Case};
use crate::{diff::stale_fields, report::Finding, snapshot::Snapshot};

/// Returns a finding about the status fields of the samples that are stale: an edit of the specs, or the edit back, should have changed
/// them and did not. The expected status after the edit is that of a run that creates the samples in the edited form. `None` if there are
/// no stale fields, or if the run has no edit.
pub(super) fn stale_status(case: &Case<'_>, baseline: &Baseline) -> Option<Finding> {
    let (outcome, noise) = (case.outcome, &baseline.noise);
    let fresh = baseline.fresh(case.target, case.schedule.edit?)?.after_create.as_ref()?;
    let edited = outcome.after_edit.as_ref().and_then(|edited| edited.as_ref().ok())?;
    let statuses = |snapshot: &Snapshot| snapshot.statuses(&case.target.manifests.samples);
    let created = outcome.after_create.as_ref().map(statuses)?;
    let after_edit = (!case.both_wait(fresh, edited))
        .then(|| stale_fields(&created, &statuses(fresh), &statuses(edited), noise))
        .filter(|lines| !lines.is_empty());
    let after_undo = || {
        let recovered = outcome.after_recovery.as_ref()?;
        Some(stale_fields(&statuses(edited), &statuses(&baseline.after_create), &statuses(recovered), noise))
    };
    let lines = after_edit.or_else(after_undo).filter(|lines| !lines.is_empty())?;
    let problem = "the status is stale after an edit".to_owned();
    let hint = "compute the whole status in each pass, messages included, and write it if any part has changed";
    Some(case.finding(problem, hint, lines))
}

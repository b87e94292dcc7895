//! Checks what must hold in every test run: no panics, no recreated objects, no endless failures, no regenerated values, and no shared
//! children.

use std::collections::BTreeSet;

use opgen_sandbox::fault::Timeline;

use super::{baseline::Baseline, case::Case, failure::program_panic, isolation};
use crate::{
    diff::regenerated_fields,
    object::{is_observed, label, label_with_node},
    path::object_path,
    report::Finding,
    schedule::Schedule,
    simulation::StaleStatus,
};

/// Returns the violations of the invariants that every run must keep: no panics, no recreated children, no endless failures after an edit,
/// no regenerated values, and no shared children.
pub(super) fn violations(case: &Case<'_>, baseline: &Baseline) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    findings.extend(program_panic(case));
    findings.extend(recreated_children(case));
    let schedule = case.schedule;
    let has_faults = schedule.random_faults.is_some()
        || schedule.webhooks.is_some()
        || schedule.cluster.is_some()
        || schedule.bucket.is_some()
        || schedule.service.is_some();
    // Faults and stops may cause rejected writes and failing passes.
    if !has_faults && schedule.stops.is_empty() {
        findings.extend(endless_failure(case, baseline));
    }
    findings.extend(regenerated_value(case, baseline));
    findings.extend(isolation::violation(case, baseline));
    findings
}

/// Returns a finding about the children that were deleted and created again in a phase of the run although the program needed them all the
/// time; `None` if there are none.
fn recreated_children(case: &Case<'_>) -> Option<Finding> {
    let recreations = &case.outcome.recreations;
    let first = recreations.first()?;
    let lines = recreations.iter().map(|recreation| format!("  {} after {}", recreation.object, recreation.phase));
    let lost = if first.lost_data { ", and its data is lost" } else { "" };
    let problem =
        format!("{} was deleted and created again after {}, although it was needed{lost}", first.object, first.phase);
    let hint = if case.schedule.second_object.is_some() {
        "give each child a name that is unique to its owner, and delete by owner, not by a name or a label that other objects share"
    } else {
        "update an existing object instead of deleting it, and delete only objects that are no longer needed"
    };
    Some(case.finding(problem, hint, lines.collect()))
}

/// Returns a finding about a child that the program deleted before it was at rest after the creation of the samples, and that exists again,
/// although the undisturbed run does not delete it. `None` if there is no such child.
pub(super) fn recreated_child(case: &Case<'_>, baseline: &Baseline) -> Option<Finding> {
    let created = case.outcome.after_create.as_ref()?;
    // The paths of the objects that the calls up to a number have deleted.
    let deleted = |timeline: &Timeline, until: u64| -> BTreeSet<String> {
        let deletions = timeline.calls().filter(|call| call.method == "DELETE" && call.number <= until);
        let successful = deletions.filter(|call| call.code.is_some_and(|code| code < 300));
        successful.map(|call| call.path().to_owned()).collect()
    };
    let mut paths = deleted(&case.outcome.timeline, case.outcome.calls_to_create);
    let undisturbed = deleted(&baseline.timeline, baseline.calls_to_create);
    paths.retain(|path| !undisturbed.contains(path));
    let (name, manifests) = (&case.target.name, &case.target.manifests);
    let mut children = created.children(name, &manifests.samples).map(|entry| &entry.raw);
    let child = children.find(|child| paths.contains(&object_path(child, &manifests.install)))?;
    let problem = format!("{} was deleted and created again, although it was needed", label(child));
    let hint = "read from the API server before a delete: a stale list or cache does not prove that an object is gone";
    Some(case.finding(problem, hint, Vec::new()))
}

/// Returns a finding if the program does not cope with a valid edit of the samples: until the program is idle, or its time is over, writes
/// are rejected, passes fail, or the `observedGeneration` stays behind. Ignores a status that is as stale in a new object.
fn endless_failure(case: &Case<'_>, baseline: &Baseline) -> Option<Finding> {
    let failures = &case.outcome.edit_failures;
    let stale = failures.stale.iter().filter(|stale| !is_stale_when_new(case, baseline, stale));
    let failing: Vec<&String> = failures.failing.iter().chain(stale.map(|stale| &stale.problem)).collect();
    let edit = format!("after a valid edit of {}", case.edited_samples());
    let (problem, hint) = match (failures.rejected.first(), failing.first()) {
        (Some(write), _) => (
            format!("{edit}, {write}"),
            "reject invalid values in the schema, or report in the status what the user has to change (a user action)",
        ),
        (None, Some(failing)) => (
            format!("{edit}, {failing}"),
            "report in the status what the user has to change (a user action), or handle every valid object: an unexpected error is retried forever",
        ),
        (None, None) => return None,
    };
    let lines = failures.rejected.iter().map(|write| format!("  {write}"));
    let lines = lines.chain(failing.iter().map(|failing| format!("  {failing}"))).collect();
    Some(case.finding(problem, hint, lines))
}

/// Returns whether an object that is created with the edited spec has a stale `observedGeneration`, too: it waits for another object, so
/// the edited object may wait as well.
fn is_stale_when_new(case: &Case<'_>, baseline: &Baseline, stale: &StaleStatus) -> bool {
    let variant = case.schedule.edit.or(case.schedule.change.map(|(_, variant)| variant));
    let Some(fresh) = variant.and_then(|variant| baseline.fresh(case.target, variant)) else { return false };
    let new = fresh.after_create.as_ref().and_then(|created| created.find(&stale.object));
    new.map_or(fresh.is_not_at_rest, |new| is_observed(new) != Some(true))
}

/// Returns a finding if a random value in a child, such as a password, changed later in the run although the child kept its UID.
fn regenerated_value(case: &Case<'_>, baseline: &Baseline) -> Option<Finding> {
    // A random value may depend on the deleted child, and each release may have its own.
    if case.schedule.deleted_child.is_some() || case.schedule.upgrade {
        return None;
    }
    let outcome = case.outcome;
    let created = outcome.after_create.as_ref()?;
    let edited = outcome.after_edit.as_ref().and_then(|edited| edited.as_ref().ok());
    let later = [edited, outcome.with_second.as_ref(), outcome.after_recovery.as_ref()];
    let (child, lines) = later.into_iter().flatten().find_map(|snapshot| {
        let children = created.children(&case.target.name, &case.target.manifests.samples);
        let mut fields = children.map(|child| (child, regenerated_fields(child, snapshot, &baseline.noise)));
        fields.find(|(_, lines)| !lines.is_empty())
    })?;
    let event = match case.schedule {
        Schedule { edit: Some(_), .. } => "an edit",
        Schedule { second_object: Some(_), .. } => "a second object was created",
        Schedule { cluster: Some(_), .. } => "other clusters were disturbed",
        _ => "a disturbance",
    };
    let problem = format!("{} has a generated value that changed after {event}", label_with_node(&child.raw));
    let hint = "generate a value once: read the object first, and keep its value (`resource(once)` in an opgen tree)";
    Some(case.finding(problem, hint, lines))
}

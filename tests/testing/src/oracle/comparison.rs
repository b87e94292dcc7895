//! Pairs the expected and the actual snapshots of a test run: after the creation of the sample objects, and after each type of change or
//! disturbance.

use super::{baseline::Baseline, case::Case};
use crate::{schedule::Schedule, snapshot::Snapshot, target::Target};

/// An expected and an actual snapshot, and the problem that a difference between them means.
pub(super) struct Comparison {
    pub(super) problem: &'static str,
    pub(super) expected: Snapshot,
    pub(super) actual: Snapshot,
}

/// Returns whether a schedule creates the samples unchanged, and neither edits nor deletes them before the program is at rest: idle after
/// their creation. A disturbance of their buckets before that counts as a deletion if the samples must be put again after it; a disturbance
/// at call 0 happens at rest.
pub(super) fn creates_samples_unchanged(schedule: &Schedule) -> bool {
    let need_restore = schedule.bucket.is_some_and(|(call, disturbance)| call > 0 && disturbance.needs_restore());
    schedule.delete_at.is_none()
        && schedule.initial_variant.is_none()
        && schedule.change.is_none()
        && !schedule.upgrade
        && !need_restore
}

/// Returns the pairs of an expected and an actual snapshot of a run: after the creation of the samples, after a change of them during the
/// creation, and after the one disturbance at rest that the schedule contains (edit, upgrade, recreation, buckets, external services, other
/// clusters, or deletion of a child). `older` is the older release in an upgrade.
pub(super) fn snapshots_to_compare(case: &Case<'_>, older: Option<&Target>, baseline: &Baseline) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    comparisons.extend(after_creation(case, baseline));
    comparisons.extend(after_change(case, baseline));
    match (case.schedule, &case.outcome.after_recovery) {
        (Schedule { edit: Some(variant), .. }, _) => comparisons.extend(after_edit(case, *variant, baseline)),
        (Schedule { upgrade: true, .. }, Some(recovered)) => {
            comparisons.extend(after_upgrade(case, older, baseline, recovered));
        }
        (Schedule { recreate_at: Some(_), .. }, Some(recovered)) => comparisons.push(compare_with_baseline(
            "an object that was deleted and created again differs from a new object",
            case,
            baseline,
            recovered,
        )),
        (Schedule { bucket: Some(_), .. }, Some(recovered)) => {
            let expected = baseline.after_create.desired(&case.target.name);
            let actual = recovered.desired_or_in(&expected, &case.target.name);
            let problem = "the final state after a disturbance of the buckets differs from that of an undisturbed run";
            comparisons.push(Comparison { problem, expected, actual });
        }
        (Schedule { service: Some(_), .. }, Some(recovered)) => comparisons.push(compare_with_baseline(
            "a thing of an external service that another client changed or deleted is not repaired",
            case,
            baseline,
            recovered,
        )),
        (Schedule { cluster: Some((0, _)), deleted_child: None, second_object: None, .. }, Some(recovered)) => {
            comparisons.push(compare_with_baseline(
                "the state after a disturbance of other clusters differs from the one before",
                case,
                baseline,
                recovered,
            ))
        }
        // Without a second object, the only recovery left is that of a deleted child; second objects are compared in
        // oracle/isolation.rs.
        (Schedule { second_object: None, .. }, Some(recovered)) => {
            comparisons.push(compare_with_baseline("a deleted child is not created again", case, baseline, recovered));
        }
        _ => {}
    }
    comparisons
}

/// Pairs the state after the creation of the samples with that of the undisturbed run; `None` if the schedule changes the samples.
fn after_creation(case: &Case<'_>, baseline: &Baseline) -> Option<Comparison> {
    let created = case.outcome.after_create.as_ref().filter(|_| creates_samples_unchanged(case.schedule))?;
    let problem = "the final state differs from that of an undisturbed run";
    if case.schedule.bucket.is_some() {
        // A put of another client begins a new generation and removes the managed fields of earlier writers, so only the desired state is
        // compared.
        let expected = baseline.after_create.desired(&case.target.name);
        let actual = created.desired_or_in(&expected, &case.target.name);
        return Some(Comparison { problem, expected, actual });
    }
    Some(Comparison { problem, expected: baseline.after_create.clone(), actual: created.clone() })
}

/// Pairs the state after a change of the samples during their creation with the state of a run that creates them in the changed form.
/// `None` if the schedule has no change, if the server rejected it, or if the samples wait for another object in both runs.
fn after_change(case: &Case<'_>, baseline: &Baseline) -> Option<Comparison> {
    let (_, variant) = case.schedule.change?;
    let created = case.outcome.after_create.as_ref()?;
    let fresh = baseline.fresh(case.target, variant)?.after_create.as_ref()?;
    if !have_same_specs(case.target, fresh, created) || case.both_wait(fresh, created) {
        return None;
    }
    let name = &case.target.name;
    let problem = "a change during creation leads to another state than a new object";
    Some(Comparison { problem, expected: fresh.desired(name), actual: created.desired(name) })
}

/// Pairs the state after an edit with the state of a run that creates the samples in the edited form, and the state after the edit was
/// undone with that of the undisturbed run. Empty if the server rejected the edit.
fn after_edit(case: &Case<'_>, variant: usize, baseline: &Baseline) -> Vec<Comparison> {
    let name = &case.target.name;
    let mut comparisons = Vec::new();
    if matches!(case.outcome.after_edit, Some(Err(_))) {
        return comparisons;
    }
    if let Some(Ok(edited)) = &case.outcome.after_edit {
        let fresh = baseline.fresh(case.target, variant).and_then(|fresh| fresh.after_create.as_ref());
        if let Some(fresh) = fresh.filter(|fresh| !case.both_wait(fresh, edited)) {
            let problem = "an edit leads to another state than a new object";
            comparisons.push(Comparison { problem, expected: fresh.desired(name), actual: edited.desired(name) });
        }
    }
    if let Some(recovered) = &case.outcome.after_recovery {
        comparisons.push(compare_with_baseline(
            "an undone edit leaves another state than before",
            case,
            baseline,
            recovered,
        ));
    }
    comparisons
}

/// Pairs the state after an upgrade with that of a new installation of the newer release, and the state after the downgrade with that of a
/// run of the older release alone.
fn after_upgrade(
    case: &Case<'_>,
    older: Option<&Target>,
    baseline: &Baseline,
    downgraded: &Snapshot,
) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    if let Some(Ok(upgraded)) = &case.outcome.after_edit {
        let problem = "the state after the upgrade differs from a new installation";
        comparisons.push(compare_with_baseline(problem, case, baseline, upgraded));
    }
    if let (Some(expected), Some(older)) = (&baseline.older, older) {
        // An older release does not know the objects of a newer one, which may have another name.
        let (expected, mut actual) = (expected.desired(&older.name), downgraded.desired(&older.name));
        actual.objects.retain(|key, _| expected.objects.contains_key(key));
        let problem = "the state after the downgrade differs from the one before the upgrade";
        comparisons.push(Comparison { problem, expected, actual });
    }
    comparisons
}

/// Pairs the desired state of a later snapshot with that of the undisturbed run. `problem` describes a difference between them.
fn compare_with_baseline(problem: &'static str, case: &Case<'_>, baseline: &Baseline, later: &Snapshot) -> Comparison {
    let name = &case.target.name;
    Comparison { problem, expected: baseline.after_create.desired(name), actual: later.desired(name) }
}

/// Returns whether the samples have the same specs in two snapshots.
fn have_same_specs(target: &Target, one: &Snapshot, other: &Snapshot) -> bool {
    let spec = |snapshot: &Snapshot, sample| snapshot.find(sample).map(|object| object["spec"].clone());
    target.manifests.samples.iter().all(|sample| spec(one, sample) == spec(other, sample))
}

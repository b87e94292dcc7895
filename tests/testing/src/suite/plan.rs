//! Plans the test runs of each check: one schedule of faults for each API call, child, edit or seed that the check varies.

use std::ops::Range;

use opgen_sandbox::fault::{Fault, FaultClass, Timeline};

use super::webhook_plan;
use crate::{
    check::Check,
    cluster_disturbance::ClusterDisturbance,
    object::cluster_of,
    oracle::Baseline,
    scenario::{execute, isolation_count},
    schedule::{Propagation, Schedule},
    service_event::ServiceEvent,
    snapshot::Entry,
    store_disturbance::StoreDisturbance,
    stored_kind::StoredKind,
    target::Target,
};

/// The limits of a trial.
pub(crate) struct Bounds {
    /// The seeds of random faults.
    pub(crate) seeds: Range<u64>,
    /// The maximum number of pairs of stops.
    pub(crate) pairs: usize,
    /// The number of concurrent runs.
    pub(crate) threads: usize,
}

/// Every third seed injects all fault classes together; the others inject one class each.
const ALL_CLASSES_INTERVAL: u64 = 3;

/// Returns the schedules of a check: one for each call, child, variant or seed that it varies. None for the checks of the
/// baseline and of the role, and for those that do not apply to the program.
pub(super) fn schedules(
    check: Check,
    target: &Target,
    older: Option<&Target>,
    baseline: &Baseline,
    bounds: &Bounds,
) -> Vec<Schedule> {
    let samples = &target.manifests.samples;
    let variants = target.variants.len();
    let children = baseline.after_create.children(&target.name, samples).count();
    match check {
        Check::Convergence | Check::Role => Vec::new(),
        Check::SteadyState => vec![Schedule { idle: true, ..Schedule::default() }],
        Check::Stop => stops(baseline.calls).map(|stop| Schedule::stops([stop])).collect(),
        Check::TwoStops => stop_pairs(baseline.calls, bounds.pairs),
        Check::StaleList if !accepts_stale_lists(&baseline.timeline) => Vec::new(),
        Check::StaleList => (1..=baseline.calls).map(Schedule::stale_list).collect(),
        Check::Deletion => {
            let recreations = (0..=baseline.calls_to_create).map(Schedule::recreation_before);
            let of_variants = (0..variants).map(Schedule::recreation_after);
            deletions(target, baseline.calls_to_create).into_iter().chain(recreations).chain(of_variants).collect()
        }
        // The garbage collector waits for dependents; the other children are blocked one by one, as a blocked one may hide that
        // another is not waited for.
        Check::Finalizers => {
            let children = baseline.after_create.children(&target.name, samples).enumerate();
            let unowned = children.filter(|(_, child)| child.is_unowned() && !child.may_stay());
            let alone = unowned.map(|(index, _)| Schedule::foreign_finalizers(index + 1));
            std::iter::once(Schedule::foreign_finalizers(0)).chain(alone).collect()
        }
        Check::Repair => (0..children)
            .flat_map(|index| [false, true].map(|hides_events| Schedule::child_deletion(index, hides_events)))
            .collect(),
        Check::Isolation => (0..isolation_count(samples)).map(Schedule::second_objects).collect(),
        Check::Edit => edits(baseline.calls_to_create, variants),
        Check::RandomFaults => bounds
            .seeds
            .clone()
            .map(|seed| with_edit_or_deletion(random_schedule(seed), seed, (variants, children)))
            .collect(),
        Check::Webhooks => {
            let calls: Vec<(u64, bool)> =
                baseline.webhook_calls().map(|call| (call.number, call.is_conversion)).collect();
            webhook_plan::schedules(&calls, bounds.seeds.clone(), variants, older.is_some())
        }
        Check::RemoteClusters => cluster_disturbances(baseline),
        Check::Buckets => bucket_disturbances(target, baseline),
        Check::ExternalService => service_events(target, baseline),
        Check::Upgrade => older.map(|older| upgrades(target, older, bounds.seeds.clone())).unwrap_or_default(),
    }
}

/// Returns the check that runs a schedule. A schedule may fit several checks: the order of the arms decides.
pub(super) fn check_of(schedule: &Schedule) -> Check {
    match schedule {
        Schedule { idle: true, .. } => Check::SteadyState,
        Schedule { webhooks: Some(_), .. } => Check::Webhooks,
        Schedule { cluster: Some(_), .. } => Check::RemoteClusters,
        Schedule { bucket: Some(_), .. } => Check::Buckets,
        Schedule { service: Some(_), .. } => Check::ExternalService,
        Schedule { foreign_finalizers: Some(_), .. } => Check::Finalizers,
        Schedule { upgrade: true, .. } => Check::Upgrade,
        Schedule { recreate_at: Some(_), .. } => Check::Deletion,
        Schedule { random_faults: Some(_), .. } => Check::RandomFaults,
        Schedule { deleted_child: Some(_), .. } => Check::Repair,
        Schedule { second_object: Some(_), .. } => Check::Isolation,
        Schedule { edit: Some(_), .. }
        | Schedule { change: Some(_), .. }
        | Schedule { initial_variant: Some(_), .. } => Check::Edit,
        Schedule { delete_at: Some(_), .. } => Check::Deletion,
        Schedule { propagation: Propagation::Foreground | Propagation::Orphan, .. } => Check::Deletion,
        Schedule { has_stale_list: true, .. } => Check::StaleList,
        Schedule { stops, .. } if stops.len() > 1 => Check::TwoStops,
        Schedule { stops, .. } if stops.len() == 1 => Check::Stop,
        _ => Check::Convergence,
    }
}

/// Returns each disturbance at rest, and one before each call. None for a program without objects in other clusters.
fn cluster_disturbances(baseline: &Baseline) -> Vec<Schedule> {
    let is_remote = |entry: &Entry| cluster_of(&entry.raw).is_some();
    if !baseline.after_create.objects.values().any(is_remote) {
        return Vec::new();
    }
    let at_rest = ClusterDisturbance::ALL.map(|disturbance| Schedule::cluster_disturbance(0, disturbance));
    let in_turn = ClusterDisturbance::ALL.into_iter().filter(|disturbance| !disturbance.needs_restart()).cycle();
    let before_a_call =
        (1..=baseline.calls).zip(in_turn).map(|(call, disturbance)| Schedule::cluster_disturbance(call, disturbance));
    at_rest.into_iter().chain(before_a_call).collect()
}

/// Returns each disturbance of the buckets at rest, a removal of the samples before each call, and another disturbance before each call of
/// their creation. Without samples in buckets only those of other objects, and none for a program without kinds in buckets.
fn bucket_disturbances(target: &Target, baseline: &Baseline) -> Vec<Schedule> {
    if StoredKind::all(&target.manifests.install).is_empty() {
        return Vec::new();
    }
    let has_samples = has_stored_samples(target);
    let applicable =
        StoreDisturbance::ALL.into_iter().filter(|disturbance| has_samples || !disturbance.needs_samples());
    let (removals, others): (Vec<_>, Vec<_>) = applicable.partition(|disturbance| disturbance.removes_samples());
    let at_rest = removals.iter().chain(&others).map(|disturbance| (0, *disturbance));
    let removed = (1..=baseline.calls).zip(removals.iter().copied().cycle());
    let disturbed = (1..=baseline.calls_to_create).zip(others.iter().copied().cycle());
    let calls = at_rest.chain(removed).chain(disturbed);
    calls.map(|(call, disturbance)| Schedule::bucket_disturbance(call, disturbance)).collect()
}

/// Returns whether a sample is in a bucket.
fn has_stored_samples(target: &Target) -> bool {
    let kinds = StoredKind::all(&target.manifests.install);
    target.manifests.samples.iter().any(|sample| kinds.iter().any(|kind| kind.is_kind_of(sample)))
}

/// Returns each event of each call to an external service, a write whose response is lost together with a change or a deletion of the
/// samples before the next call, a loss before each such call, and each other event at rest. None for a program without such a
/// service.
fn service_events(target: &Target, baseline: &Baseline) -> Vec<Schedule> {
    let Some(service) = &target.service else { return Vec::new() };
    let mut schedules: Vec<_> = service.events().into_iter().map(|event| Schedule::service_event(0, event)).collect();
    for call in baseline.timeline.calls().filter(|call| call.path().starts_with("/external/")) {
        let (number, is_creation) = (call.number, call.number <= baseline.calls_to_create);
        let events = if call.is_write() { ServiceEvent::OF_WRITES } else { ServiceEvent::OF_READS };
        schedules.extend(events.iter().map(|event| Schedule::service_event(number, *event)));
        if is_creation {
            schedules.push(Schedule::service_event(number, ServiceEvent::Loss));
        }
        if is_creation && call.is_write() {
            let lost = Schedule::service_event(number, ServiceEvent::Lost);
            schedules.push(Schedule { delete_at: Some(number + 1), ..lost.clone() });
            let variants = 0..target.variants.len();
            schedules.extend(variants.map(|variant| Schedule { change: Some((number + 1, variant)), ..lost.clone() }));
        }
    }
    schedules
}

/// Returns whether a list of the program accepts any version.
fn accepts_stale_lists(timeline: &Timeline) -> bool {
    timeline.calls().any(|call| !call.is_watch() && call.takes_older())
}

/// Returns the stops before and after each call, each with the number of its call.
fn stops(calls: u64) -> impl Iterator<Item = (u64, Fault)> {
    (1..=calls).flat_map(|call| [(call, Fault::StopBefore), (call, Fault::StopAfter)])
}

/// Returns pairs of stops: all, or `limit` of them taken evenly from all. The second stop comes 1 to `calls` calls after the first.
fn stop_pairs(calls: u64, limit: usize) -> Vec<Schedule> {
    let all = calls * calls;
    let count = all.min(limit as u64);
    let pair = |index: u64| {
        let at = index * all / count.max(1);
        let (first, second) = (at / calls + 1, at % calls + 1);
        let fault = if index.is_multiple_of(2) { Fault::StopAfter } else { Fault::StopBefore };
        Schedule::stops([(first, Fault::StopAfter), (first + second, fault)])
    };
    (0..count).map(pair).collect()
}

/// Returns a deletion before each call, with the propagation policies in turn, and deletions at rest. Samples in buckets have no
/// propagation policy.
fn deletions(target: &Target, calls: u64) -> Vec<Schedule> {
    if has_stored_samples(target) {
        return (1..=calls).map(Schedule::deletion_before).collect();
    }
    let in_turn = Propagation::ALL.into_iter().cycle();
    let before_a_call = (1..=calls).map(Schedule::deletion_before).zip(in_turn);
    // All other checks delete at rest with the policy `Background`.
    let at_rest = [Propagation::Foreground, Propagation::Orphan].map(|policy| (Schedule::default(), policy));
    before_a_call.chain(at_rest).map(|(schedule, propagation)| schedule.with_propagation(propagation)).collect()
}

/// Returns an edit to each variant at rest, and a change to a variant before each call.
fn edits(calls: u64, variants: usize) -> Vec<Schedule> {
    let at_rest = (0..variants).map(Schedule::edit);
    let before_a_call = (1..=calls).filter(|_| variants > 0).map(|call| {
        let variant = usize::try_from(call).unwrap_or_default() % variants;
        Schedule::change_before(call, variant)
    });
    at_rest.chain(before_a_call).collect()
}

/// Adds an edit of the samples, or a deletion of a child, to half of the schedules.
fn with_edit_or_deletion(mut schedule: Schedule, seed: u64, (variants, children): (usize, usize)) -> Schedule {
    let nth = |count: usize| usize::try_from(seed / 4).unwrap_or_default() % count;
    match seed % 4 {
        1 if variants > 0 => schedule.edit = Some(nth(variants)),
        3 if children > 0 => schedule.deleted_child = Some(nth(children)),
        _ => {}
    }
    schedule
}

/// Returns random faults of one class, or of all.
fn random_schedule(seed: u64) -> Schedule {
    if seed.is_multiple_of(ALL_CLASSES_INTERVAL) {
        return Schedule::random_faults(seed, &FaultClass::ALL);
    }
    // The number of the seed among those of one class, so that each class gets its turn.
    let index = usize::try_from(seed - seed / ALL_CLASSES_INTERVAL).unwrap_or_default() % FaultClass::ALL.len();
    Schedule::random_faults(seed, &[FaultClass::ALL[index]])
}

/// Returns an upgrade at rest, upgrades that stop the newer release after each of its calls until it is at rest, and some with
/// random faults.
fn upgrades(target: &Target, older: &Target, seeds: Range<u64>) -> Vec<Schedule> {
    let upgrade = |schedule: Schedule| Schedule { upgrade: true, ..schedule };
    let at_rest = upgrade(Schedule::default());
    let outcome = execute(target, Some(older), &at_rest);
    let calls = outcome.calls_to_create + 1..=outcome.calls_to_upgrade;
    let stopped = calls.map(|call| upgrade(Schedule::stops([(call, Fault::StopAfter)])));
    let disturbed =
        seeds.filter(|seed| seed.is_multiple_of(ALL_CLASSES_INTERVAL)).map(|seed| upgrade(random_schedule(seed)));
    std::iter::once(at_rest).chain(stopped).chain(disturbed).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn few_pairs_are_taken_evenly_from_all() {
        assert_eq!(stop_pairs(3, 100).len(), 9);
        let some: Vec<_> = stop_pairs(100, 4).iter().map(ToString::to_string).collect();
        assert_eq!(some, ["after:1 after:2", "after:26 before:27", "after:51 after:52", "after:76 before:77"]);
    }

    #[test]
    fn each_class_has_a_seed() {
        let alone: BTreeSet<String> = (0..34)
            .map(random_schedule)
            .filter(|c| c.to_string().contains('='))
            .map(|c| c.to_string().split('=').nth(1).unwrap_or_default().to_owned())
            .collect();
        assert_eq!(alone.len(), FaultClass::ALL.len());
    }
}

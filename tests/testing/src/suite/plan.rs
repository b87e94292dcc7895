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

/// Returns the schedules (faults and changes of a run) of a check: one for each call, child, variant (edited form of the samples) or seed
/// that the check varies. Returns no schedule for the checks of convergence and of the role, and for a check that does not apply to the
/// program.
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
            let from_variants = (0..variants).map(Schedule::recreation_after);
            deletions(target, baseline.calls_to_create).into_iter().chain(recreations).chain(from_variants).collect()
        }
        // First all children are blocked, then each child without an owner reference alone: with all of them blocked, the program may wait
        // for one child and not for another. The garbage collector waits for the children with owner references.
        Check::Finalizers => {
            let children = baseline.after_create.children(&target.name, samples).enumerate();
            let unowned = children.filter(|(_, child)| child.is_unowned() && !child.may_stay());
            let one_by_one = unowned.map(|(index, _)| Schedule::foreign_finalizers(index + 1));
            std::iter::once(Schedule::foreign_finalizers(0)).chain(one_by_one).collect()
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

/// Returns the check to which a replayed schedule belongs, for its findings. If it fits several checks, the first arm that matches decides.
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

/// Returns schedules with each disturbance of other clusters while the program is idle, and with one disturbance before each call, all in
/// turn. Returns no schedule for a program without objects in other clusters.
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

/// Returns schedules with disturbances of the buckets (key-value stores): each disturbance while the program is idle, one that removes the
/// samples before each call, and one of the other disturbances before each call until the program is idle after the creation of the
/// samples. Leaves out disturbances of samples if no sample is in a bucket, and returns no schedule for a program without kinds in buckets.
fn bucket_disturbances(target: &Target, baseline: &Baseline) -> Vec<Schedule> {
    if StoredKind::all(&target.manifests.install).is_empty() {
        return Vec::new();
    }
    let has_samples = has_stored_samples(target);
    let applicable =
        StoreDisturbance::ALL.into_iter().filter(|disturbance| has_samples || !disturbance.needs_samples());
    let (removals, others): (Vec<_>, Vec<_>) = applicable.partition(|disturbance| disturbance.removes_samples());
    let at_rest = removals.iter().chain(&others).map(|disturbance| (0, *disturbance));
    let removals_at_calls = (1..=baseline.calls).zip(removals.iter().copied().cycle());
    let others_at_calls = (1..=baseline.calls_to_create).zip(others.iter().copied().cycle());
    let all = at_rest.chain(removals_at_calls).chain(others_at_calls);
    all.map(|(call, disturbance)| Schedule::bucket_disturbance(call, disturbance)).collect()
}

/// Returns whether the kind of a sample is in a bucket, a key-value store.
fn has_stored_samples(target: &Target) -> bool {
    let kinds = StoredKind::all(&target.manifests.install);
    target.manifests.samples.iter().any(|sample| kinds.iter().any(|kind| kind.is_kind_of(sample)))
}

/// Returns schedules with events of the external service: each event that concerns all things while the program is idle (an exhausted quota
/// already before the samples are created), and each fault that a call to the service can have. For the calls until the program is idle
/// after the creation of the samples, adds a loss of all things before the call, and for a write also a lost response with a deletion or a
/// change of the samples before the next call. Returns no schedule for a program without such a service.
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

/// Returns whether a list in the timeline accepts any version (`resourceVersion=0`), so that the server may answer with an older state.
fn accepts_stale_lists(timeline: &Timeline) -> bool {
    timeline.calls().any(|call| !call.is_watch() && call.takes_older())
}

/// Returns two stops of the process for each of the first `calls` calls, one before and one after it, each with the number of its call.
fn stops(calls: u64) -> impl Iterator<Item = (u64, Fault)> {
    (1..=calls).flat_map(|call| [(call, Fault::StopBefore), (call, Fault::StopAfter)])
}

/// Returns schedules with two stops of the process: all pairs, or `limit` of them taken evenly from all. The first stop comes after one of
/// the first `calls` calls, and the second 1 to `calls` calls later, in turn after and before its call.
fn stop_pairs(calls: u64, limit: usize) -> Vec<Schedule> {
    let all = calls * calls;
    let count = all.min(limit as u64);
    let pair = |index: u64| {
        // The position of the pair in the list of all pairs, ordered by the first call.
        let at = index * all / count.max(1);
        let (first, distance) = (at / calls + 1, at % calls + 1);
        let fault = if index.is_multiple_of(2) { Fault::StopAfter } else { Fault::StopBefore };
        Schedule::stops([(first, Fault::StopAfter), (first + distance, fault)])
    };
    (0..count).map(pair).collect()
}

/// Returns schedules with a deletion of the samples before each of the first `calls` calls, with the propagation policies in turn, and with
/// deletions while the program is idle. If samples are in buckets, which know no propagation policy, returns only deletions before calls.
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

/// Returns schedules that edit the samples to each variant (edited form) and back while the program is idle, and schedules that change them
/// to a variant, all in turn, before each of the first `calls` calls.
fn edits(calls: u64, variants: usize) -> Vec<Schedule> {
    let at_rest = (0..variants).map(Schedule::edit);
    let before_a_call = (1..=calls).filter(|_| variants > 0).map(|call| {
        let variant = usize::try_from(call).unwrap_or_default() % variants;
        Schedule::change_before(call, variant)
    });
    at_rest.chain(before_a_call).collect()
}

/// Adds an edit of the samples to a quarter of the schedules, by their seeds, and the deletion of a child to another quarter. `variants` is
/// the number of edited forms of the samples, and `children` the number of children.
fn with_edit_or_deletion(mut schedule: Schedule, seed: u64, (variants, children): (usize, usize)) -> Schedule {
    let nth = |count: usize| usize::try_from(seed / 4).unwrap_or_default() % count;
    match seed % 4 {
        1 if variants > 0 => schedule.edit = Some(nth(variants)),
        3 if children > 0 => schedule.deleted_child = Some(nth(children)),
        _ => {}
    }
    schedule
}

/// Returns a schedule with random faults from a seed: of all classes for every third seed, and of one class, all in turn, for the others.
fn random_schedule(seed: u64) -> Schedule {
    if seed.is_multiple_of(ALL_CLASSES_INTERVAL) {
        return Schedule::random_faults(seed, &FaultClass::ALL);
    }
    // The number of the seed among those of one class, so that each class gets its turn.
    let index = usize::try_from(seed - seed / ALL_CLASSES_INTERVAL).unwrap_or_default() % FaultClass::ALL.len();
    Schedule::random_faults(seed, &[FaultClass::ALL[index]])
}

/// Returns schedules with an upgrade from the older release: one without faults, one for each call of the newer release until it is idle,
/// with a stop after the call, and one with random faults for every third seed. Runs the first of them to count these calls.
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
        let four: Vec<_> = stop_pairs(100, 4).iter().map(ToString::to_string).collect();
        assert_eq!(four, ["after:1 after:2", "after:26 before:27", "after:51 after:52", "after:76 before:77"]);
    }

    #[test]
    fn each_class_has_a_seed() {
        // The text of a schedule with a single class ends with `=` and the name of the class.
        let single_classes: BTreeSet<String> = (0..34)
            .map(|seed| random_schedule(seed).to_string())
            .filter(|text| text.contains('='))
            .map(|text| text.split('=').nth(1).unwrap_or_default().to_owned())
            .collect();
        assert_eq!(single_classes.len(), FaultClass::ALL.len());
    }
}

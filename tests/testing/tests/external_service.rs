//! Injects faults into an opgen operator whose tree has DNS records in an external service, and checks that mistakes of the client are
//! found.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

mod dns;

use std::time::Duration;

use dns::{Entry, HostTree, ImportingTree, Mistake, PatientTree, RetainingTree, host, operator};
use opgen_testing::{
    Check, Report, Trial,
    external_service::{ServiceSettings, SimulatedService},
    trial_with_service,
};

/// The time until a new record is visible, in a service that is not consistent at once.
const LAG: Duration = Duration::from_secs(15);

/// The delay of a controller whose trial must not take a wait for a visible record for rest.
const PATIENCE: Duration = Duration::from_secs(30);

const DEFAULT_DELAY: Duration = Duration::from_secs(10);

fn settings() -> ServiceSettings<Entry> {
    ServiceSettings::<Entry>::new("DNS record")
        .completes(|entry| {
            if entry.ttl == 0 {
                entry.ttl = 300;
            }
        })
        .drift(|entry| entry.address = "192.0.2.99".to_owned())
        .foreign_change(|entry| entry.comment = "of the network team".to_owned())
}

/// Returns a trial of the operator with a mistake.
fn with_mistake(mistake: Mistake) -> Trial {
    let build = move |service| operator::<HostTree>(service, mistake, DEFAULT_DELAY);
    trial_with_service(settings(), build).sample(&host("one"))
}

#[track_caller]
fn is_clean(report: &Report) {
    assert!(report.is_clean(), "{report}");
    assert!(report.runs() > 3, "{report}");
}

/// Checks that a trial with this check alone finds the defect.
#[track_caller]
fn is_found(trial: Trial, check: Check) {
    let report = trial.only([check]).run();
    assert!(report.findings.iter().any(|finding| finding.check == check), "{report}");
}

#[test]
fn an_operator_of_dns_records_is_clean() {
    let report = with_mistake(Mistake::None).seeds(0..9).pairs(8).run();
    is_clean(&report);
    for check in [Check::Stop, Check::Deletion, Check::RandomFaults, Check::ExternalService] {
        assert!(report.steps.iter().any(|step| step.check == check && step.runs > 3), "{report}");
    }
    let has_calls = report.timeline.calls().any(|call| call.path().starts_with("/external/dns-record/"));
    assert!(has_calls, "the calls to the service are in the timeline: {report}");
}

#[test]
fn an_older_release_of_a_trial_with_a_service_is_an_error() {
    let older = || operator::<HostTree>(SimulatedService::new(settings()), Mistake::None, DEFAULT_DELAY);
    let report = with_mistake(Mistake::None).upgrades_from(older).run();
    let problems: Vec<_> = report.findings.iter().map(|finding| finding.problem.as_str()).collect();
    let expected =
        "failed to install the program: a trial with a service can't run an older release; remove `upgrades_from`";
    assert_eq!(problems, [expected]);
}

/// The clock of the operator jumps in some random faults, and a grace period is measured by it.
#[test]
fn a_grace_period_covers_the_time_until_a_new_record_is_visible() {
    let build = |service| operator::<PatientTree>(service, Mistake::None, PATIENCE);
    let trial = trial_with_service(settings().visible_after(LAG), build).sample(&host("one"));
    let checks = Check::ALL.iter().copied().filter(|check| *check != Check::RandomFaults);
    is_clean(&trial.only(checks).pairs(8).run());
}

#[test]
fn a_deletion_that_takes_its_time_is_awaited() {
    let build = |service| operator::<HostTree>(service, Mistake::None, DEFAULT_DELAY);
    let slow = settings().deletion_time(Duration::from_secs(60));
    let trial = trial_with_service(slow, build).sample(&host("one"));
    is_clean(&trial.only([Check::Convergence, Check::Stop, Check::Deletion, Check::ExternalService]).run());
}

#[test]
fn a_retained_record_may_stay() {
    let build = |service| operator::<RetainingTree>(service, Mistake::None, DEFAULT_DELAY);
    let trial = trial_with_service(settings().retained(), build).sample(&host("one"));
    is_clean(&trial.only([Check::Convergence, Check::Stop]).run());
}

/// A node with an import makes no call of `create`, and the function that returns the id can make no call: an import that creates is
/// impossible.
#[test]
fn an_imported_record_is_taken_over_and_none_is_created() {
    let build = |service| operator::<ImportingTree>(service, Mistake::None, DEFAULT_DELAY);
    let trial = trial_with_service(settings().existing("seven", Entry::default()), build).sample(&host("one"));
    let report = trial.only([Check::Convergence, Check::Stop, Check::TwoStops, Check::ExternalService]).pairs(8).run();
    is_clean(&report);
    let is_creation = |method: &str, path: &str| method == "POST" && path.starts_with("/external/");
    assert!(!report.timeline.calls().any(|call| is_creation(&call.method, call.path())), "{report}");
}

#[test]
fn a_client_that_does_not_look_for_the_token_before_a_creation_is_found() {
    is_found(with_mistake(Mistake::IgnoresToken), Check::Stop);
}

#[test]
fn a_client_with_a_token_of_its_own_for_each_call_is_found() {
    is_found(with_mistake(Mistake::RandomToken), Check::Stop);
}

#[test]
fn a_client_whose_token_depends_on_the_spec_is_found() {
    is_found(with_mistake(Mistake::TokenOfSpec), Check::ExternalService);
}

#[test]
fn a_missing_grace_period_is_found() {
    let build = |service| operator::<HostTree>(service, Mistake::None, DEFAULT_DELAY);
    let trial = trial_with_service(settings().visible_after(LAG), build).sample(&host("one"));
    is_found(trial, Check::Convergence);
}

/// The operator remembers the id that `create` returns, before it observes the thing.
#[test]
fn a_client_that_returns_another_id_is_found() {
    is_found(with_mistake(Mistake::WrongId), Check::Deletion);
}

#[test]
fn a_client_that_swallows_the_error_of_a_creation_is_found() {
    is_found(with_mistake(Mistake::SwallowsError), Check::ExternalService);
}

#[test]
fn a_deletion_that_fails_if_the_record_is_gone_is_found() {
    is_found(with_mistake(Mistake::DeletionOfAbsentFails), Check::Stop);
}

#[test]
fn a_client_that_hides_a_record_that_is_being_deleted_is_found() {
    let build = |service| operator::<HostTree>(service, Mistake::HidesDeletion, DEFAULT_DELAY);
    let slow = settings().deletion_time(Duration::from_secs(120));
    is_found(trial_with_service(slow, build).sample(&host("one")), Check::Convergence);
}

#[test]
fn a_record_that_is_retained_by_mistake_is_found() {
    let build = |service| operator::<RetainingTree>(service, Mistake::None, DEFAULT_DELAY);
    is_found(trial_with_service(settings(), build).sample(&host("one")), Check::Convergence);
}

#[test]
fn an_update_that_replaces_what_other_clients_set_is_found() {
    is_found(with_mistake(Mistake::ReplacesAll), Check::ExternalService);
}

#[test]
fn a_comparison_with_defaults_of_the_service_is_found() {
    is_found(with_mistake(Mistake::ComparesDefaults), Check::Convergence);
}

#[test]
fn a_comparison_with_a_masked_secret_is_found() {
    is_found(with_mistake(Mistake::ComparesSecrets), Check::Convergence);
}

#[test]
fn a_client_that_never_sees_a_difference_is_found() {
    is_found(with_mistake(Mistake::NeverDiffers), Check::ExternalService);
}

#[test]
fn a_client_that_repeats_a_creation_over_an_exhausted_quota_without_a_pause_is_found() {
    is_found(with_mistake(Mistake::SpinsOnQuota), Check::ExternalService);
}

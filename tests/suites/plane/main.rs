//! Cases on a real control plane. Each module has a `cases()`; add yours to the list.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod access;
mod admitted;
mod agreement;
mod chart;
mod charts;
mod checked;
mod course;
mod edits;
mod faults;
mod harness;
mod helm;
mod ippool;
mod kinds;
mod lead;
mod monitoring;
mod operator;
mod permissions;
mod reference;
mod scaffolded;
mod shards;
mod shop;
mod traces;
mod tree;
mod uninstall;
mod validation;

use libtest_mimic::Trial;
use std::{panic, process::ExitCode};

fn main() -> ExitCode {
    if let Some(end) = harness::victim::requested() {
        return harness::victim::run(end);
    }
    if let Some(role) = traces::requested() {
        return traces::run(role);
    }
    let suites = [
        scaffolded::cases(),
        shop::cases(),
        harness::cases(),
        edits::cases(),
        access::cases(),
        admitted::cases(),
        agreement::cases(),
        chart::cases(),
        checked::cases(),
        course::cases(),
        ippool::cases(),
        kinds::cases(),
        lead::cases(),
        monitoring::cases(),
        operator::cases(),
        faults::cases(),
        helm::cases(),
        permissions::cases(),
        reference::cases(),
        shards::cases(),
        traces::cases(),
        tree::cases(),
        uninstall::cases(),
        validation::cases(),
    ];
    hush_planned_panics();
    opgen_tests::run_suites(longest_first(suites.into_iter().flatten().collect()))
}

/// The cases that take longest on a control plane, mostly because they wait for time to pass.
const LONGEST: [&str; 14] = [
    "remote_either_of_two_nested_clusters_may_be_cut_off_for_minutes_at_any_time",
    "a_new_project_lives_by_its_generated_role_and_no_call_too_many",
    "fight_over_a_field_is_slowed_down_and_reported_and_ends_with_it",
    "fight_of_a_build_function_with_itself_is_slowed_down_and_reported",
    "fight_with_somebody_who_deletes_a_child_is_slowed_down_and_reported",
    "brake_two_objects_that_copy_each_others_status_are_slowed_down",
    "brake_the_own_status_write_does_not_end_the_backoff_of_a_fight",
    "remote_m7_a_cluster_is_registered_for_its_applications_until_the_last_of_them",
    "an_outage_of_half_a_minute_is_survived",
    "versions_live_through_upgrade_rotation_restarts_and_rollback",
    "a_renewal_of_the_certificate_of_webhooks_fails_no_request",
    "remote_a_stop_at_each_call_of_a_nested_teardown_keeps_its_order",
    "twenty_shops_live_by_the_generated_role_and_no_call_too_many",
    "two_hundred_webapps_live_by_the_generated_role_and_no_call_too_many",
];

/// Moves the longest cases to the start, so that the last of them does not run alone at the end.
fn longest_first(mut cases: Vec<Trial>) -> Vec<Trial> {
    let place = |case: &Trial| LONGEST.iter().position(|name| case.name().ends_with(name));
    let found = cases.iter().filter(|case| place(case).is_some()).count();
    assert_eq!(found, LONGEST.len(), "a case of LONGEST has another name, or two cases have one name");
    cases.sort_by_key(|case| place(case).unwrap_or(LONGEST.len()));
    cases
}

/// What panics on purpose does so unsaid, so that a panic that is told is one to look at.
fn hush_planned_panics() {
    let say = panic::take_hook();
    panic::set_hook(Box::new(move |told| {
        let payload = told.payload();
        let words = payload.downcast_ref::<&str>().copied();
        let words = words.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        if words != Some(operator::kinds::SECRET_DETAIL) {
            say(told);
        }
    }));
}

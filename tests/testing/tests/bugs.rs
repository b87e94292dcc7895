//! Bugs that operators had: each is found, and what is said helps.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub)]

mod garden;

use garden::{Bug, Gardener, planted};
use opgen_testing::{Check, trial_of};

/// What is said where something was made twice.
const TWICE: &str =
    "something was made twice: give it a name that follows from its owner, or look for it before you make it";

/// What is said where something is never done.
const SKIPPED: &str =
    "a step was skipped after the restart: decide by what is in the cluster, not by what was done before it";

/// What is said where something stays.
const LEFT: &str = "give what is made an owner reference, or remove it in the teardown, and store the finalizer before the first is made";

#[test]
fn a_gardener_without_bugs_is_clean() {
    let report = trial_of(Gardener { bug: Bug::None, weeds: false }).run();
    // Its role may read single objects, which only some bugs need.
    assert!(report.findings.iter().all(|finding| finding.check == Check::Role), "{report}");
    let unused: Vec<_> = report.findings.iter().flat_map(|finding| &finding.difference).collect();
    assert_eq!(unused, ["+ get configmaps", "+ get gardens.example.com"], "{report}");
}

#[test]
fn a_finalizer_after_the_side_effect_leaks() {
    planted(Bug::FinalizerAfterSideEffect)
        .found_by(Check::Deletion)
        .said("objects are left after the deletion")
        .shown("+ ConfigMap default/home-s")
        .hinted(LEFT);
}

#[test]
fn a_child_whose_name_is_in_memory_is_made_twice() {
    planted(Bug::CreateWithoutName)
        .found_by(Check::Stop)
        .said("the end is another than without it")
        .shown("+ ConfigMap default/home-soil-")
        .hinted(TWICE);
}

#[test]
fn a_status_of_a_newer_spec_is_found() {
    planted(Bug::StatusFromStaleRead)
        .found_by(Check::Edit)
        .said("a change in the middle leads elsewhere than a new object")
        .shown("+ ConfigMap default/home-shed")
        .hinted("a pass over the older spec was taken for one over the newer: write observedGeneration from the object that the pass worked on, never from a newer read");
}

#[test]
fn a_message_about_an_older_spec_is_found() {
    planted(Bug::OldMessage)
        .found_by(Check::Edit)
        .said("the status still says what was so before an edit")
        .shown("-   .status.conditions[0].message: \"2 plants\"")
        .shown("+   .status.conditions[0].message: \"3 plants\"")
        .hinted("say anew in each pass all that the status says, messages too, and write it when any of it is another than before");
}

#[test]
fn a_missing_watch_is_found() {
    planted(Bug::MissingWatch)
        .found_by(Check::Repair)
        .said("what somebody deleted is not made again")
        .shown("- ConfigMap default/home-soil")
        .hinted("watch what you make, so that its deletion leads to a pass");
}

#[test]
fn a_child_of_nobody_is_left() {
    planted(Bug::UnownedChild)
        .found_by(Check::Convergence)
        .said("1 objects are left after the deletion")
        .shown("+ ConfigMap default/home-shed")
        .hinted(LEFT);
}

#[test]
fn a_generated_name_that_is_noted_later_is_made_twice() {
    planted(Bug::NonIdempotentGenerateName)
        .found_by(Check::Stop)
        .said("the end is another than without it")
        .shown("+ ConfigMap default/home-ticket-")
        .hinted(TWICE);
}

#[test]
fn a_child_that_is_not_wanted_any_more_is_found() {
    planted(Bug::LeakedOnFlip)
        .found_by(Check::Edit)
        .said("an edit leads elsewhere than a new object")
        .shown("+ ConfigMap default/home-shed")
        .hinted("remove what is not wanted any more: what a condition switches off stays otherwise");
}

#[test]
fn a_role_that_is_too_small_is_found() {
    planted(Bug::WrongRole)
        .found_by(Check::Role)
        .said("the role does not allow delete configmaps")
        .hinted("add the rule to the role; in a tree of opgen, declare it with `access(...)` on the node");
}

#[test]
fn a_hot_loop_is_found() {
    planted(Bug::HotLoop)
        .found_by(Check::Convergence)
        .said("never comes to rest after the samples were made; it asks for the same again and again: PATCH")
        .said("gardens/home/status")
        .hinted("compare with what is there before you write; let what you write follow from the object alone, not from clocks, dice or counters; and wait for a change instead of asking");
}

#[test]
fn a_swallowed_conflict_is_found() {
    planted(Bug::SwallowedConflict)
        .found_by(Check::Chance)
        .said("the end is another than without it")
        .hinted("retry what fails, 409 above all; look at the cluster and not at memory; and never write from an older read than your own last write");
}

#[test]
fn a_delete_that_is_not_gated_is_found() {
    planted(Bug::UngatedDelete)
        .found_by(Check::Gate)
        .said("was let go while ConfigMap")
        .hinted("remove the finalizer only when a live read says that what was made is really gone");
}

#[test]
fn one_delete_that_is_not_gated_is_found_beside_others_that_are() {
    planted(Bug::OneUngated)
        .found_by(Check::Gate)
        .said("was let go while ConfigMap home-seedbox was still there")
        .hinted("remove the finalizer only when a live read says that what was made is really gone");
}

#[test]
fn anothers_finalizer_that_is_overwritten_is_found() {
    planted(Bug::OthersFinalizers)
        .found_by(Check::Gate)
        .said("Garden home lost a finalizer of somebody else")
        .hinted("add and remove your own finalizer only: never write the whole list, and check the resourceVersion");
}

// The three patterns of Sieve: each is found, and whoever does it right passes.

#[test]
fn intermediate_state_what_was_begun_is_not_done() {
    planted(Bug::IntermediateState)
        .found_by(Check::Stop)
        .said("the end is another than without it")
        .shown("- ConfigMap default/home-")
        .hinted(SKIPPED);
    planted(Bug::None).passes(Check::Stop);
}

#[test]
fn stale_state_what_an_old_list_lacks_is_not_gone() {
    planted(Bug::StaleState)
        .in_a_gardener_that_weeds()
        .found_by(Check::OldList)
        .said("was deleted and made again, though it was wanted")
        .hinted("ask the server before you delete: what an old list, or a cache, does not show need not be gone");
    planted(Bug::None).in_a_gardener_that_weeds().passes(Check::OldList);
}

#[test]
fn unobserved_state_what_no_event_tells_is_seen_in_a_list() {
    planted(Bug::UnobservedState)
        .found_by(Check::Repair)
        .said("what somebody deleted is not made again")
        .shown("- ConfigMap default/home-soil")
        .hinted("take a new list for news: what happened before it is told by no event, so compare all of it with what is wanted");
    planted(Bug::None).passes(Check::Repair);
}

#[test]
fn a_gardener_that_weeds_and_asks_before_is_clean() {
    let report = trial_of(Gardener { bug: Bug::None, weeds: true }).run();
    assert!(report.findings.iter().all(|finding| finding.check == Check::Role), "{report}");
}

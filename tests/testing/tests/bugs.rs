//! Bugs that operators had: each is found, and what is said helps.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub)]

mod garden;

use garden::{Bug, Gardener, planted};
use opgen_testing::{Check, trial_of};
use serde_json::json;

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
    let report = trial_of(Gardener::new(Bug::None)).run();
    // Its role allows a verb too much. That it may read single objects of what it lists is no excess.
    assert!(report.findings.iter().all(|finding| finding.check == Check::Role), "{report}");
    let unused: Vec<_> = report.findings.iter().flat_map(|finding| &finding.difference).collect();
    assert_eq!(unused, ["+ update configmaps"], "{report}");
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
        .said("it never comes to rest: after the samples were made")
        .said("system:serviceaccount:gardener-system:gardener repeated PATCH")
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
        .said("was let go while ConfigMap default/home-seedbox was still there")
        .hinted("remove the finalizer only when a live read says that what was made is really gone");
}

#[test]
fn anothers_finalizer_that_is_overwritten_is_found() {
    planted(Bug::OthersFinalizers)
        .found_by(Check::Gate)
        .said("Garden home lost a finalizer of somebody else")
        .hinted("add and remove your own finalizer only: never write the whole list, and check the resourceVersion");
}

#[test]
fn children_that_are_deleted_although_they_were_to_be_orphaned_are_found() {
    planted(Bug::OrphansDeleted)
        .found_by(Check::Deletion)
        .said("objects are gone although the deletion was to orphan them")
        .shown("- /api/v1/namespaces/default/configmaps/home-s")
        .hinted("remove only the finalizer where the object is deleted with `propagationPolicy: Orphan`; remember it: the garbage collector removes its finalizer `orphan` without waiting for others");
    planted(Bug::None).passes(Check::Deletion);
}

#[test]
fn memory_by_name_is_found_when_an_object_is_created_again() {
    planted(Bug::MemoryByName)
        .found_by(Check::Deletion)
        .said("an object that is created again under its name is another than a new one")
        .shown("- Garden default/home")
        .hinted("keep what you remember of an object by its uid: a name that is deleted and created again is another object");
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
fn a_call_without_a_deadline_is_found() {
    planted(Bug::NoDeadline)
        .found_by(Check::Chance)
        .said("it waits for the answer of")
        .hinted("give every call a deadline, and every watch a longest time without an event or a bookmark: a connection whose other end is gone may stay open for ever");
    planted(Bug::None).passes(Check::Chance);
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
fn an_upgrade_that_deletes_what_both_releases_want_is_found() {
    planted(Bug::ReplacedOnUpgrade)
        .after(Bug::None)
        .found_by(Check::Upgrade)
        .said("the upgrade replaced what both releases want: ConfigMap default/home-")
        .shown("  ConfigMap default/home-soil")
        .shown("-   .metadata.uid: ")
        .hinted("before you delete an object, ask whether any part of the program wants one of its name: let that part take it over, with its uid and with what was generated for it");
    planted(Bug::None).after(Bug::None).passes(Check::Upgrade);
}

#[test]
fn a_gardener_that_weeds_and_asks_before_is_clean() {
    let report = trial_of(Gardener { weeds: true, ..Gardener::new(Bug::None) }).run();
    assert!(report.findings.iter().all(|finding| finding.check == Check::Role), "{report}");
}

// What loses data: each names the object.

#[test]
fn an_object_that_an_edit_deletes_and_makes_anew_is_found() {
    planted(Bug::RemadeOnEdit)
        .found_by(Check::Edit)
        .said("ConfigMap default/home-seedbox (node `seedbox`) was deleted and made anew after the samples were changed, though it was wanted")
        .hinted("change an object that is there in place of deleting it: apply what is wanted, and delete only what is wanted no more");
}

#[test]
fn an_object_that_a_lost_event_deletes_and_makes_anew_is_found() {
    planted(Bug::RemadeOnRelist)
        .found_by(Check::Repair)
        .said("ConfigMap default/home-seedbox (node `seedbox`) was deleted and made anew after somebody deleted an object")
        .hinted("change an object that is there in place of deleting it: apply what is wanted, and delete only what is wanted no more");
}

#[test]
fn a_claim_that_an_edit_deletes_and_makes_anew_is_found_with_what_is_lost() {
    planted(Bug::ClaimRemade)
        .found_by(Check::Edit)
        .said("PersistentVolumeClaim default/home-cellar (node `house/cellar`) was deleted and made anew after the samples were changed, though it was wanted, and what was in it is lost")
        .hinted("change an object that is there in place of deleting it: apply what is wanted, and delete only what is wanted no more");
}

#[test]
fn a_pass_that_panics_over_an_edit_is_found() {
    planted(Bug::PanicOnEdit)
        .found_by(Check::Edit)
        .said("it panicked at tests/testing/tests/garden/loss.rs:")
        .said("over Garden default/home: a garden has a shed")
        .hinted("return an error in place of a panic: a value that the schema admits is no reason for one, and a pass that panics is repeated for ever");
}

#[test]
fn a_refused_call_that_is_repeated_over_an_edit_is_found() {
    planted(Bug::RefusedOnEdit)
        .found_by(Check::Edit)
        .said("after an edit of Garden default/home that the schema admits")
        .said("repeated PATCH /api/v1/namespaces/default/configmaps/No_Shed (node `No_Shed`)")
        .said("the server answered 422")
        .said("metadata.name")
        .hinted("refuse in the schema what can't be built, or say in the status what the user is to change (a user action); else the object waits for ever");
}

#[test]
fn a_call_that_is_repeated_for_ever_over_an_edit_is_found_also_where_another_might_end_that() {
    let found = |bug: Bug, said: &str, answer: &str| {
        planted(bug)
            .found_by(Check::Edit)
            .said("after an edit of Garden default/home that the schema admits")
            .said(said)
            .said(answer)
            .hinted("refuse in the schema what can't be built, or say in the status what the user is to change (a user action); else the object waits for ever");
    };
    let maps = "/api/v1/namespaces/default/configmaps";
    found(
        Bug::ExistsOnEdit,
        &format!("repeated POST {maps} "),
        "the server answered 409: configmaps \"home-soil\" already exists",
    );
    found(Bug::MissingOnEdit, &format!("repeated PATCH {maps}/home-pond "), "the server answered 404: ");
    found(
        Bug::ForbiddenOnEdit,
        "repeated PATCH /api/v1/namespaces/default/secrets/home-key ",
        "the server answered 403: ",
    );
}

#[test]
fn secrets_of_others_that_the_teardown_deletes_are_found() {
    planted(Bug::OthersSecrets)
        .found_by(Check::Convergence)
        .said("Secret default/of-somebody-else is somebody else's and was deleted after the samples were deleted")
        .said("by DELETE /api/v1/namespaces/default/secrets")
        .hinted("change and delete only what you have made: by its owner reference, by a label of yours and its owner, never all of a namespace");
}

#[test]
fn a_password_that_an_edit_generates_anew_is_found() {
    planted(Bug::RolledPassword)
        .found_by(Check::Edit)
        .said("Secret default/home-password has a generated value that is another after an edit")
        .shown("    .data.password")
        .hinted(
            "generate once: read what is there before you generate, and keep it (`resource(once)` in a tree of opgen)",
        );
}

#[test]
fn one_name_for_the_children_of_two_objects_is_found() {
    planted(Bug::SharedName)
        .found_by(Check::Beside)
        .said("ConfigMap default/shed was deleted and made anew")
        .hinted("give what is made of an object a name that only that object has, and delete by owner, not by a name or a label that others may have");
    planted(Bug::None).passes(Check::Beside);
}

#[test]
fn what_never_settles_is_found_by_the_path_that_is_written() {
    planted(Bug::Crowd)
        .found_by(Check::Convergence)
        .said("it never comes to rest: after the samples were made")
        .said("replicaset-controller repeated POST /api/v1/namespaces/default/pods 501 times; the server answered 201")
        .hinted("look at what the server answers and stop to repeat it; and ask for no more than a cluster can hold");
}

// Who does nothing wrong is not accused.

#[test]
fn a_gardener_that_polls_is_clean() {
    let report = trial_of(Gardener { polls: true, ..Gardener::new(Bug::None) }).run();
    assert!(report.findings.iter().all(|finding| finding.check == Check::Role), "{report}");
    for check in [Check::Steadiness, Check::Edit, Check::Gate] {
        assert!(report.steps.iter().any(|step| step.check == check && step.runs > 0), "{report}");
    }
    planted(Bug::HotLoop).in_a_gardener_that_polls().found_by(Check::Convergence).said("it never comes to rest");
}

/// What is to be done says so in its condition, and observedGeneration is that of the last spec that was done.
#[test]
fn a_gardener_that_waits_for_somebody_else_and_observes_what_it_has_done_is_clean() {
    planted(Bug::None).in_a_gardener_that_needs_a_permit().passes(Check::Edit);
}

#[test]
fn children_of_two_samples_without_owner_references_are_told_apart() {
    let another = json!({
        "apiVersion": "example.com/v1", "kind": "Garden",
        "metadata": {"name": "away", "namespace": "default"}, "spec": {"plants": 1, "shed": false},
    });
    let home = json!({
        "apiVersion": "example.com/v1", "kind": "Garden",
        "metadata": {"name": "home", "namespace": "default"}, "spec": {"plants": 3, "shed": true},
    });
    let two = |bug: Bug| trial_of(Gardener::new(bug)).sample(&home).sample(&another).only([Check::Gate]).run();
    let report = two(Bug::None);
    assert!(report.is_clean(), "{report}");
    assert!(report.steps.iter().any(|step| step.check == Check::Gate && step.runs > 5), "{report}");
    let report = two(Bug::OneUngated);
    assert!(report.findings.iter().any(|finding| finding.problem.contains("was let go while ConfigMap")), "{report}");
}

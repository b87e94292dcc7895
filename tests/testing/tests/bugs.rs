//! Real-world operator bugs: a trial finds each of them, and its hint names the fix.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub)]

mod garden;

use garden::{Bug, Gardener, gardener_with};
use opgen_testing::{Check, trial_of};
use serde_json::json;

/// The hint about a child that was created twice.
const CREATED_TWICE: &str =
    "something was made twice: give it a name that follows from its owner, or look for it before you make it";

/// The hint about a skipped step.
const SKIPPED: &str =
    "a step was skipped after the restart: decide by what is in the cluster, not by what was done before it";

/// The hint about a leaked child.
const LEAKED: &str = "give what is made an owner reference, or remove it in the teardown, and store the finalizer before the first is made";

#[test]
fn a_gardener_without_bugs_is_clean() {
    let report = trial_of(Gardener::new(Bug::None)).run();
    // Its role has one unused verb. `get` beside `list` does not count as unused.
    assert!(report.findings.iter().all(|finding| finding.check == Check::Role), "{report}");
    let unused: Vec<_> = report.findings.iter().flat_map(|finding| &finding.difference).collect();
    assert_eq!(unused, ["+ update configmaps"], "{report}");
}

#[test]
fn a_finalizer_after_the_side_effect_leaks() {
    gardener_with(Bug::FinalizerAfterSideEffect)
        .found_by(Check::Deletion)
        .with_problem("objects are left after the deletion")
        .with_difference("+ ConfigMap default/home-s")
        .with_hint(LEAKED);
}

#[test]
fn a_child_whose_name_is_in_memory_is_created_twice() {
    gardener_with(Bug::CreateWithoutName)
        .found_by(Check::Stop)
        .with_problem("the final state differs from that of an undisturbed run")
        .with_difference("+ ConfigMap default/home-soil-")
        .with_hint(CREATED_TWICE);
}

#[test]
fn a_status_of_a_newer_spec_is_found() {
    gardener_with(Bug::StatusFromStaleRead)
        .found_by(Check::Edit)
        .with_problem("a change in the middle leads elsewhere than a new object")
        .with_difference("+ ConfigMap default/home-shed")
        .with_hint("a pass over the older spec was taken for one over the newer: write observedGeneration from the object that the pass worked on, never from a newer read");
}

#[test]
fn a_message_about_an_older_spec_is_found() {
    gardener_with(Bug::OldMessage)
        .found_by(Check::Edit)
        .with_problem("the status still says what was so before an edit")
        .with_difference("-   .status.conditions[0].message: \"2 plants\"")
        .with_difference("+   .status.conditions[0].message: \"3 plants\"")
        .with_hint("say anew in each pass all that the status says, messages too, and write it when any of it is another than before");
}

#[test]
fn a_missing_watch_is_found() {
    gardener_with(Bug::MissingWatch)
        .found_by(Check::Repair)
        .with_problem("what somebody deleted is not made again")
        .with_difference("- ConfigMap default/home-soil")
        .with_hint("watch what you make, so that its deletion leads to a pass");
}

#[test]
fn an_unowned_child_leaks() {
    gardener_with(Bug::UnownedChild)
        .found_by(Check::Convergence)
        .with_problem("1 objects are left after the deletion")
        .with_difference("+ ConfigMap default/home-shed")
        .with_hint(LEAKED);
}

#[test]
fn a_generated_name_that_is_stored_later_is_created_twice() {
    gardener_with(Bug::NonIdempotentGenerateName)
        .found_by(Check::Stop)
        .with_problem("the final state differs from that of an undisturbed run")
        .with_difference("+ ConfigMap default/home-ticket-")
        .with_hint(CREATED_TWICE);
}

#[test]
fn a_child_that_a_condition_disables_is_found() {
    gardener_with(Bug::LeakedOnFlip)
        .found_by(Check::Edit)
        .with_problem("an edit leads elsewhere than a new object")
        .with_difference("+ ConfigMap default/home-shed")
        .with_hint("remove what is not wanted any more: what a condition switches off stays otherwise");
}

#[test]
fn a_role_that_is_too_small_is_found() {
    gardener_with(Bug::WrongRole)
        .found_by(Check::Role)
        .with_problem("the role does not allow delete configmaps")
        .with_hint("add the rule to the role; in a tree of opgen, declare it with `access(...)` on the node");
}

#[test]
fn a_hot_loop_is_found() {
    gardener_with(Bug::HotLoop)
        .found_by(Check::Convergence)
        .with_problem("it never comes to rest: after the samples were made")
        .with_problem("system:serviceaccount:gardener-system:gardener repeated PATCH")
        .with_problem("gardens/home/status")
        .with_hint("compare with what is there before you write; let what you write follow from the object alone, not from clocks, dice or counters; and wait for a change instead of asking");
}

#[test]
fn a_swallowed_conflict_is_found() {
    gardener_with(Bug::SwallowedConflict)
        .found_by(Check::RandomFaults)
        .with_problem("the final state differs from that of an undisturbed run")
        .with_hint("retry what fails, 409 above all; look at the cluster and not at memory; and never write from an older read than your own last write");
}

#[test]
fn a_delete_that_is_not_gated_is_found() {
    gardener_with(Bug::UngatedDelete)
        .found_by(Check::Finalizers)
        .with_problem("was let go while ConfigMap")
        .with_hint("remove the finalizer only when a live read says that what was made is really gone");
}

#[test]
fn one_delete_that_is_not_gated_is_found_beside_others_that_are() {
    gardener_with(Bug::OneUngated)
        .found_by(Check::Finalizers)
        .with_problem("was let go while ConfigMap default/home-seedbox was still there")
        .with_hint("remove the finalizer only when a live read says that what was made is really gone");
}

#[test]
fn an_overwritten_foreign_finalizer_is_found() {
    gardener_with(Bug::OthersFinalizers)
        .found_by(Check::Finalizers)
        .with_problem("Garden home lost a finalizer of somebody else")
        .with_hint("add and remove your own finalizer only: never write the whole list, and check the resourceVersion");
}

#[test]
fn children_that_are_deleted_in_place_of_orphaned_are_found() {
    gardener_with(Bug::OrphansDeleted)
        .found_by(Check::Deletion)
        .with_problem("objects are gone although the deletion was to orphan them")
        .with_difference("- /api/v1/namespaces/default/configmaps/home-s")
        .with_hint("remove only the finalizer where the object is deleted with `propagationPolicy: Orphan`; remember it: the garbage collector removes its finalizer `orphan` without waiting for others");
    gardener_with(Bug::None).finds_nothing(Check::Deletion);
}

#[test]
fn memory_by_name_is_found_when_an_object_is_created_again() {
    gardener_with(Bug::MemoryByName)
        .found_by(Check::Deletion)
        .with_problem("an object that is created again under its name is another than a new one")
        .with_difference("- Garden default/home")
        .with_hint("keep what you remember of an object by its uid: a name that is deleted and created again is another object");
}

// The three patterns of Sieve: a trial finds each of them, and finds nothing in an operator that does it right.

#[test]
fn intermediate_state_is_not_taken_for_a_finished_step() {
    gardener_with(Bug::IntermediateState)
        .found_by(Check::Stop)
        .with_problem("the final state differs from that of an undisturbed run")
        .with_difference("- ConfigMap default/home-")
        .with_hint(SKIPPED);
    gardener_with(Bug::None).finds_nothing(Check::Stop);
}

#[test]
fn stale_state_is_not_taken_for_a_deletion() {
    gardener_with(Bug::StaleState)
        .that_weeds()
        .found_by(Check::StaleList)
        .with_problem("was deleted and made again, though it was wanted")
        .with_hint("ask the server before you delete: what an old list, or a cache, does not show need not be gone");
    gardener_with(Bug::None).that_weeds().finds_nothing(Check::StaleList);
}

#[test]
fn a_call_without_a_deadline_is_found() {
    gardener_with(Bug::NoDeadline)
        .found_by(Check::RandomFaults)
        .with_problem("it waits for the answer of")
        .with_hint("give every call a deadline, and every watch a longest time without an event or a bookmark: a connection whose other end is gone may stay open for ever");
    gardener_with(Bug::None).finds_nothing(Check::RandomFaults);
}

#[test]
fn unobserved_state_is_found_in_a_new_list() {
    gardener_with(Bug::UnobservedState)
        .found_by(Check::Repair)
        .with_problem("what somebody deleted is not made again")
        .with_difference("- ConfigMap default/home-soil")
        .with_hint("take a new list for news: what happened before it is told by no event, so compare all of it with what is wanted");
    gardener_with(Bug::None).finds_nothing(Check::Repair);
}

#[test]
fn an_upgrade_that_replaces_the_objects_of_both_releases_is_found() {
    gardener_with(Bug::ReplacedOnUpgrade)
        .upgraded_from(Bug::None)
        .found_by(Check::Upgrade)
        .with_problem("the upgrade replaced what both releases want: ConfigMap default/home-")
        .with_difference("  ConfigMap default/home-soil")
        .with_difference("-   .metadata.uid: ")
        .with_hint("before you delete an object, ask whether any part of the program wants one of its name: let that part take it over, with its uid and with what was generated for it");
    gardener_with(Bug::None).upgraded_from(Bug::None).finds_nothing(Check::Upgrade);
}

#[test]
fn a_gardener_that_checks_with_a_live_read_before_it_weeds_is_clean() {
    let report = trial_of(Gardener { weeds: true, ..Gardener::new(Bug::None) }).run();
    assert!(report.findings.iter().all(|finding| finding.check == Check::Role), "{report}");
}

// Bugs that lose data: each finding names the object.

#[test]
fn an_object_that_an_edit_recreates_is_found() {
    gardener_with(Bug::RemadeOnEdit)
        .found_by(Check::Edit)
        .with_problem("ConfigMap default/home-seedbox (node `seedbox`) was deleted and made anew after the samples were changed, though it was wanted")
        .with_hint("change an object that is there in place of deleting it: apply what is wanted, and delete only what is wanted no more");
}

#[test]
fn an_object_that_a_lost_event_recreates_is_found() {
    gardener_with(Bug::RemadeOnRelist)
        .found_by(Check::Repair)
        .with_problem("ConfigMap default/home-seedbox (node `seedbox`) was deleted and made anew after somebody deleted an object")
        .with_hint("change an object that is there in place of deleting it: apply what is wanted, and delete only what is wanted no more");
}

#[test]
fn a_claim_that_an_edit_recreates_is_found_with_the_loss_of_data() {
    gardener_with(Bug::ClaimRemade)
        .found_by(Check::Edit)
        .with_problem("PersistentVolumeClaim default/home-cellar (node `house/cellar`) was deleted and made anew after the samples were changed, though it was wanted, and what was in it is lost")
        .with_hint("change an object that is there in place of deleting it: apply what is wanted, and delete only what is wanted no more");
}

#[test]
fn a_pass_that_panics_after_an_edit_is_found() {
    gardener_with(Bug::PanicOnEdit)
        .found_by(Check::Edit)
        .with_problem("it panicked at tests/testing/tests/garden/misbehavior.rs:")
        .with_problem("over Garden default/home: a garden has a shed")
        .with_hint("return an error in place of a panic: a value that the schema admits is no reason for one, and a pass that panics is repeated for ever");
}

#[test]
fn a_rejected_call_that_is_repeated_after_an_edit_is_found() {
    gardener_with(Bug::RefusedOnEdit)
        .found_by(Check::Edit)
        .with_problem("after an edit of Garden default/home that the schema admits")
        .with_problem("repeated PATCH /api/v1/namespaces/default/configmaps/No_Shed (node `No_Shed`)")
        .with_problem("the server answered 422")
        .with_problem("metadata.name")
        .with_hint("refuse in the schema what can't be built, or say in the status what the user is to change (a user action); else the object waits for ever");
}

#[test]
fn a_futile_call_that_is_repeated_after_an_edit_is_found() {
    let found = |bug: Bug, call: &str, answer: &str| {
        gardener_with(bug)
            .found_by(Check::Edit)
            .with_problem("after an edit of Garden default/home that the schema admits")
            .with_problem(call)
            .with_problem(answer)
            .with_hint("refuse in the schema what can't be built, or say in the status what the user is to change (a user action); else the object waits for ever");
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
fn foreign_secrets_that_the_teardown_deletes_are_found() {
    gardener_with(Bug::OthersSecrets)
        .found_by(Check::Convergence)
        .with_problem("Secret default/of-somebody-else is somebody else's and was deleted after the samples were deleted")
        .with_problem("by DELETE /api/v1/namespaces/default/secrets")
        .with_hint("change and delete only what you have made: by its owner reference, by a label of yours and its owner, never all of a namespace");
}

#[test]
fn a_password_that_an_edit_regenerates_is_found() {
    gardener_with(Bug::RolledPassword)
        .found_by(Check::Edit)
        .with_problem("Secret default/home-password has a generated value that is another after an edit")
        .with_difference("    .data.password")
        .with_hint(
            "generate once: read what is there before you generate, and keep it (`resource(once)` in a tree of opgen)",
        );
}

#[test]
fn one_name_for_the_children_of_two_objects_is_found() {
    gardener_with(Bug::SharedName)
        .found_by(Check::Isolation)
        .with_problem("ConfigMap default/shed was deleted and made anew")
        .with_hint("give what is made of an object a name that only that object has, and delete by owner, not by a name or a label that others may have");
    gardener_with(Bug::None).finds_nothing(Check::Isolation);
}

#[test]
fn a_hot_loop_of_a_controller_is_found_with_its_path() {
    gardener_with(Bug::Crowd)
        .found_by(Check::Convergence)
        .with_problem("it never comes to rest: after the samples were made")
        .with_problem(
            "replicaset-controller repeated POST /api/v1/namespaces/default/pods 501 times; the server answered 201",
        )
        .with_hint(
            "look at what the server answers and stop to repeat it; and ask for no more than a cluster can hold",
        );
}

// Correct operators: a trial finds nothing.

#[test]
fn a_gardener_that_polls_is_clean() {
    let report = trial_of(Gardener { polls: true, ..Gardener::new(Bug::None) }).run();
    assert!(report.findings.iter().all(|finding| finding.check == Check::Role), "{report}");
    for check in [Check::SteadyState, Check::Edit, Check::Finalizers] {
        assert!(report.steps.iter().any(|step| step.check == check && step.runs > 0), "{report}");
    }
    gardener_with(Bug::HotLoop).that_polls().found_by(Check::Convergence).with_problem("it never comes to rest");
}

/// A condition says what the garden waits for, and `observedGeneration` is that of the last spec that was applied.
#[test]
fn a_gardener_that_waits_for_a_permit_is_clean() {
    gardener_with(Bug::None).that_needs_a_permit().finds_nothing(Check::Edit);
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
    let two = |bug: Bug| trial_of(Gardener::new(bug)).sample(&home).sample(&another).only([Check::Finalizers]).run();
    let report = two(Bug::None);
    assert!(report.is_clean(), "{report}");
    assert!(report.steps.iter().any(|step| step.check == Check::Finalizers && step.runs > 5), "{report}");
    let report = two(Bug::OneUngated);
    assert!(report.findings.iter().any(|finding| finding.problem.contains("was let go while ConfigMap")), "{report}");
}

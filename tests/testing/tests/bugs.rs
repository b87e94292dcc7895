//! Real-world operator bugs: checks that a test with injected faults finds each of them, and that the hint of the finding names the fix.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub)]

mod garden;

use garden::{Bug, Gardener, gardener_with};
use opgen_testing::{Check, trial_of};
use serde_json::json;

/// The hint about a child that was created twice.
const CREATED_TWICE: &str =
    "an object was created twice: derive its name from its owner, or look it up before the create";

/// The hint about a skipped step.
const SKIPPED: &str =
    "a step was skipped after the restart: decide by the state of the cluster, not by remembered steps";

/// The hint about a leaked child.
const LEAKED: &str =
    "give each child an owner reference, or delete it in the teardown and store the finalizer before the first create";

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
        .with_problem("a change during creation leads to another state than a new object")
        .with_difference("+ ConfigMap default/home-shed")
        .with_hint("the status of a pass over the older spec counts for the newer one: write observedGeneration from the object that the pass reconciled, never from a newer read");
}

#[test]
fn a_message_about_an_older_spec_is_found() {
    gardener_with(Bug::OldMessage)
        .found_by(Check::Edit)
        .with_problem("the status is stale after an edit")
        .with_difference("-   .status.conditions[0].message: \"2 plants\"")
        .with_difference("+   .status.conditions[0].message: \"3 plants\"")
        .with_hint("compute the whole status in each pass, messages included, and write it if any part has changed");
}

#[test]
fn a_missing_watch_is_found() {
    gardener_with(Bug::MissingWatch)
        .found_by(Check::Repair)
        .with_problem("a deleted child is not created again")
        .with_difference("- ConfigMap default/home-soil")
        .with_hint("watch the children, so that a deletion triggers a pass");
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
        .with_problem("an edit leads to another state than a new object")
        .with_difference("+ ConfigMap default/home-shed")
        .with_hint("delete objects that the spec no longer needs, such as those of a disabled option");
}

#[test]
fn a_role_that_is_too_small_is_found() {
    gardener_with(Bug::WrongRole)
        .found_by(Check::Role)
        .with_problem("the role does not allow delete configmaps")
        .with_hint("add the rule to the role; in an opgen tree, declare it with `access(...)` on the node");
}

#[test]
fn a_hot_loop_is_found() {
    gardener_with(Bug::HotLoop)
        .found_by(Check::Convergence)
        .with_problem("hot loop: after the samples were created")
        .with_problem("system:serviceaccount:gardener-system:gardener repeated PATCH")
        .with_problem("gardens/home/status")
        .with_hint("compare with the current state before a write; derive each write from the object alone, not from clocks, random values or counters; and watch instead of polling");
}

#[test]
fn a_swallowed_conflict_is_found() {
    gardener_with(Bug::SwallowedConflict)
        .found_by(Check::RandomFaults)
        .with_problem("the final state differs from that of an undisturbed run")
        .with_hint("retry failed requests, above all after 409; decide by the cluster, not by memory; and never write from a read that is older than the last own write");
}

#[test]
fn a_delete_that_is_not_gated_is_found() {
    gardener_with(Bug::UngatedDelete)
        .found_by(Check::Finalizers)
        .with_problem("was removed while ConfigMap")
        .with_hint("remove the finalizer only after a live read confirms that the children are gone");
}

#[test]
fn one_delete_that_is_not_gated_is_found_beside_others_that_are() {
    gardener_with(Bug::OneUngated)
        .found_by(Check::Finalizers)
        .with_problem("was removed while ConfigMap default/home-seedbox still existed")
        .with_hint("remove the finalizer only after a live read confirms that the children are gone");
}

#[test]
fn an_overwritten_foreign_finalizer_is_found() {
    gardener_with(Bug::OthersFinalizers)
        .found_by(Check::Finalizers)
        .with_problem("Garden home lost a finalizer of another client")
        .with_hint("add and remove only the program's own finalizer: never write the whole list, and check the resourceVersion");
}

#[test]
fn children_that_are_deleted_in_place_of_orphaned_are_found() {
    gardener_with(Bug::OrphansDeleted)
        .found_by(Check::Deletion)
        .with_problem("objects were deleted by a deletion with `propagationPolicy: Orphan`")
        .with_difference("- /api/v1/namespaces/default/configmaps/home-s")
        .with_hint("after a deletion with `propagationPolicy: Orphan`, keep the children and remove only the finalizer; remember the policy, since the finalizer `orphan` may be gone before");
    gardener_with(Bug::None).finds_nothing(Check::Deletion);
}

#[test]
fn memory_by_name_is_found_when_an_object_is_created_again() {
    gardener_with(Bug::MemoryByName)
        .found_by(Check::Deletion)
        .with_problem("an object that was deleted and created again differs from a new object")
        .with_difference("- Garden default/home")
        .with_hint("store state of an object by its uid: an object that is created again under the same name is a different object");
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
        .with_problem("was deleted and created again, although it was needed")
        .with_hint(
            "read from the API server before a delete: a stale list or cache does not prove that an object is gone",
        );
    gardener_with(Bug::None).that_weeds().finds_nothing(Check::StaleList);
}

#[test]
fn a_call_without_a_deadline_is_found() {
    gardener_with(Bug::NoDeadline)
        .found_by(Check::RandomFaults)
        .with_problem("it waits for the response to")
        .with_hint("set a timeout for every request, and a maximum idle time for every watch: a connection may stay open after its peer is gone");
    gardener_with(Bug::None).finds_nothing(Check::RandomFaults);
}

#[test]
fn unobserved_state_is_found_in_a_new_list() {
    gardener_with(Bug::UnobservedState)
        .found_by(Check::Repair)
        .with_problem("a deleted child is not created again")
        .with_difference("- ConfigMap default/home-soil")
        .with_hint("reconcile all objects after a list: no event reports the changes before it");
    gardener_with(Bug::None).finds_nothing(Check::Repair);
}

#[test]
fn an_upgrade_that_replaces_the_objects_of_both_releases_is_found() {
    gardener_with(Bug::ReplacedOnUpgrade)
        .upgraded_from(Bug::None)
        .found_by(Check::Upgrade)
        .with_problem("the upgrade replaced objects that both releases need: ConfigMap default/home-")
        .with_difference("  ConfigMap default/home-soil")
        .with_difference("-   .metadata.uid: ")
        .with_hint("before a delete, check whether another part of the program needs an object of this name, and let that part take the object over");
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
        .with_problem("ConfigMap default/home-seedbox (node `seedbox`) was deleted and created again after the samples were changed, although it was needed")
        .with_hint("update an existing object instead of deleting it, and delete only objects that are no longer needed");
}

#[test]
fn an_object_that_a_lost_event_recreates_is_found() {
    gardener_with(Bug::RemadeOnRelist)
        .found_by(Check::Repair)
        .with_problem("ConfigMap default/home-seedbox (node `seedbox`) was deleted and created again after another client deleted an object")
        .with_hint("update an existing object instead of deleting it, and delete only objects that are no longer needed");
}

#[test]
fn a_claim_that_an_edit_recreates_is_found_with_the_loss_of_data() {
    gardener_with(Bug::ClaimRemade)
        .found_by(Check::Edit)
        .with_problem("PersistentVolumeClaim default/home-cellar (node `house/cellar`) was deleted and created again after the samples were changed, although it was needed, and its data is lost")
        .with_hint("update an existing object instead of deleting it, and delete only objects that are no longer needed");
}

#[test]
fn a_pass_that_panics_after_an_edit_is_found() {
    gardener_with(Bug::PanicOnEdit)
        .found_by(Check::Edit)
        .with_problem("it panicked at tests/testing/tests/garden/misbehavior.rs:")
        .with_problem("over Garden default/home: a garden has a shed")
        .with_hint("return an error instead of a panic: a valid object must not cause a panic, and the operator repeats a pass that panics");
}

#[test]
fn a_rejected_call_that_is_repeated_after_an_edit_is_found() {
    gardener_with(Bug::RefusedOnEdit)
        .found_by(Check::Edit)
        .with_problem("after a valid edit of Garden default/home")
        .with_problem("repeated PATCH /api/v1/namespaces/default/configmaps/No_Shed (node `No_Shed`)")
        .with_problem("the server answered 422")
        .with_problem("metadata.name")
        .with_hint(
            "reject invalid values in the schema, or report in the status what the user has to change (a user action)",
        );
}

#[test]
fn a_futile_call_that_is_repeated_after_an_edit_is_found() {
    let found = |bug: Bug, call: &str, answer: &str| {
        gardener_with(bug)
            .found_by(Check::Edit)
            .with_problem("after a valid edit of Garden default/home")
            .with_problem(call)
            .with_problem(answer)
            .with_hint("reject invalid values in the schema, or report in the status what the user has to change (a user action)");
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
        .with_problem("Secret default/of-somebody-else of another client was deleted after the samples were deleted")
        .with_problem("by DELETE /api/v1/namespaces/default/secrets")
        .with_hint("change and delete only objects of the program, selected by their owner reference, and never all objects of a namespace");
}

#[test]
fn a_password_that_an_edit_regenerates_is_found() {
    gardener_with(Bug::RolledPassword)
        .found_by(Check::Edit)
        .with_problem("Secret default/home-password has a generated value that changed after an edit")
        .with_difference("    .data.password")
        .with_hint(
            "generate a value once: read the object first, and keep its value (`resource(once)` in an opgen tree)",
        );
}

#[test]
fn one_name_for_the_children_of_two_objects_is_found() {
    gardener_with(Bug::SharedName)
        .found_by(Check::Isolation)
        .with_problem("ConfigMap default/shed was deleted and created again")
        .with_hint("give each child a name that is unique to its owner, and delete by owner, not by a name or a label that other objects share");
    gardener_with(Bug::None).finds_nothing(Check::Isolation);
}

#[test]
fn a_hot_loop_of_a_controller_is_found_with_its_path() {
    gardener_with(Bug::Crowd)
        .found_by(Check::Convergence)
        .with_problem("hot loop: after the samples were created")
        .with_problem(
            "replicaset-controller repeated POST /api/v1/namespaces/default/pods 501 times; the server answered 201",
        )
        .with_hint(
            "check the response of the server before a retry, and do not create more objects than a cluster can hold",
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
    gardener_with(Bug::HotLoop).that_polls().found_by(Check::Convergence).with_problem("hot loop");
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
    assert!(report.findings.iter().any(|finding| finding.problem.contains("was removed while ConfigMap")), "{report}");
}

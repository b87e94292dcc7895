//! Injects faults into an opgen operator whose kinds are in buckets, as it is and with mistakes in its connection to the buckets or in its
//! tree nodes.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, unreachable_pub)]

mod flawed_layer;

use std::sync::Arc;

use flawed_layer::{FlawedLayer, Mistake};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use opgen::{bucket::OpenBuckets, prelude::*};
use opgen_testing::{Check, Finding, Report, Trial, trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A unit of a plant, which is in a bucket.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(group = "plant.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
#[managed(nats(bucket = "units"))]
pub struct UnitSpec {
    #[schemars(range(min = 1, max = 4))]
    size: i32,
    /// The profile, which another client writes.
    #[managed(reference = Profile)]
    #[schemars(length(min = 1, max = 63))]
    profile: String,
}

/// A profile of units, which the operator only reads.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(group = "plant.example.com", version = "v1", kind = "Profile", namespaced, status = "Status")]
#[managed(nats(bucket = "profiles"))]
pub struct ProfileSpec {
    #[schemars(range(min = 1, max = 9))]
    speed: i32,
}

/// A child of a unit, which other clients read.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(group = "plant.example.com", version = "v1", kind = "Line", namespaced, status = "Status")]
#[managed(nats(bucket = "lines"))]
pub struct LineSpec {
    #[schemars(range(min = 1, max = 4))]
    size: i32,
}

/// The mistake of the node `Extra`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum NodeMistake {
    #[default]
    None,
    /// It applies a line, and does not delete it.
    Leaks,
    /// Its teardown deletes the lines of all clients.
    DeletesAll,
}

#[derive(Clone, Debug, Default)]
pub struct Options(NodeMistake);

type Owner = For<Unit, Options>;

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Owner)]
pub struct Tree {
    profile: CurrentProfile,
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource)]
    line: Line,
}

impl Tree {
    fn config(unit: &Unit) -> ConfigMap {
        ConfigMap { data: Some([("size".to_owned(), unit.spec.size.to_string())].into()), ..ConfigMap::default() }
    }

    fn line(unit: &Unit) -> Line {
        Line::new(&unit.name_any(), LineSpec { size: unit.spec.size })
    }
}

/// Reads the profile of a unit.
#[derive(Debug, Provisioner)]
#[provisioner(access(Profile: get))]
pub struct CurrentProfile;

impl Provision<Owner> for CurrentProfile {
    async fn provision(cx: &Context<'_, Owner, Self>) -> Result<()> {
        let _: Profile = cx.get(&cx.object().spec.profile).await?;
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Owner, Self>) -> Result<()> {
        Ok(())
    }
}

/// The same tree with a hand-written node that makes mistakes.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Owner)]
pub struct FlawedTree {
    extra: Extra,
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource)]
    line: Line,
}

impl FlawedTree {
    fn config(unit: &Unit) -> ConfigMap {
        Tree::config(unit)
    }

    fn line(unit: &Unit) -> Line {
        Tree::line(unit)
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(access(Line: apply, deletecollection))]
pub struct Extra;

impl Provision<Owner> for Extra {
    async fn provision(cx: &Context<'_, Owner, Self>) -> Result<()> {
        if cx.options().0 == NodeMistake::Leaks {
            let name = format!("{}-extra", cx.object().name_any());
            cx.apply(&Line::new(&name, LineSpec { size: 1 })).await?;
        }
        Ok(())
    }

    async fn deprovision(cx: &Teardown<'_, Owner, Self>) -> Result<()> {
        if cx.options().0 == NodeMistake::DeletesAll {
            cx.delete_collection::<Line>("").await?;
        }
        Ok(())
    }
}

fn operator() -> Operator {
    Operator::new("plant").defines::<Profile>().defines::<Line>().controls::<Owner, Tree>()
}

fn with_samples(trial: Trial) -> Trial {
    let unit = Unit::new("one", UnitSpec { size: 2, profile: "fast".to_owned() });
    trial.sample(&Profile::new("fast", ProfileSpec { speed: 3 })).sample(&unit)
}

/// Runs checks of the operator with a mistake in its connection to the buckets.
fn with_mistake(mistake: Mistake, checks: &[Check]) -> Report {
    let layer =
        move |buckets: Arc<dyn OpenBuckets>| -> Arc<dyn OpenBuckets> { Arc::new(FlawedLayer::new(buckets, mistake)) };
    with_samples(trial(operator)).bucket_layer(layer).only(checks.iter().copied()).run()
}

/// Runs checks of the operator with a mistake in a node.
fn with_node_mistake(mistake: NodeMistake) -> Report {
    let operator = move || {
        Operator::new("plant")
            .defines::<Profile>()
            .defines::<Line>()
            .controls_with::<Owner, FlawedTree>(|controller| controller.options(Options(mistake)))
    };
    with_samples(trial(operator)).only([Check::Convergence]).run()
}

#[track_caller]
fn is_found(report: &Report, problem: &str) {
    let is_found = report.findings.iter().any(|finding| finding.problem.contains(problem));
    assert!(is_found, "{problem}: {report}");
}

/// Checks that there is a finding, and that it is about a run of the installed operator.
#[track_caller]
fn is_found_in_a_run(report: &Report) {
    assert!(!report.is_clean(), "{report}");
    for Finding { problem, hint, .. } in &report.findings {
        assert!(!hint.contains("check was run") && !problem.starts_with("the trial panicked"), "{report}");
    }
}

#[test]
fn objects_in_buckets_are_made_changed_and_removed_whatever_fails() {
    let report = with_samples(trial(operator)).seeds(0..12).pairs(8).run();
    assert!(report.is_clean(), "{report}");
    for check in [Check::Stop, Check::Deletion, Check::Finalizers, Check::Repair, Check::Isolation, Check::Buckets] {
        assert!(report.steps.iter().any(|step| step.check == check && step.runs > 0), "{check}: {report}");
    }
    let timeline = report.timeline.to_string();
    for call in ["watch units", "put units/default.one", "put units/_claim.default.one", "put lines/default.one"] {
        assert!(timeline.contains(call), "{call}: {timeline}");
    }
}

#[test]
fn a_layer_without_mistakes_is_clean() {
    let report = with_mistake(Mistake::None, &[Check::SteadyState, Check::Buckets]);
    assert!(report.is_clean(), "{report}");
}

#[test]
fn a_run_is_replayed_by_its_schedule() {
    for schedule in ["bucket:0=absence", "bucket:3=stale", "bucket:4=absence", "before:5"] {
        let report = with_samples(trial(operator)).replay(schedule).unwrap();
        assert!(report.is_clean(), "{schedule}: {report}");
    }
}

#[test]
fn a_write_without_a_condition_is_found() {
    let report = with_mistake(Mistake::WithoutCondition, &[Check::Buckets]);
    is_found(&report, "still exists after another client removed it from its bucket");
}

#[test]
fn a_claim_that_is_never_removed_is_found() {
    is_found_in_a_run(&with_mistake(Mistake::KeepsClaims, &[Check::Convergence]));
}

#[test]
fn a_watch_that_drops_removals_is_found() {
    is_found_in_a_run(&with_mistake(Mistake::DropsRemovals, &[Check::Buckets]));
}

#[test]
fn a_watch_that_drops_changes_is_found() {
    is_found_in_a_run(&with_mistake(Mistake::DropsChanges, &[Check::Convergence]));
}

#[test]
fn a_watch_that_does_not_list_again_after_an_error_is_found() {
    is_found_in_a_run(&with_mistake(Mistake::ListsOnce, &[Check::Buckets]));
}

#[test]
fn a_watch_with_an_incomplete_list_is_found() {
    is_found_in_a_run(&with_mistake(Mistake::ListsIncompletely, &[Check::Buckets]));
}

#[test]
fn a_write_at_rest_is_found() {
    let report = with_mistake(Mistake::WritesAtRest, &[Check::SteadyState]);
    is_found(&report, "it repeats the same request");
}

#[test]
fn a_read_without_an_answer_that_counts_as_a_missing_entry_is_found() {
    is_found_in_a_run(&with_mistake(Mistake::MissesWithoutAnswer, &[Check::RandomFaults]));
}

#[test]
fn a_client_that_deletes_invalid_entries_is_found() {
    let report = with_mistake(Mistake::DeletesInvalid, &[Check::Convergence]);
    is_found(&report, "of another client was deleted");
}

#[test]
fn a_client_that_writes_the_entries_of_others_again_is_found() {
    let report = with_mistake(Mistake::WritesAgain, &[Check::Convergence]);
    is_found(&report, "of another client was written again");
}

#[test]
fn a_client_that_keeps_copies_is_found() {
    let report = with_mistake(Mistake::KeepsCopies, &[Check::Convergence]);
    is_found(&report, "left after the deletion");
}

#[test]
fn a_node_that_does_not_delete_its_entry_is_found() {
    is_found(&with_node_mistake(NodeMistake::Leaks), "left after the deletion");
}

#[test]
fn a_node_that_deletes_the_entries_of_others_is_found() {
    is_found(&with_node_mistake(NodeMistake::DeletesAll), "entry lines/");
}

#[test]
fn a_node_without_mistakes_is_clean() {
    let report = with_node_mistake(NodeMistake::None);
    assert!(report.is_clean(), "{report}");
}

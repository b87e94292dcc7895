//! Injects faults into an opgen operator with hand-written tree nodes, and checks that a finding names the node.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, unreachable_pub)]

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResource, api::ObjectMeta};
use opgen::{Enqueue, NamespacedName, Operator, prelude::*};
use opgen_testing::{Check, Report, trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "node.example.com", version = "v1", kind = "Desk", namespaced, status = "Status")]
pub struct DeskSpec {
    #[serde(default)]
    lamp: bool,
}

/// The bug of the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Defect {
    #[default]
    None,
    /// A build function panics for a desk without a lamp.
    Panics,
    /// A hand-written node panics for a desk without a lamp.
    PanicsByHand,
    /// A build function returns a name that the server rejects.
    Refused,
    /// No bug: a hand-written node recreates an immutable object.
    Immutable,
    /// A hand-written node recreates a mutable object.
    Remakes,
}

type Owner = For<Desk, Options>;

#[derive(Clone, Debug, Default)]
pub struct Options(Defect);

impl Options {
    fn is(&self, defect: Defect, desk: &Desk) -> bool {
        self.0 == defect && !desk.spec.lamp
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Owner)]
pub struct Tree {
    ledger: Ledger,
    top: Top,
}

#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Owner)]
pub struct Top {
    #[provisioner(resource)]
    lamp: ConfigMap,
}

impl Top {
    fn lamp(draft: &Draft<'_, Owner>) -> ConfigMap {
        let options = draft.options();
        assert!(!options.is(Defect::Panics, draft.owner), "a desk has a lamp");
        let refused = options.is(Defect::Refused, draft.owner).then_some("No_Lamp");
        let name = refused.map_or_else(|| format!("{}-lamp", draft.name_any()), str::to_owned);
        let metadata = ObjectMeta { name: Some(name), ..ObjectMeta::default() };
        ConfigMap { metadata, data: Some(data(draft.owner)), ..ConfigMap::default() }
    }
}

fn data(desk: &Desk) -> BTreeMap<String, String> {
    [("lamp".to_owned(), desk.spec.lamp.to_string())].into()
}

/// Its ConfigMap has no owner reference, since its name is not that of the node.
#[derive(Debug, Provisioner)]
#[provisioner(access(ConfigMap: get, apply, delete))]
pub struct Ledger;

fn ledger(desk: &Desk) -> String {
    format!("{}-ledger", desk.name_any())
}

impl Provision<Owner> for Ledger {
    async fn provision(cx: &Context<'_, Owner, Self>) -> Result<()> {
        let (desk, defect) = (cx.object(), cx.options().0);
        assert!(!cx.options().is(Defect::PanicsByHand, desk), "a desk has a lamp");
        let metadata = ObjectMeta { name: Some(ledger(desk)), ..ObjectMeta::default() };
        let immutable = (defect == Defect::Immutable).then_some(true);
        let wanted = ConfigMap { metadata, immutable, data: Some(data(desk)), ..ConfigMap::default() };
        let found = cx.find::<ConfigMap>(&ledger(desk)).await?;
        let is_another = found.as_ref().is_some_and(|found| found.data != wanted.data);
        if is_another && matches!(defect, Defect::Immutable | Defect::Remakes) {
            cx.delete::<ConfigMap>(&ledger(desk)).await?;
        }
        if is_another || found.is_none() {
            cx.apply(&wanted).await?;
        }
        Ok(())
    }

    async fn deprovision(cx: &Teardown<'_, Owner, Self>) -> Result<()> {
        if cx.delete::<ConfigMap>(&ledger(cx.object())).await? {
            yield_because("LedgerIsThere", "the ledger is not gone yet")?;
        }
        Ok(())
    }
}

fn report(defect: Defect, checks: &[Check]) -> Report {
    // A ConfigMap that a hand-written node applies needs an explicit watch.
    let of_ledger = |map: &ConfigMap| {
        let (namespace, name) = (map.metadata.namespace.clone(), map.name_any());
        name.strip_suffix("-ledger").map(|desk| NamespacedName { name: desk.to_owned(), namespace })
    };
    let operator = move || {
        Operator::new("desk").controls_with::<Owner, Tree>(|controller| {
            controller.options(Options(defect)).watches(Enqueue::map(of_ledger))
        })
    };
    let desk = |name: &str| Desk::new(name, DeskSpec { lamp: true });
    let checks = checks.iter().copied();
    trial(operator).sample(&desk("one")).sample(&desk("two")).only(checks).seeds(0..9).pairs(8).run()
}

#[track_caller]
fn found(defect: Defect, words: &[&str]) {
    let report = report(defect, &[Check::Edit]);
    let has_all = |problem: &str| words.iter().all(|words| problem.contains(words));
    assert!(report.findings.iter().any(|finding| has_all(&finding.problem)), "{words:?}: {report}");
}

#[test]
fn a_build_function_that_panics_is_named_with_its_object() {
    found(
        Defect::Panics,
        &["it panicked at tests/testing/tests/node.rs:", "over Desk default/one (node `top/lamp`): a desk"],
    );
}

#[test]
fn a_hand_written_node_that_panics_is_named_with_its_object() {
    found(Defect::PanicsByHand, &["it panicked at", "over Desk default/one (node `ledger`): a desk has a lamp"]);
}

#[test]
fn a_node_whose_object_the_server_rejects_is_named() {
    found(
        Defect::Refused,
        &[
            "after a valid edit of Desk default/one",
            "repeated POST /api/v1/namespaces/default/configmaps (node `top/lamp`)",
        ],
    );
}

/// The recreation of a mutable object is a finding, that of an immutable object is none.
#[test]
fn only_an_immutable_object_may_be_recreated() {
    found(
        Defect::Remakes,
        &["ConfigMap default/one-ledger was deleted and created again after the samples were changed"],
    );
    let report = report(Defect::Immutable, &[Check::Edit]);
    assert!(report.is_clean(), "{report}");
    assert!(report.steps.iter().any(|step| step.check == Check::Edit && step.runs > 2), "{report}");
}

/// The children of two samples are told apart, and a ConfigMap of a hand-written node belongs to its sample.
#[test]
fn a_hand_written_node_with_two_objects_is_clean() {
    let report = report(Defect::None, Check::ALL);
    assert!(report.is_clean(), "{report}");
    for check in [Check::Finalizers, Check::Isolation, Check::Stop, Check::Repair, Check::Edit] {
        assert!(report.steps.iter().any(|step| step.check == check && step.runs > 0), "{report}");
    }
}

//! Objects of somebody else beside those of an operator whose own objects are in no namespace.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{CustomResource, api::ObjectMeta};
use opgen::{Operator, prelude::*};
use opgen_testing::{Check, Report, trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "bystander.example.com", version = "v1", kind = "Park", status = "Status")]
pub struct ParkSpec {
    #[serde(default)]
    trees: i32,
}

/// What the teardown removes beside its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Clears {
    #[default]
    Nothing,
    /// All Secrets of a namespace.
    Secrets,
    /// All ConfigMaps with a label that others may have.
    Labelled,
    /// The same in a namespace where the operator has nothing.
    Elsewhere,
}

type Owner = For<Park, Options>;

#[derive(Clone, Debug, Default)]
pub struct Options(Clears);

const HOME: &str = "default";
const LABEL: (&str, &str) = ("app.kubernetes.io/name", "park");

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Owner)]
pub struct Tree {
    clears: Clearing,
    #[provisioner(resource)]
    map: ConfigMap,
}

impl Tree {
    fn map(park: &Park) -> ConfigMap {
        let metadata = ObjectMeta {
            name: Some(park.name_any()),
            namespace: Some(HOME.to_owned()),
            labels: Some([(LABEL.0.to_owned(), LABEL.1.to_owned())].into()),
            ..ObjectMeta::default()
        };
        let data = [("trees".to_owned(), park.spec.trees.to_string())].into();
        ConfigMap { metadata, data: Some(data), ..ConfigMap::default() }
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(access(Secret: deletecollection; ConfigMap: deletecollection))]
pub struct Clearing;

impl Provision<Owner> for Clearing {
    async fn provision(_: &Context<'_, Owner, Self>) -> Result<()> {
        Ok(())
    }

    async fn deprovision(cx: &Teardown<'_, Owner, Self>) -> Result<()> {
        let selector = format!("{}={}", LABEL.0, LABEL.1);
        match cx.options().0 {
            Clears::Nothing => Ok(()),
            Clears::Secrets => cx.in_namespace(HOME).delete_collection::<Secret>("").await,
            Clears::Labelled => cx.in_namespace(HOME).delete_collection::<ConfigMap>(&selector).await,
            Clears::Elsewhere => cx.in_namespace("of-somebody-else").delete_collection::<ConfigMap>(&selector).await,
        }
    }
}

fn report(clears: Clears) -> Report {
    let operator =
        move || Operator::new("park").controls_with::<Owner, Tree>(|controller| controller.options(Options(clears)));
    let checks = [Check::Convergence, Check::Steadiness, Check::Deletion, Check::Beside, Check::Gate];
    trial(operator).sample(&Park::new("green", ParkSpec { trees: 3 })).only(checks).run()
}

#[track_caller]
fn found(clears: Clears, problem: &str) {
    let report = report(clears);
    let is_so = |problems: &[&str]| problems.iter().any(|said| said.starts_with(problem));
    let problems: Vec<&str> = report.findings.iter().map(|finding| finding.problem.as_str()).collect();
    assert!(is_so(&problems), "{problem}: {report}");
}

#[test]
fn all_secrets_of_the_namespace_in_which_the_children_are_are_missed() {
    found(
        Clears::Secrets,
        "Secret default/of-somebody-else is somebody else's and was deleted after the samples were deleted, by DELETE \
         /api/v1/namespaces/default/secrets",
    );
}

#[test]
fn what_a_label_selects_that_others_have_is_missed() {
    found(Clears::Labelled, "ConfigMap default/of-somebody-else-1 is somebody else's and was deleted");
}

#[test]
fn what_is_in_a_namespace_of_nobody_in_the_trial_is_missed() {
    found(Clears::Elsewhere, "ConfigMap of-somebody-else/of-somebody-else-1 is somebody else's and was deleted");
}

#[test]
fn an_operator_that_removes_its_own_alone_is_clean() {
    let report = report(Clears::Nothing);
    assert!(report.is_clean(), "{report}");
    assert!(report.steps.iter().any(|step| step.check == Check::Deletion && step.runs > 3), "{report}");
}

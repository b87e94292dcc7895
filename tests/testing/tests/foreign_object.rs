//! Checks that a test with injected faults reports a cluster-scoped operator that deletes objects of other clients.
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

/// The foreign objects that the teardown deletes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Clears {
    #[default]
    Nothing,
    /// All Secrets of a namespace.
    Secrets,
    /// All ConfigMaps with a common label.
    Labelled,
    /// All ConfigMaps with that label in a namespace without objects of the operator.
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
    let checks = [Check::Convergence, Check::SteadyState, Check::Deletion, Check::Isolation, Check::Finalizers];
    trial(operator).sample(&Park::new("green", ParkSpec { trees: 3 })).only(checks).run()
}

#[track_caller]
fn found(clears: Clears, problem: &str) {
    let report = report(clears);
    let is_found = report.findings.iter().any(|finding| finding.problem.starts_with(problem));
    assert!(is_found, "{problem}: {report}");
}

#[test]
fn a_deletion_of_all_secrets_in_the_namespace_of_the_children_is_found() {
    found(
        Clears::Secrets,
        "Secret default/of-somebody-else of another client was deleted after the samples were deleted, by DELETE \
         /api/v1/namespaces/default/secrets",
    );
}

#[test]
fn a_deletion_by_a_common_label_is_found() {
    found(Clears::Labelled, "ConfigMap default/of-somebody-else-1 of another client was deleted");
}

#[test]
fn a_deletion_in_a_foreign_namespace_is_found() {
    found(Clears::Elsewhere, "ConfigMap of-somebody-else/of-somebody-else-1 of another client was deleted");
}

#[test]
fn an_operator_that_deletes_only_its_own_objects_is_clean() {
    let report = report(Clears::Nothing);
    assert!(report.is_clean(), "{report}");
    assert!(report.steps.iter().any(|step| step.check == Check::Deletion && step.runs > 3), "{report}");
}

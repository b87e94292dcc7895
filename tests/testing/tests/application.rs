//! Injects faults into opgen operators whose trees deploy applications with Argo CD, Flux and Helm.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResource, api::ObjectMeta};
use opgen::{
    Operator,
    cd::{
        Application, ArgoCd, flux,
        helm::{Helm, HelmSettings},
    },
    prelude::*,
    scope::Kubeconfig,
    shape::Access,
};
use opgen_testing::{Check, trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Returns whether the environment variable `OPGEN_WHOLE_TRIAL` asks for the checks that only the nightly run has time for.
fn is_whole() -> bool {
    std::env::var_os("OPGEN_WHOLE_TRIAL").is_some()
}

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "platform.example.com", version = "v1", kind = "Stack", namespaced, status = "Status")]
pub struct StackSpec {
    /// The version of the database.
    #[schemars(length(min = 1))]
    database: String,
    #[serde(default)]
    #[managed(allow(bool))]
    monitored: bool,
    /// The chart of the web server.
    #[schemars(length(min = 1))]
    web: String,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Stack)]
pub struct Tree {
    #[provisioner(application(ArgoCd))]
    database: Application,
    #[provisioner(application(flux::HelmCharts))]
    web: Application,
    #[provisioner(application(ArgoCd), when = |stack| stack.spec.monitored)]
    monitoring: Application,
}

const CHARTS: &str = "https://charts.example.com";

impl Tree {
    fn database(stack: &Stack) -> Application {
        Application::chart(CHARTS, "database", format!("v{}", stack.spec.database)).parameter("storage", "10Gi")
    }

    fn web(stack: &Stack) -> Application {
        // Another chart is another application, with the same release.
        let web = Application::chart(CHARTS, &stack.spec.web, "1.0.0").name(&stack.spec.web);
        web.release(format!("{}-web", stack.name_any())).values(json!({"database": stack.name_any()}))
    }

    fn monitoring(_: &Stack) -> Application {
        Application::chart(CHARTS, "monitoring", "2.0.0")
    }
}

fn stack(name: &str, web: &str) -> Stack {
    Stack::new(name, StackSpec { database: "1".to_owned(), monitored: true, web: web.to_owned() })
}

fn operator() -> Operator {
    Operator::new("stacks").controls::<Stack, Tree>()
}

#[test]
fn applications_are_deployed_changed_and_removed_whatever_fails() {
    let report = trial(operator).sample(&stack("one", "nginx")).seeds(0..9).pairs(8).run();
    assert!(report.is_clean(), "{report}");
}

#[test]
fn applications_of_two_owners_are_independent() {
    let both = trial(operator).sample(&stack("one", "nginx")).sample(&stack("two", "caddy"));
    let report = both.only([Check::Isolation]).run();
    assert!(report.is_clean(), "{report}");
}

#[test]
fn an_application_that_stays_degraded_is_a_finding_with_the_reason_of_the_cd_system() {
    let report = trial(operator).sample(&stack("one", "degraded")).only([Check::Edit]).run();
    let text = report.to_string();
    assert!(!report.is_clean() && text.contains("it is not Ready (InstallFailed)"), "{text}");
}

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "platform.example.com", version = "v1", kind = "Fleet", namespaced, status = "Status")]
pub struct FleetSpec {
    /// The version of the applications.
    #[schemars(length(min = 1))]
    version: String,
    #[serde(default)]
    #[managed(allow(bool))]
    nested: bool,
}

/// Applications in other clusters, which the CD systems of this one deploy.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Fleet)]
pub struct FleetTree {
    #[provisioner(application(ArgoCd))]
    here: Application,
    #[provisioner(remote)]
    outer: Outer,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Fleet)]
pub struct Outer {
    #[provisioner(application(ArgoCd))]
    network: Application,
    #[provisioner(resource)]
    settings: ConfigMap,
    #[provisioner(remote, when = |fleet| fleet.spec.nested)]
    inner: Inner,
}

#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Fleet)]
pub struct Inner {
    #[provisioner(application(ArgoCd))]
    network: Application,
    #[provisioner(application(flux::HelmCharts))]
    storage: Application,
}

impl FleetTree {
    fn here(fleet: &Fleet) -> Application {
        Application::chart(CHARTS, "here", &fleet.spec.version)
    }

    fn outer(_: &Fleet) -> Kubeconfig {
        Kubeconfig::secret("outer")
    }
}

impl Outer {
    fn network(fleet: &Fleet) -> Application {
        Application::chart(CHARTS, "network", &fleet.spec.version)
    }

    fn settings(fleet: &Fleet) -> ConfigMap {
        ConfigMap {
            metadata: ObjectMeta { name: Some(fleet.name_any()), ..ObjectMeta::default() },
            ..ConfigMap::default()
        }
    }

    fn inner(_: &Fleet) -> Kubeconfig {
        Kubeconfig::secret("inner")
    }
}

impl Inner {
    fn network(fleet: &Fleet) -> Application {
        Application::chart(CHARTS, "network", &fleet.spec.version)
    }

    fn storage(fleet: &Fleet) -> Application {
        Application::chart(CHARTS, "storage", &fleet.spec.version)
    }
}

/// In a whole trial, the sample has a cluster in a cluster from the start. Otherwise only the edits add and remove it.
#[test]
fn applications_in_other_clusters_are_deployed_and_removed_whatever_fails() {
    let operator = || Operator::new("fleets").controls::<Fleet, FleetTree>();
    let sample = Fleet::new("one", FleetSpec { version: "1.0.0".to_owned(), nested: is_whole() });
    let report = trial(operator).sample(&sample).seeds(0..9).pairs(8).run();
    assert!(report.is_clean(), "{report}");
}

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(
    group = "platform.example.com",
    version = "v1",
    kind = "Shelf",
    plural = "shelves",
    namespaced,
    status = "Status"
)]
pub struct ShelfSpec {
    /// The version of the charts.
    #[schemars(length(min = 1))]
    version: String,
    /// The chart of the web server.
    #[schemars(length(min = 1))]
    web: String,
}

/// Applications that an operator deploys with Helm, also into another cluster.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shelf)]
pub struct ShelfTree {
    #[provisioner(application(Helm))]
    web: Application,
    #[provisioner(remote)]
    inside: Inside,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shelf)]
pub struct Inside {
    #[provisioner(application(Helm))]
    storage: Application,
}

impl ShelfTree {
    fn web(shelf: &Shelf) -> Application {
        // Another chart has another release, and so another object.
        let web = Application::chart(CHARTS, &shelf.spec.web, &shelf.spec.version);
        web.release(format!("{}-{}", shelf.name_any(), shelf.spec.web)).values(json!({"shelf": shelf.name_any()}))
    }

    fn inside(_: &Shelf) -> Kubeconfig {
        Kubeconfig::secret("inside")
    }
}

impl Inside {
    fn storage(shelf: &Shelf) -> Application {
        Application::chart(CHARTS, "storage", &shelf.spec.version).parameter("size", "10Gi")
    }
}

fn shelf(name: &str, web: &str) -> Shelf {
    Shelf::new(name, ShelfSpec { version: "1.0.0".to_owned(), web: web.to_owned() })
}

/// The simulation of the sandbox deploys them.
#[test]
fn applications_are_deployed_by_an_operator_with_helm_whatever_fails() {
    let operator = || Operator::new("shelves").controls::<Shelf, ShelfTree>();
    let report = trial(operator).sample(&shelf("one", "nginx")).seeds(0..9).pairs(8).run();
    assert!(report.is_clean(), "{report}");
    let report = trial(operator).sample(&shelf("one", "degraded")).only([Check::Edit]).run();
    let text = report.to_string();
    assert!(!report.is_clean() && text.contains("it is not Available (Degraded)"), "{text}");
}

/// The objects in the charts; the simulation has none.
struct NoObjects;

impl HelmSettings for NoObjects {
    const ACCESS: &'static [Access] = &[];
}

/// The operator deploys them itself, with the simulation of the program `helm`. The rights for the storage of Helm are unused then.
#[test]
fn an_operator_deploys_its_applications_itself_whatever_fails() {
    let operator = || Operator::new("shelves").controls::<Shelf, ShelfTree>().deploys_with_helm::<NoObjects>();
    let mut checks = vec![Check::Convergence, Check::SteadyState, Check::TwoStops, Check::RandomFaults];
    checks.extend(is_whole().then_some(Check::Edit));
    let report = trial(operator).sample(&shelf("one", "nginx")).only(checks).seeds(0..3).pairs(8).run();
    assert!(report.is_clean(), "{report}");
}

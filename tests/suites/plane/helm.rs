//! Charts that an operator deploys with the program `helm`.

mod remote;

use std::{path::PathBuf, sync::Arc, time::Duration};

use k8s_openapi::api::{
    apps::v1::{Deployment, ReplicaSet},
    batch::v1::Job,
    core::v1::{ConfigMap, Pod, Secret},
};
use kube::{
    Api, CustomResource,
    api::{DeleteParams, ListParams},
};
use libtest_mimic::Trial;
use opgen::{
    Operator, RunOptions, Typed,
    cd::{
        Application,
        helm::{Helm, HelmDeployment, HelmProgram, HelmSettings},
    },
    prelude::*,
    shape::{Access, SourceLocation, Verb},
};
use opgen_tests::{
    Plane, case_with_tools, tools,
    wait::{self, PATIENCE, until_gone, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    charts::Charts,
    operator::{
        kinds::available,
        site::{NAME, Running, Site},
    },
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case_with_tools("charts_are_deployed_by_helm", life),
        case_with_tools("an_interrupted_run_of_helm_is_repaired", interrupted),
        case_with_tools("charts_are_deployed_by_helm_into_another_cluster", remote::life),
    ]
}

/// A web server that the operator deploys.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "live.example.com", version = "v1", kind = "Rack", namespaced, status = "Status")]
struct RackSpec {
    /// The repository of the charts.
    charts: String,
    chart: String,
    version: String,
    /// The name of the objects in the chart.
    name: String,
    #[schemars(range(min = 0))]
    replicas: i32,
    /// Whether the chart has a ConfigMap.
    extra: bool,
    /// Whether the chart has a hook.
    hook: bool,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Rack)]
struct RackTree {
    #[provisioner(application(Helm))]
    web: Application,
}

impl RackTree {
    fn web(rack: &Rack) -> Application {
        let RackSpec { charts, chart, version, name, replicas, extra, hook } = &rack.spec;
        Application::chart(charts, chart, version)
            .release("web")
            .values(json!({"name": name, "extra": extra, "hook": hook}))
            .parameter("replicas", replicas.to_string())
    }
}

/// The rights for the objects in the charts.
struct ChartObjects;

impl HelmSettings for ChartObjects {
    const ACCESS: &'static [Access] = &[
        Access::applied(ConfigMap::names),
        Access::applied(Deployment::names),
        Access::applied(Job::names),
        Access::to(Pod::names, &[Verb::List], SourceLocation::UNKNOWN),
        Access::to(ReplicaSet::names, &[Verb::List], SourceLocation::UNKNOWN),
    ];
    const DEADLINE: Duration = DEADLINE;
}

/// Long enough for any run here, and short enough to wait for.
const DEADLINE: Duration = Duration::from_secs(20);

/// Installs an operator that runs the program at `helm`, which has the rights of the operator's role.
async fn install(site: &Site, operator: Operator, helm: PathBuf) -> Operator {
    let operator = operator.deploys_with_helm::<ChartObjects>();
    site.install(&operator).await;
    let account = site.plane.service_account(&site.namespace, NAME).await;
    let program = HelmProgram::new(helm).kubeconfig(account.kubeconfig());
    operator.environment(site.environment().helm(program))
}

/// Returns the path of the program `helm`.
fn helm_path() -> PathBuf {
    tools::find().unwrap_or_else(|missing| panic!("{missing}")).join("helm")
}

fn rack(charts: &Charts) -> Rack {
    let (chart, version, name) = ("web".to_owned(), "1.0.0".to_owned(), "web".to_owned());
    let spec = RackSpec { charts: charts.url.clone(), chart, version, name, replicas: 1, extra: true, hook: false };
    Rack::new("one", spec)
}

/// Waits until the Rack is available in its current generation.
async fn is_ready(site: &Site) {
    until_object(&site.api::<Rack>(), "one", "is available", |rack| {
        let status = rack.status.as_ref();
        let is_current = status.and_then(|status| status.observed_generation) == rack.metadata.generation;
        is_current && available(status).is_some_and(|(truth, ..)| truth == "True")
    })
    .await;
}

/// Waits until the condition of the Rack contains a text.
async fn says(site: &Site, text: &str) {
    until_object(&site.api::<Rack>(), "one", &format!("says {text:?}"), |rack| {
        available(rack.status.as_ref()).is_some_and(|(_, _, message)| message.contains(text))
    })
    .await;
}

/// Waits until the Deployment of the chart has a version and a number of ready replicas.
async fn runs(site: &Site, version: &str, replicas: i32) {
    runs_in(&site.api(), version, replicas).await;
}

/// As [`runs`], among these Deployments.
async fn runs_in(deployments: &Api<Deployment>, version: &str, replicas: i32) {
    until_object(deployments, "web", &format!("runs {replicas} of {version}"), |deployment| {
        let label = deployment.metadata.labels.as_ref().and_then(|labels| labels.get("version"));
        let ready = deployment.status.as_ref().and_then(|status| status.ready_replicas);
        label.is_some_and(|label| label == version) && ready == Some(replicas)
    })
    .await;
}

async fn spec(site: &Site, spec: Value) {
    site.patch::<Rack>("one", &json!({"spec": spec})).await;
}

/// Returns the revisions of the release.
fn history(site: &Site) -> Vec<Value> {
    let output = tools::helm(&site.plane, &["history", "web", "-n", &site.namespace, "-o", "json"]);
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// Returns the state of the last revision of the release; empty if there is none.
fn state(site: &Site) -> String {
    history(site).last().and_then(|latest| latest["status"].as_str()).unwrap_or_default().to_owned()
}

/// A Rack that is available, and what it is deployed with.
struct Scene {
    site: Site,
    operator: Operator,
    running: Running,
    _charts: Charts,
}

impl Scene {
    /// Serves the charts, starts the operator, and creates the Rack.
    async fn ready(plane: &Arc<Plane>) -> Self {
        let (charts, site) = (Charts::serve(plane).await, Site::new(plane).await);
        let operator = install(&site, site.operator().controls::<Rack, RackTree>(), helm_path()).await;
        let running = site.run(&operator, RunOptions::default()).await;
        site.create(&rack(&charts)).await;
        is_ready(&site).await;
        Self { site, operator, running, _charts: charts }
    }
}

async fn life(plane: Arc<Plane>) {
    let Scene { site, operator, running, _charts } = Scene::ready(&plane).await;
    runs(&site, "1.0.0", 1).await;
    assert!(site.api::<ConfigMap>().get_opt("web-extra").await.unwrap().is_some());

    // A new process reads the release, and writes nothing.
    running.end_now().await;
    let before = site.settled().await;
    let _running = site.run(&operator, RunOptions::default()).await;
    wait::until("helm has read the release", PATIENCE, async || {
        let asked = site.asked().await.since(&before).with(|entry| entry.user_agent.starts_with("Helm/"));
        if asked.resource("deployments").is_empty() { Err(format!("{asked}")) } else { Ok(()) }
    })
    .await;
    let since = site.settled().await.since(&before);
    assert!(since.writes().is_empty(), "{}", since.writes());
    assert_eq!(history(&site).len(), 1);

    spec(&site, json!({"version": "2.0.0", "replicas": 2, "extra": false})).await;
    runs(&site, "2.0.0", 2).await;
    until_gone(&site.api::<ConfigMap>(), "web-extra").await;
    is_ready(&site).await;

    spec(&site, json!({"version": "9.9.9"})).await;
    says(&site, "helm upgrade: chart \"web\" version \"9.9.9\" not found").await;
    runs(&site, "2.0.0", 2).await;
    spec(&site, json!({"version": "1.0.0", "chart": "pulling"})).await;
    says(&site, "Deployment web: container main is in ImagePullBackOff").await;
    spec(&site, json!({"version": "2.0.0", "chart": "web"})).await;
    runs(&site, "2.0.0", 2).await;
    is_ready(&site).await;
    removal(&site).await;
}

/// Nothing of an application remains.
async fn removal(site: &Site) {
    site.delete::<Rack>("one").await;
    until_gone(&site.api::<Rack>(), "one").await;
    let parameters = ListParams::default();
    assert!(site.api::<HelmDeployment>().list(&parameters).await.unwrap().items.is_empty());
    assert!(site.api::<Deployment>().list(&parameters).await.unwrap().items.is_empty());
    let releases = site.api::<Secret>().list(&ListParams::default().labels("owner=helm")).await.unwrap();
    assert!(releases.items.is_empty());
    let denied = site.asked().await.denied();
    assert!(denied.is_empty(), "{denied}");
}

/// The operator is stopped while `helm` waits for a hook.
async fn interrupted(plane: Arc<Plane>) {
    let Scene { site, operator, running, _charts } = Scene::ready(&plane).await;
    spec(&site, json!({"version": "2.0.0", "hook": true})).await;
    until_object(&site.api::<Job>(), "web-hook", "exists", |_| true).await;
    drop(running);
    assert_eq!(state(&site), "pending-upgrade");
    spec(&site, json!({"hook": false})).await;
    let _running = site.run(&operator, RunOptions::default()).await;
    runs(&site, "2.0.0", 1).await;
    is_ready(&site).await;
    let descriptions: Vec<_> = history(&site).iter().map(|revision| revision["description"].clone()).collect();
    assert!(descriptions.contains(&json!("Rollback to 1")), "{descriptions:?}");
    // A hook is no part of the release.
    site.api::<Job>().delete("web-hook", &DeleteParams::background()).await.unwrap();
    removal(&site).await;
}

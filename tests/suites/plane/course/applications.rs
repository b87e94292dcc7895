//! Applications that the real Argo CD and the real Flux deploy.

mod remote;

use std::sync::Arc;

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret},
};
use kube::{
    Api, CustomResource,
    api::{DynamicObject, ObjectMeta, Patch, PatchParams},
    core::GroupVersionKind,
    discovery::ApiResource,
};
use libtest_mimic::Trial;
use opgen::{
    Operator,
    cd::{Application, ArgoCd, ArgoCdSettings, flux},
    prelude::*,
    scope::Kubeconfig,
};
use opgen_tests::{
    Plane, case_with_cd_systems,
    cd_systems::{self, ARGO_CD_CLUSTER},
    wait,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::LONG;
use crate::{
    charts::Charts,
    operator::{
        kinds::available,
        site::{NAME, Site},
    },
};

/// A web server that Argo CD deploys, and one that Flux deploys.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "platform.example.com", version = "v1", kind = "Stack", namespaced, status = "Status")]
#[serde(rename_all = "camelCase")]
struct StackSpec {
    /// The repository of the charts.
    charts: String,
    by_argo: Web,
    by_flux: Web,
    /// Whether Argo CD deploys one more.
    #[managed(allow(bool))]
    more: bool,
}

/// A chart with its values.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
struct Web {
    chart: String,
    version: String,
    replicas: u32,
    /// Whether the chart has a ConfigMap.
    extra: bool,
}

#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Stack)]
struct Tree {
    #[provisioner(application(LocalArgoCd))]
    argo: Application,
    #[provisioner(application(flux::HelmCharts))]
    flux: Application,
    #[provisioner(application(LocalArgoCd), when = |stack| stack.spec.more)]
    more: Application,
    /// By a kubeconfig, which is one of the same cluster.
    #[provisioner(application(flux::HelmCharts), when = |stack| stack.spec.more)]
    elsewhere: Application,
}

/// The annotation that makes Argo CD compare an application at once. Argo CD removes it.
const REFRESH: &str = "argocd.argoproj.io/refresh";

type LocalArgoCd = ArgoCd<Local>;

/// The cluster is registered in Argo CD by a name of its own.
struct Local;

impl ArgoCdSettings for Local {
    const CLUSTER: &'static str = ARGO_CD_CLUSTER;
}

impl Tree {
    fn argo(stack: &Stack) -> Application {
        web(stack, &stack.spec.by_argo, "argo").parameter("replicas", stack.spec.by_argo.replicas.to_string())
    }

    fn flux(stack: &Stack) -> Application {
        web(stack, &stack.spec.by_flux, "flux").parameter("replicas", stack.spec.by_flux.replicas.to_string())
    }

    fn more(stack: &Stack) -> Application {
        web(stack, &stack.spec.by_argo, "more").namespace("more").create_namespace()
    }

    fn elsewhere(stack: &Stack) -> Application {
        let kubeconfig = Kubeconfig::secret("elsewhere");
        web(stack, &stack.spec.by_flux, "elsewhere").namespace("elsewhere").create_namespace().kubeconfig(kubeconfig)
    }
}

fn web(stack: &Stack, web: &Web, name: &str) -> Application {
    Application::chart(&stack.spec.charts, &web.chart, &web.version).values(json!({"name": name, "extra": web.extra}))
}

/// Waits until the Stack is available in its current generation.
async fn is_ready(site: &Site) {
    let api = site.api::<Stack>();
    wait::until("the stack is available", LONG, async || {
        let stack = api.get("one").await.map_err(|error| error.to_string())?;
        let observed = stack.status.as_ref().and_then(|status| status.observed_generation);
        let found = available(stack.status.as_ref());
        let is_ready = found.as_ref().is_some_and(|(truth, _, _)| *truth == "True");
        if is_ready && observed == stack.metadata.generation { Ok(()) } else { Err(format!("it is {found:?}")) }
    })
    .await;
}

/// Waits until the condition of the Stack contains a text.
async fn says(site: &Site, text: &str) {
    let api = site.api::<Stack>();
    wait::until(format!("the condition says {text:?}"), LONG, async || {
        let stack = api.get("one").await.map_err(|error| error.to_string())?;
        match available(stack.status.as_ref()) {
            Some((_, _, message)) if message.contains(text) => Ok(()),
            found => Err(format!("it says {found:?}")),
        }
    })
    .await;
}

/// Waits until a Deployment of a chart has this version and number of ready replicas.
async fn runs(plane: &Plane, namespace: &str, name: &str, version: &str, replicas: i32) {
    let api = Api::<Deployment>::namespaced(plane.client(), namespace);
    wait::until(format!("{namespace}/{name} runs {replicas} of {version}"), LONG, async || {
        let deployment = api.get(name).await.map_err(|error| error.to_string())?;
        let found = deployment.metadata.labels.as_ref().and_then(|labels| labels.get("version")).cloned();
        let ready = deployment.status.as_ref().and_then(|status| status.ready_replicas);
        let is_wanted = found.as_deref() == Some(version) && ready == Some(replicas);
        if is_wanted { Ok(()) } else { Err(format!("it runs {ready:?} of {found:?}")) }
    })
    .await;
}

async fn spec(site: &Site, spec: serde_json::Value) {
    site.patch::<Stack>("one", &json!({"spec": spec})).await;
}

/// Returns the applications of Argo CD.
fn applications(plane: &Plane) -> Api<DynamicObject> {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("argoproj.io", "v1alpha1", "Application"));
    Api::namespaced_with(plane.client(), cd_systems::ARGO_CD_NAMESPACE, &kind)
}

pub(super) fn cases() -> [Trial; 2] {
    [
        case_with_cd_systems("applications_are_deployed_by_argo_cd_and_flux", life),
        case_with_cd_systems("applications_are_deployed_into_another_cluster_by_argo_cd_and_flux", remote::life),
    ]
}

async fn life(plane: Arc<Plane>) {
    let (mut argo, mut flux) = (cd_systems::ArgoCd::start(&plane).await, cd_systems::Flux::start(&plane).await);
    let charts = Charts::serve(&plane).await;
    let site = Site::new(&plane).await;
    let operator = Operator::new(NAME).namespace(&site.namespace).environment(site.environment());
    let operator = operator.controls::<Stack, Tree>();
    let _running = site.start(&operator).await;

    let web = Web { chart: "web".to_owned(), version: "1.0.0".to_owned(), replicas: 1, extra: true };
    let whole = StackSpec { charts: charts.url.clone(), by_argo: web.clone(), by_flux: web, more: true };
    let secret = Secret {
        metadata: ObjectMeta { name: Some("elsewhere".to_owned()), ..ObjectMeta::default() },
        string_data: Some([("value".to_owned(), plane.admin().embedded_kubeconfig())].into()),
        ..Secret::default()
    };
    site.create(&secret).await;
    site.create(&Stack::new("one", whole)).await;
    is_ready(&site).await;
    for name in ["argo", "flux"] {
        runs(&plane, &site.namespace, name, "1.0.0", 1).await;
    }
    for name in ["more", "elsewhere"] {
        runs(&plane, name, name, "1.0.0", 1).await;
    }

    is_at_rest(&plane, &site).await;
    changes_are_deployed(&plane, &site).await;
    reasons_are_told(&plane, &site).await;
    repairs(&plane, &site).await;

    argo.check();
    flux.check();
    removal(&plane, &site).await;
    argo.check();
    flux.check();
}

/// The operator writes nothing when Argo CD compares an application again and finds nothing.
async fn is_at_rest(plane: &Plane, site: &Site) {
    let before = site.settled().await;
    let applications = applications(plane);
    for application in applications.list(&Default::default()).await.expect("the applications").items {
        let name = application.name_any();
        let refresh = json!({"metadata": {"annotations": {REFRESH: "hard"}}});
        applications.patch(&name, &PatchParams::default(), &Patch::Merge(refresh)).await.expect("a refresh");
        wait::until("Argo CD has compared it", LONG, async || {
            let found = applications.get(&name).await.map_err(|error| error.to_string())?;
            if found.annotations().contains_key(REFRESH) { Err("it has not begun".to_owned()) } else { Ok(()) }
        })
        .await;
    }
    let since = site.settled().await.since(&before);
    assert!(since.writes().is_empty(), "{}", since.writes());
}

/// Versions, values and parameters reach the charts, and what a chart no longer has is removed.
async fn changes_are_deployed(plane: &Plane, site: &Site) {
    let change = json!({"version": "2.0.0", "replicas": 2, "extra": false});
    spec(site, json!({"byArgo": change, "byFlux": change, "more": false})).await;
    for name in ["argo", "flux"] {
        runs(plane, &site.namespace, name, "2.0.0", 2).await;
        wait::until_gone(&site.api::<ConfigMap>(), &format!("{name}-extra")).await;
    }
    is_ready(site).await;
    for name in ["more", "elsewhere"] {
        wait::until_gone(&Api::<Deployment>::namespaced(plane.client(), name), name).await;
    }
}

/// What the CD systems report is in the conditions of the owner.
async fn reasons_are_told(plane: &Plane, site: &Site) {
    spec(site, json!({"byArgo": {"chart": "stuck", "version": "1.0.0"}})).await;
    says(site, "Degraded").await;
    spec(site, json!({"byArgo": {"chart": "none"}})).await;
    says(site, "ComparisonError").await;
    spec(site, json!({"byArgo": {"chart": "web", "version": "2.0.0"}})).await;
    runs(plane, &site.namespace, "argo", "2.0.0", 2).await;
    is_ready(site).await;
    spec(site, json!({"byFlux": {"chart": "none"}})).await;
    says(site, "it is not Ready (").await;
    spec(site, json!({"byFlux": {"chart": "web"}})).await;
    is_ready(site).await;
}

/// An application that another client deletes, or whose objects it changes, is deployed again.
async fn repairs(plane: &Plane, site: &Site) {
    let applications = applications(plane);
    let all = applications.list(&Default::default()).await.expect("the applications").items;
    let [application] = &all[..] else { panic!("one application, but found {}", all.len()) };
    let name = application.name_any();
    applications.delete(&name, &Default::default()).await.expect("a deleted application");
    let uid = application.metadata.uid.clone();
    wait::until("another application has the name", LONG, async || {
        let found = applications.get_opt(&name).await.map_err(|error| error.to_string())?;
        let found = found.and_then(|found| found.metadata.uid);
        if found.is_some() && found != uid { Ok(()) } else { Err(format!("its uid is {found:?}")) }
    })
    .await;
    is_ready(site).await;
    runs(plane, &site.namespace, "argo", "2.0.0", 2).await;
}

/// The CD systems remove what they deployed before the owner is gone.
async fn removal(plane: &Plane, site: &Site) {
    site.delete::<Stack>("one").await;
    removed(site).await;
    has_no_deployments(plane).await;
    assert!(applications(plane).list(&Default::default()).await.expect("the applications").items.is_empty());
}

/// Waits until the Stack is gone.
async fn removed(site: &Site) {
    let stacks = site.api::<Stack>();
    wait::until("the stack is gone", LONG, async || match stacks.get_opt("one").await {
        Ok(None) => Ok(()),
        Ok(Some(stack)) => Err(format!("it is {:?}", available(stack.status.as_ref()))),
        Err(error) => Err(error.to_string()),
    })
    .await;
}

/// Panics if a cluster has a Deployment.
async fn has_no_deployments(plane: &Plane) {
    let deployments = Api::<Deployment>::all(plane.client()).list(&Default::default()).await;
    let deployments = deployments.expect("the Deployments").items;
    assert!(deployments.is_empty(), "{:?}", deployments.iter().map(|object| object.name_any()).collect::<Vec<_>>());
}

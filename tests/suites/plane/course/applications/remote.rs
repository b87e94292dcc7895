//! Applications that the real Argo CD and the real Flux deploy into another real cluster.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::{ConfigMap, Secret, ServiceAccount},
    rbac::v1::ClusterRoleBinding,
};
use kube::{
    Api,
    api::{DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams},
};
use opgen::{
    Operator,
    cd::{Application, ArgoCd, ArgoCdSettings, flux},
    prelude::*,
    scope::Kubeconfig,
};
use opgen_tests::{
    Form, Options, Plane,
    cd_systems::{self, ARGO_CD_NAMESPACE},
    wait,
};
use serde_json::{Value, json};

use super::{
    super::LONG, Charts, Stack, StackSpec, Web, applications, has_no_deployments, is_at_rest, is_ready, removed, runs,
    says, spec, web,
};
use crate::operator::site::{NAME, Site};

/// The namespace in the other cluster.
const TENANT: &str = "tenant";
/// The Secret with the kubeconfig.
const CLUSTER: &str = "blue";
/// After this time, a cluster that can't be reached is given up.
const LIMIT: Duration = Duration::from_secs(10);

type DefaultArgoCd = ArgoCd<Settings>;

/// The settings of an installation of Argo CD.
struct Settings;

impl ArgoCdSettings for Settings {}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Stack)]
struct Tree {
    #[provisioner(remote)]
    cluster: Inside,
}

#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Stack)]
struct Inside {
    #[provisioner(application(DefaultArgoCd))]
    argo: Application,
    #[provisioner(application(flux::HelmCharts))]
    flux: Application,
}

impl Tree {
    fn cluster(_: &Stack) -> Kubeconfig {
        Kubeconfig::secret(CLUSTER).abandon_after(LIMIT)
    }
}

impl Inside {
    fn argo(stack: &Stack) -> Application {
        deployed(stack, &stack.spec.by_argo, "argo")
    }

    fn flux(stack: &Stack) -> Application {
        deployed(stack, &stack.spec.by_flux, "flux")
    }
}

fn deployed(stack: &Stack, values: &Web, name: &str) -> Application {
    let application = web(stack, values, name).parameter("replicas", values.replicas.to_string());
    application.namespace(format!("{TENANT}-{name}")).create_namespace()
}

/// Makes an account in the other cluster that may do everything, and writes the Secret with a kubeconfig that has its token.
async fn publish(site: &Site, other: &Plane, account: &str) {
    let accounts = Api::<ServiceAccount>::namespaced(other.client(), "kube-system");
    let metadata = ObjectMeta { name: Some(account.to_owned()), ..ObjectMeta::default() };
    let created = ServiceAccount { metadata: metadata.clone(), ..ServiceAccount::default() };
    accounts.create(&PostParams::default(), &created).await.expect("an account");
    let binding = json!({
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "kube-system"}],
    });
    let binding: ClusterRoleBinding = serde_json::from_value(binding).expect("a binding");
    Api::all(other.client()).create(&PostParams::default(), &binding).await.expect("a binding");
    let request = TokenRequest {
        spec: Some(TokenRequestSpec { expiration_seconds: Some(3600), ..TokenRequestSpec::default() }),
        ..TokenRequest::default()
    };
    let token = accounts.create_token_request(account, &PostParams::default(), &request).await.expect("a token");
    let mut kubeconfig: Value = serde_json::from_str(&other.admin().embedded_kubeconfig()).expect("a kubeconfig");
    kubeconfig["users"][0]["user"] = json!({"token": token.status.expect("a token").token});
    let secret = Secret {
        metadata: ObjectMeta { name: Some(CLUSTER.to_owned()), ..ObjectMeta::default() },
        string_data: Some([("value".to_owned(), kubeconfig.to_string())].into()),
        ..Secret::default()
    };
    let apply = PatchParams::apply("admin").force();
    site.api::<Secret>().patch(CLUSTER, &apply, &Patch::Apply(&secret)).await.expect("the Secret");
}

/// The Secrets that register clusters.
async fn registrations(site: &Site, plane: &Plane) -> Vec<Secret> {
    let (mut secrets, ours) = (Vec::new(), ListParams::default().labels("opgen.dev/registration"));
    for namespace in [ARGO_CD_NAMESPACE, &site.namespace] {
        let found = Api::<Secret>::namespaced(plane.client(), namespace).list(&ours).await;
        secrets.extend(found.expect("the Secrets").items);
    }
    secrets
}

/// The versions of the Secrets that register clusters.
async fn versions(site: &Site, plane: &Plane) -> Vec<Option<String>> {
    registrations(site, plane).await.into_iter().map(|secret| secret.resource_version()).collect()
}

async fn both_run(other: &Plane, version: &str, replicas: i32) {
    for name in ["argo", "flux"] {
        runs(other, &format!("{TENANT}-{name}"), name, version, replicas).await;
    }
}

async fn change(site: &Site, version: &str, replicas: u32) {
    let change = json!({"version": version, "replicas": replicas, "extra": false});
    spec(site, json!({"byArgo": change, "byFlux": change})).await;
}

pub(super) async fn life(plane: Arc<Plane>) {
    let other = Plane::start(Options { form: Form::Cluster, ..Options::served() }).await.expect("another cluster");
    let (mut argo, mut flux) = (cd_systems::ArgoCd::start(&plane).await, cd_systems::Flux::start(&plane).await);
    let charts = Charts::serve(&plane).await;
    let site = Site::new(&plane).await;
    let operator = Operator::new(NAME).namespace(&site.namespace).environment(site.environment());
    let _running = site.start(&operator.controls::<Stack, Tree>()).await;

    let web = Web { chart: "web".to_owned(), version: "1.0.0".to_owned(), replicas: 1, extra: true };
    let whole = StackSpec { charts: charts.url.clone(), by_argo: web.clone(), by_flux: web, more: false };
    publish(&site, &other, "first").await;
    site.create(&Stack::new("one", whole.clone())).await;
    is_ready(&site).await;
    both_run(&other, "1.0.0", 1).await;
    has_no_deployments(&plane).await;
    assert_eq!(registrations(&site, &plane).await.len(), 2, "one for each CD system");
    is_at_rest(&plane, &site).await;

    change(&site, "2.0.0", 2).await;
    both_run(&other, "2.0.0", 2).await;
    for name in ["argo", "flux"] {
        let configs = Api::<ConfigMap>::namespaced(other.client(), &format!("{TENANT}-{name}"));
        wait::until_gone(&configs, &format!("{name}-extra")).await;
    }
    is_ready(&site).await;
    reasons_are_told(&site).await;
    credentials_change(&site, &plane, &other).await;
    removal(&site, &plane, &other).await;

    site.create(&Stack::new("one", whole)).await;
    is_ready(&site).await;
    argo.check();
    flux.check();
    // The cluster is lost, and given up with all that was deployed there.
    drop(other);
    site.delete::<Stack>("one").await;
    removed(&site).await;
    assert!(applications(&plane).list(&ListParams::default()).await.expect("the applications").items.is_empty());
    assert!(registrations(&site, &plane).await.is_empty());
    argo.check();
    flux.check();
}

/// What the CD systems report of the other cluster is in the conditions of the owner.
async fn reasons_are_told(site: &Site) {
    spec(site, json!({"byArgo": {"chart": "stuck", "version": "1.0.0"}})).await;
    says(site, "Degraded").await;
    spec(site, json!({"byArgo": {"chart": "web", "version": "2.0.0"}})).await;
    is_ready(site).await;
}

/// New credentials reach the CD systems, and a deleted registration is made again.
async fn credentials_change(site: &Site, plane: &Plane, other: &Plane) {
    let before = versions(site, plane).await;
    publish(site, other, "second").await;
    // They are overlapping: a release that has begun would fail without the ones that it began with.
    wait::until("all registrations have the new credentials", LONG, async || {
        let now = versions(site, plane).await;
        let are_new = now.len() == 2 && now.iter().all(|version| !before.contains(version));
        if are_new { Ok(()) } else { Err(format!("{before:?} and then {now:?}")) }
    })
    .await;
    let accounts = Api::<ServiceAccount>::namespaced(other.client(), "kube-system");
    accounts.delete("first", &DeleteParams::default()).await.expect("a deleted account");
    change(site, "1.0.0", 1).await;
    both_run(other, "1.0.0", 1).await;
    is_ready(site).await;
    let (secrets, ours) = (Api::<Secret>::namespaced(plane.client(), ARGO_CD_NAMESPACE), ListParams::default());
    let ours = ours.labels("opgen.dev/registration");
    let [registration] = &secrets.list(&ours).await.expect("the Secrets").items[..] else { panic!("one registration") };
    secrets.delete(&registration.name_any(), &DeleteParams::default()).await.expect("a deleted registration");
    change(site, "2.0.0", 2).await;
    both_run(other, "2.0.0", 2).await;
    is_ready(site).await;
    let [again] = &secrets.list(&ours).await.expect("the Secrets").items[..] else { panic!("one registration") };
    assert_ne!(again.uid(), registration.uid());
}

/// The CD systems remove what they deployed there, and the registrations of the cluster end after it.
async fn removal(site: &Site, plane: &Plane, other: &Plane) {
    site.delete::<Stack>("one").await;
    removed(site).await;
    has_no_deployments(other).await;
    assert!(applications(plane).list(&ListParams::default()).await.expect("the applications").items.is_empty());
    assert!(registrations(site, plane).await.is_empty());
}

//! Tests of the simulated CD systems.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use opgen_sandbox::Sandbox;
use serde_json::{Value, json};

use crate::{
    client::{CRDS, has},
    fixture::Fixture,
};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const GIT_REPOSITORIES: &str = "/apis/source.toolkit.fluxcd.io/v1/namespaces/default/gitrepositories";
const HELM_REPOSITORIES: &str = "/apis/source.toolkit.fluxcd.io/v1/namespaces/default/helmrepositories";
const HELM_RELEASES: &str = "/apis/helm.toolkit.fluxcd.io/v2/namespaces/default/helmreleases";
const KUSTOMIZATIONS: &str = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/default/kustomizations";

/// A sandbox with the simulated CD systems, once it serves the kinds of Flux.
async fn with_flux() -> Fixture {
    let scene = Fixture(Sandbox::builder().seed(7).cd_systems(true).start());
    for definition in [
        "gitrepositories.source.toolkit.fluxcd.io",
        "helmrepositories.source.toolkit.fluxcd.io",
        "helmreleases.helm.toolkit.fluxcd.io",
        "kustomizations.kustomize.toolkit.fluxcd.io",
    ] {
        scene.until(&format!("{CRDS}/{definition}"), |crd| has(crd, "Established")).await;
    }
    scene
}

async fn create(scene: &Fixture, collection: &str, kind: &str, name: &str, spec: Value) {
    let version = collection.trim_start_matches("/apis/").split("/namespaces/").next().unwrap();
    let object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec});
    scene.create(collection, object).await;
}

/// Creates a `HelmRelease` with these fields, and waits until it is ready.
async fn release(scene: &Fixture, name: &str, mut spec: Value) {
    spec["chart"] = json!({"spec": {"chart": "web", "sourceRef": {"kind": "HelmRepository", "name": "charts"}}});
    create(scene, HELM_RELEASES, "HelmRelease", name, spec).await;
    scene.until(&format!("{HELM_RELEASES}/{name}"), |release| has(release, "Ready")).await;
}

/// A sandbox with a `HelmRepository` and the namespace `shop`.
async fn with_charts() -> Fixture {
    let scene = with_flux().await;
    scene.create("/api/v1/namespaces", json!({"metadata": {"name": "shop"}})).await;
    let spec = json!({"url": "https://charts.example.com"});
    create(&scene, HELM_REPOSITORIES, "HelmRepository", "charts", spec).await;
    scene
}

#[tokio::test(start_paused = true)]
async fn a_kustomization_without_target_namespace_becomes_ready() {
    let scene = with_flux().await;
    let spec = json!({"url": "https://git.example.com/code"});
    create(&scene, GIT_REPOSITORIES, "GitRepository", "code", spec).await;
    let spec = json!({"path": "./web", "sourceRef": {"kind": "GitRepository", "name": "code"}});
    create(&scene, KUSTOMIZATIONS, "Kustomization", "web", spec).await;
    let path = format!("{KUSTOMIZATIONS}/web");
    scene.until(&path, |kustomization| has(kustomization, "Ready")).await;
    scene.get(&format!("{MAPS}/web")).await;
    scene.done("DELETE", &path, Value::Null).await;
    scene.until_gone(&path).await;
    assert!(scene.is_gone(&format!("{MAPS}/web")).await);
}

#[tokio::test(start_paused = true)]
async fn a_helm_release_without_a_name_is_named_after_its_namespace_and_object() {
    let scene = with_charts().await;
    release(&scene, "web", json!({"targetNamespace": "shop"})).await;
    scene.get("/api/v1/namespaces/shop/configmaps/shop-web").await;
    release(&scene, "web2", json!({})).await;
    scene.get(&format!("{MAPS}/web2")).await;
    release(&scene, &"a".repeat(55), json!({})).await;
    scene.get(&format!("{MAPS}/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-9f4390f8d30c")).await;
}

#[tokio::test(start_paused = true)]
async fn the_removal_of_a_helm_release_without_a_name_uninstalls_a_release_that_another_has_upgraded() {
    let scene = with_charts().await;
    release(&scene, "web", json!({"targetNamespace": "shop"})).await;
    release(&scene, "other", json!({"targetNamespace": "shop", "releaseName": "shop-web"})).await;
    let map = scene.get("/api/v1/namespaces/shop/configmaps/shop-web").await;
    assert_eq!(map["metadata"]["labels"]["app.kubernetes.io/instance"], "default.other");
    let path = format!("{HELM_RELEASES}/web");
    scene.done("DELETE", &path, Value::Null).await;
    scene.until_gone(&path).await;
    assert!(scene.is_gone("/api/v1/namespaces/shop/configmaps/shop-web").await);
}

#[tokio::test(start_paused = true)]
async fn the_removal_of_a_helm_release_leaves_a_config_map_of_its_name_that_is_no_release() {
    let scene = with_charts().await;
    scene.config("web", json!({})).await;
    create(&scene, HELM_RELEASES, "HelmRelease", "web", json!({})).await;
    let path = format!("{HELM_RELEASES}/web");
    scene.until(&path, |release| release["metadata"]["finalizers"].is_array()).await;
    scene.done("DELETE", &path, Value::Null).await;
    scene.until_gone(&path).await;
    scene.get(&format!("{MAPS}/web")).await;
}

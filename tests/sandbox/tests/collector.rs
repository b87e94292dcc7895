//! Tests of the garbage collector.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::fixture::Fixture;
use serde_json::{Value, json};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn map(name: &str) -> String {
    format!("{MAPS}/{name}")
}

fn owned_by(owners: &[&Value]) -> Value {
    json!({"ownerReferences": owners.iter().map(|owner| Fixture::owner(owner)).collect::<Vec<_>>()})
}

#[tokio::test(start_paused = true)]
async fn dependents_of_dependents_go_too() {
    let scene = Fixture::new();
    let a = scene.config("a", json!({})).await;
    let b = scene.config("b", owned_by(&[&a])).await;
    scene.config("c", owned_by(&[&b])).await;
    scene.done("DELETE", &map("a"), Value::Null).await;
    assert!(scene.is_gone(&map("a")).await, "the owner doesn't wait");
    scene.until_gone(&map("c")).await;
    assert!(scene.is_gone(&map("b")).await);
}

#[tokio::test(start_paused = true)]
async fn in_the_foreground_blocking_dependents_go_first() {
    let scene = Fixture::new();
    let a = scene.config("a", json!({})).await;
    let mut blocking = owned_by(&[&a]);
    blocking["ownerReferences"][0]["blockOwnerDeletion"] = true.into();
    blocking["finalizers"] = json!(["a.b/c"]);
    scene.config("b", blocking).await;
    let marked = scene.done("DELETE", &map("a"), json!({"propagationPolicy": "Foreground"})).await;
    assert_eq!(marked["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    scene.until(&map("b"), |b| !b["metadata"]["deletionTimestamp"].is_null()).await;
    assert!(!scene.is_gone(&map("a")).await);
    scene.done("PATCH", &map("b"), json!({"metadata": {"finalizers": null}})).await;
    scene.until_gone(&map("a")).await;
    let told = scene.events(MAPS, &marked, 3).await;
    assert_eq!(told, ["MODIFIED b", "DELETED b", "DELETED a"]);
}

#[tokio::test(start_paused = true)]
async fn in_the_foreground_other_dependents_are_not_waited_for() {
    let scene = Fixture::new();
    let a = scene.config("a", json!({})).await;
    let mut held = owned_by(&[&a]);
    held["finalizers"] = json!(["a.b/c"]);
    scene.config("b", held).await;
    scene.done("DELETE", &map("a"), json!({"propagationPolicy": "Foreground"})).await;
    scene.until_gone(&map("a")).await;
    scene.until(&map("b"), |b| !b["metadata"]["deletionTimestamp"].is_null()).await;
}

#[tokio::test(start_paused = true)]
async fn orphans_lose_their_reference_and_stay() {
    let scene = Fixture::new();
    let (a, other) = (scene.config("a", json!({})).await, scene.config("other", json!({})).await);
    scene.config("b", owned_by(&[&a])).await;
    scene.config("c", owned_by(&[&a, &other])).await;
    scene.done("DELETE", &map("a"), json!({"propagationPolicy": "Orphan"})).await;
    scene.until_gone(&map("a")).await;
    assert!(scene.get(&map("b")).await["metadata"]["ownerReferences"].is_null());
    assert_eq!(scene.get(&map("c")).await["metadata"]["ownerReferences"], json!([Fixture::owner(&other)]));
}

#[tokio::test(start_paused = true)]
async fn what_names_an_absent_owner_goes() {
    let scene = Fixture::new();
    let mut stranger = scene.config("a", json!({})).await;
    stranger["metadata"]["uid"] = "of-another-life".into();
    scene.config("b", owned_by(&[&stranger])).await;
    scene.until_gone(&map("b")).await;

    let elsewhere = json!({"metadata": {"name": "far"}});
    let far = scene.create("/api/v1/namespaces/kube-system/configmaps", elsewhere).await;
    scene.config("c", owned_by(&[&far])).await;
    scene.until_gone(&map("c")).await;
    assert!(!scene.is_gone(&map("a")).await);
}

#[tokio::test(start_paused = true)]
async fn the_last_owner_counts() {
    let scene = Fixture::new();
    let (a, b) = (scene.config("a", json!({})).await, scene.config("b", json!({})).await);
    scene.config("c", owned_by(&[&a, &b])).await;
    scene.done("DELETE", &map("a"), Value::Null).await;
    let left = scene.until(&map("c"), |c| c["metadata"]["ownerReferences"].as_array().map(Vec::len) == Some(1)).await;
    assert_eq!(left["metadata"]["ownerReferences"], json!([Fixture::owner(&b)]));
    scene.done("DELETE", &map("b"), Value::Null).await;
    scene.until_gone(&map("c")).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_in_no_namespace_may_own_what_is_in_one() {
    let scene = Fixture::new();
    let role = json!({"metadata": {"name": "owner"}, "rules": []});
    let role = scene.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", role).await;
    scene.config("a", owned_by(&[&role])).await;
    let map_owner = scene.config("b", json!({})).await;
    let mut child = json!({"metadata": owned_by(&[&map_owner]), "rules": []});
    child["metadata"]["name"] = "child".into();
    scene.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", child).await;
    scene.done("DELETE", "/apis/rbac.authorization.k8s.io/v1/clusterroles/owner", Value::Null).await;
    scene.until_gone(&map("a")).await;
    scene.done("DELETE", &map("b"), Value::Null).await;
    // The other way round nobody can say where the owner would be.
    scene.config("c", owned_by(&[&map_owner])).await;
    scene.until_gone(&map("c")).await;
    assert!(!scene.is_gone("/apis/rbac.authorization.k8s.io/v1/clusterroles/child").await);
}

#[tokio::test(start_paused = true)]
async fn a_lost_history_loses_nobody() {
    let scene = Fixture::new();
    let a = scene.config("a", json!({})).await;
    scene.config("b", owned_by(&[&a])).await;
    scene.done("DELETE", &map("a"), Value::Null).await;
    scene.0.compact();
    scene.until_gone(&map("b")).await;
}

#[tokio::test(start_paused = true)]
async fn two_runs_of_one_seed_are_the_same() {
    let run = async || {
        let scene = Fixture::new();
        let a = scene.config("a", json!({})).await;
        for name in ["b", "c", "d"] {
            scene.config(name, owned_by(&[&a])).await;
        }
        scene.done("DELETE", &map("a"), Value::Null).await;
        scene.until_gone(&map("d")).await;
        let list = scene.get(MAPS).await;
        (scene.events(MAPS, &a, 7).await, list)
    };
    assert_eq!(run().await, run().await);
}

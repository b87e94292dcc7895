//! Tests of the lifecycle of namespaces.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::fixture::Fixture;
use serde_json::{Value, json};

const NAMESPACES: &str = "/api/v1/namespaces";

async fn namespace(scene: &Fixture) -> String {
    let made = json!({"metadata": {"name": "a"}, "spec": {"finalizers": ["kubernetes"]}});
    scene.create(NAMESPACES, made).await;
    scene.until(&format!("{NAMESPACES}/a/configmaps/kube-root-ca.crt"), Value::is_object).await;
    format!("{NAMESPACES}/a")
}

#[tokio::test(start_paused = true)]
async fn each_has_an_account_and_the_clusters_certificate() {
    let scene = Fixture::new();
    let path = namespace(&scene).await;
    let account = format!("{path}/serviceaccounts/default");
    let made = scene.get(&account).await;
    scene.done("DELETE", &account, Value::Null).await;
    scene.until(&account, |account| account.is_object() && account["metadata"]["uid"] != made["metadata"]["uid"]).await;
    let map = format!("{path}/configmaps/kube-root-ca.crt");
    scene.done("PATCH", &map, json!({"data": {"ca.crt": "mine", "other": "x"}})).await;
    scene.until(&map, |map| map["data"] == json!({"ca.crt": ""})).await;
    scene.done("DELETE", &map, Value::Null).await;
    scene.until(&map, Value::is_object).await;
}

#[tokio::test(start_paused = true)]
async fn it_is_emptied_and_then_goes() {
    let scene = Fixture::new();
    let path = namespace(&scene).await;
    scene.create(&format!("{path}/secrets"), json!({"metadata": {"name": "s"}})).await;
    let marked = scene.done("DELETE", &path, Value::Null).await;
    assert_eq!(marked["status"]["phase"], "Terminating");
    assert!(marked["metadata"]["deletionGracePeriodSeconds"].is_null());
    scene.until_gone(&path).await;
    let told = scene.events(NAMESPACES, &marked, 2).await;
    assert_eq!(told, ["MODIFIED a", "DELETED a"], "the conditions come before the end");
    let left = scene.get("/api/v1/secrets").await;
    assert_eq!(left["items"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn it_waits_for_finalizers_and_says_so() {
    let scene = Fixture::new();
    let path = namespace(&scene).await;
    for (kind, name, finalizers) in [
        ("configmaps", "g", json!(["a.b/c", "d.e/f"])),
        ("configmaps", "h", json!(["a.b/c", "d.e/f"])),
        ("secrets", "s", json!(["a.b/c"])),
    ] {
        scene.create(&format!("{path}/{kind}"), json!({"metadata": {"name": name, "finalizers": finalizers}})).await;
    }
    scene.done("DELETE", &path, Value::Null).await;
    let waiting = scene.until(&path, |namespace| namespace["status"]["conditions"].is_array()).await;
    let said = |type_: &str| {
        let conditions = waiting["status"]["conditions"].as_array().unwrap();
        let condition = conditions.iter().find(|condition| condition["type"] == type_).unwrap();
        ["status", "reason", "message"].map(|key| condition[key].as_str().unwrap().to_owned())
    };
    assert_eq!(
        said("NamespaceContentRemaining"),
        [
            "True",
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 2 resource instances, secrets. has 1 resource instances"
        ]
    );
    assert_eq!(
        said("NamespaceFinalizersRemaining"),
        [
            "True",
            "SomeFinalizersRemain",
            "Some content in the namespace has finalizers remaining: a.b/c in 3 resource instances, d.e/f in 2 resource instances"
        ]
    );
    let fine = "All content successfully deleted, may be waiting on finalization";
    assert_eq!(said("NamespaceDeletionContentFailure"), ["False", "ContentDeleted", fine]);
    for held in ["configmaps/g", "configmaps/h", "secrets/s"] {
        scene.done("PATCH", &format!("{path}/{held}"), json!({"metadata": {"finalizers": null}})).await;
    }
    scene.until_gone(&path).await;
}

#[tokio::test(start_paused = true)]
async fn finalizers_in_its_spec_go_by_a_path_of_their_own() {
    let scene = Fixture::new();
    let made = json!({"metadata": {"name": "a"}, "spec": {"finalizers": ["kubernetes", "a.b/c"]}});
    scene.create(NAMESPACES, made).await;
    let path = format!("{NAMESPACES}/a");
    scene.done("DELETE", &path, Value::Null).await;
    let waiting = scene.until(&path, |namespace| namespace["spec"]["finalizers"] == json!(["a.b/c"])).await;
    assert_eq!(waiting["status"]["phase"], "Terminating");
    let put = json!({"metadata": {"name": "a"}, "spec": {"finalizers": []}});
    let released = scene.done("PUT", &format!("{path}/finalize"), put).await;
    assert_eq!(released["spec"], json!({}));
    assert!(scene.is_gone(&path).await);
}

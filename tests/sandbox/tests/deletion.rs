//! Tests of deletions and their responses.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::{fixture::Fixture, wait};
use serde_json::{Value, json};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const PODS: &str = "/api/v1/namespaces/default/pods";

fn at(object: &Value, key: &str) -> Value {
    object["metadata"][key].clone()
}

fn pod(name: &str, node: Option<&str>, finalizers: &[&str]) -> Value {
    json!({
        "metadata": {"name": name, "finalizers": finalizers},
        "spec": {"nodeName": node, "terminationGracePeriodSeconds": 30, "containers": [{"name": "a", "image": "b"}]},
    })
}

#[tokio::test(start_paused = true)]
async fn kinds_are_answered_with_a_status_or_the_object() {
    let scene = Fixture::new();
    let made = scene.config("a", json!({})).await;
    let answer = scene.done("DELETE", &format!("{MAPS}/a"), Value::Null).await;
    let details = json!({"name": "a", "kind": "configmaps", "uid": at(&made, "uid")});
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details});
    assert_eq!(answer, status);

    let classes = "/apis/storage.k8s.io/v1/storageclasses";
    for (collection, object) in [
        ("/api/v1/namespaces/default/services", json!({"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}})),
        ("/api/v1/namespaces/default/serviceaccounts", json!({"metadata": {"name": "a"}})),
        ("/api/v1/namespaces/default/resourcequotas", json!({"metadata": {"name": "a"}})),
        (classes, json!({"metadata": {"name": "a"}, "provisioner": "a.b/c"})),
    ] {
        let made = scene.create(collection, object).await;
        let answer = scene.done("DELETE", &format!("{collection}/a"), Value::Null).await;
        assert_eq!((&answer["kind"], at(&answer, "uid")), (&made["kind"], at(&made, "uid")));
        assert!(at(&answer, "deletionTimestamp").is_null());
    }
}

#[tokio::test(start_paused = true)]
async fn a_foreign_finalizer_holds_the_object() {
    let scene = Fixture::new();
    let made = scene.config("a", json!({"finalizers": ["a.b/c"]})).await;
    let path = format!("{MAPS}/a");
    let marked = scene.done("DELETE", &path, Value::Null).await;
    assert_eq!(at(&marked, "deletionTimestamp"), "2026-01-01T00:00:00Z");
    assert_eq!(at(&marked, "deletionGracePeriodSeconds"), 0);
    let again = scene.done("DELETE", &path, Value::Null).await;
    assert_eq!(again, marked, "a second deletion changes nothing");

    let released = scene.done("PATCH", &path, json!({"metadata": {"finalizers": null, "labels": {"z": "z"}}})).await;
    assert_eq!(at(&released, "resourceVersion"), at(&marked, "resourceVersion"), "there is no newer version of it");
    assert_eq!(released["metadata"]["labels"]["z"], "z");
    assert!(scene.is_gone(&path).await);
    assert_eq!(scene.events(MAPS, &made, 2).await, ["MODIFIED a", "DELETED a"]);
}

#[tokio::test(start_paused = true)]
async fn each_deletion_says_anew_what_becomes_of_the_dependents() {
    let scene = Fixture::new();
    scene.config("a", json!({"finalizers": ["a.b/c"]})).await;
    for (policy, finalizers) in
        [("Orphan", json!(["a.b/c", "orphan"])), ("Background", json!(["a.b/c"])), ("Background", json!(["a.b/c"]))]
    {
        let answer = scene.done("DELETE", &format!("{MAPS}/a?propagationPolicy={policy}"), Value::Null).await;
        assert_eq!(at(&answer, "finalizers"), finalizers);
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_leaves_its_pods_behind_unless_told_otherwise() {
    let scene = Fixture::new();
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "b"}]}});
    scene.create(jobs, json!({"metadata": {"name": "a"}, "spec": {"template": template}})).await;
    let answer = scene.done("DELETE", &format!("{jobs}/a"), Value::Null).await;
    assert_eq!(at(&answer, "finalizers"), json!(["orphan"]));
    scene.until_gone(&format!("{jobs}/a")).await;
}

#[tokio::test(start_paused = true)]
async fn preconditions_and_options_are_checked() {
    let scene = Fixture::new();
    let made = scene.config("a", json!({})).await;
    let uid = at(&made, "uid");
    let path = format!("{MAPS}/a");
    let (code, refused) = scene.send("DELETE", &path, json!({"preconditions": {"uid": "zzz"}})).await;
    let why = format!(
        "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (zzz) does not match the UID in record ({}). The object might have been deleted and then recreated",
        uid.as_str().unwrap()
    );
    assert_eq!((code, refused["message"].as_str().unwrap()), (409, why.as_str()));
    assert_eq!(refused["details"], json!({"name": "a", "kind": "ConfigMap"}));
    let (code, refused) = scene.send("DELETE", &path, json!({"preconditions": {"resourceVersion": "1"}})).await;
    assert_eq!(code, 409);
    assert!(refused["message"].as_str().unwrap().ends_with("The object might have been modified"), "{refused}");
    let why = "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"Foo\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"";
    let (code, refused) = scene.send("DELETE", &path, json!({"propagationPolicy": "Foo"})).await;
    assert_eq!((code, refused["message"].as_str().unwrap()), (422, why));
    let (code, refused) = scene.send("DELETE", &format!("{path}?propagationPolicy=Foo"), Value::Null).await;
    assert_eq!((code, refused["message"].as_str().unwrap()), (422, why));
    let both = json!({"propagationPolicy": "Orphan", "orphanDependents": true});
    assert_eq!(scene.send("DELETE", &path, both).await.0, 422);
    assert_eq!(scene.send("DELETE", &path, json!({"kind": "ConfigMap", "apiVersion": "v1"})).await.0, 400);
    assert_eq!(scene.send("DELETE", &path, json!({"dryRun": ["x"]})).await.0, 422);
    scene.done("DELETE", &path, json!({"dryRun": ["All"]})).await;
    assert!(!scene.is_gone(&path).await);
    scene.done("DELETE", &path, json!({"preconditions": {"uid": uid}})).await;
    assert!(scene.is_gone(&path).await);
}

#[tokio::test(start_paused = true)]
async fn a_bound_pod_gets_its_time_of_grace() {
    let scene = Fixture::new();
    let made = scene.create(PODS, pod("a", Some("nope"), &[])).await;
    let path = format!("{PODS}/a");
    let marked = scene.done("DELETE", &path, Value::Null).await;
    assert_eq!(
        (at(&marked, "deletionTimestamp"), at(&marked, "deletionGracePeriodSeconds")),
        ("2026-01-01T00:00:30Z".into(), 30.into())
    );
    let shorter = scene.done("DELETE", &format!("{path}?gracePeriodSeconds=5"), Value::Null).await;
    assert_eq!(
        (at(&shorter, "deletionTimestamp"), at(&shorter, "deletionGracePeriodSeconds")),
        ("2026-01-01T00:00:05Z".into(), 5.into())
    );
    assert_eq!(at(&shorter, "generation"), at(&marked, "generation"));
    let longer = scene.done("DELETE", &format!("{path}?gracePeriodSeconds=50"), Value::Null).await;
    assert_eq!(longer, shorter);
    let least = scene.done("DELETE", &format!("{path}?gracePeriodSeconds=-5"), Value::Null).await;
    assert_eq!(at(&least, "deletionGracePeriodSeconds"), 1);
    let tried = scene.done("DELETE", &format!("{path}?gracePeriodSeconds=0&dryRun=All"), Value::Null).await;
    assert_eq!(at(&tried, "deletionGracePeriodSeconds"), 0);
    let gone = scene.done("DELETE", &format!("{path}?gracePeriodSeconds=0"), Value::Null).await;
    assert_eq!((&gone["kind"], at(&gone, "deletionGracePeriodSeconds")), (&"Pod".into(), 0.into()));
    assert!(scene.is_gone(&path).await);
    let told = scene.events(PODS, &made, 5).await;
    assert_eq!(told, ["MODIFIED a", "MODIFIED a", "MODIFIED a", "MODIFIED a", "DELETED a"]);
}

#[tokio::test(start_paused = true)]
async fn an_unbound_pod_goes_at_once_but_for_finalizers() {
    let scene = Fixture::new();
    let made = scene.create(PODS, pod("a", None, &[])).await;
    let gone = scene.done("DELETE", &format!("{PODS}/a"), Value::Null).await;
    assert_eq!((&gone["kind"], at(&gone, "deletionGracePeriodSeconds")), (&"Pod".into(), 0.into()));
    assert_eq!(scene.events(PODS, &made, 2).await, ["MODIFIED a", "DELETED a"]);

    scene.create(PODS, pod("b", None, &["a.b/c"])).await;
    let path = format!("{PODS}/b");
    let marked = scene.done("DELETE", &path, Value::Null).await;
    assert_eq!(at(&marked, "finalizers"), json!(["a.b/c"]));
    assert_eq!(scene.done("DELETE", &path, Value::Null).await, marked);
    scene.done("PATCH", &path, json!({"metadata": {"finalizers": null}})).await;
    assert!(scene.is_gone(&path).await);
}

#[tokio::test(start_paused = true)]
async fn a_pod_without_finalizers_still_waits_for_its_kubelet() {
    let scene = Fixture::new();
    scene.create(PODS, pod("a", Some("nope"), &["a.b/c"])).await;
    let path = format!("{PODS}/a");
    scene.done("DELETE", &path, Value::Null).await;
    scene.done("PATCH", &path, json!({"metadata": {"finalizers": null}})).await;
    assert_eq!(at(&scene.get(&path).await, "deletionGracePeriodSeconds"), 30);
    scene.done("DELETE", &format!("{path}?gracePeriodSeconds=0"), Value::Null).await;
    assert!(scene.is_gone(&path).await);
}

#[tokio::test(start_paused = true)]
async fn a_collection_is_deleted_and_shown_as_it_was() {
    let scene = Fixture::new();
    scene.config("a", json!({"labels": {"app": "x"}})).await;
    scene.config("b", json!({"labels": {"app": "x"}, "finalizers": ["a.b/c"]})).await;
    scene.config("c", json!({})).await;
    let answer = scene.done("DELETE", &format!("{MAPS}?labelSelector=app%3Dx"), Value::Null).await;
    assert_eq!(answer["kind"], "ConfigMapList");
    let shown: Vec<_> = answer["items"].as_array().unwrap().iter().map(|item| at(item, "name")).collect();
    assert_eq!(shown, ["a", "b"]);
    assert!(at(&answer["items"][1], "deletionTimestamp").is_null(), "as it was before");
    assert!(scene.is_gone(&format!("{MAPS}/a")).await);
    assert!(!at(&scene.get(&format!("{MAPS}/b")).await, "deletionTimestamp").is_null());
    assert!(at(&scene.get(&format!("{MAPS}/c")).await, "deletionTimestamp").is_null());
}

const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";

/// Creates the claim `data` and a Pod that mounts it, on a node or unscheduled.
async fn create_pod_with_claim(scene: &Fixture, node: Option<&str>) {
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    scene.create(CLAIMS, json!({"metadata": {"name": "data"}, "spec": spec})).await;
    let mut pod = pod("a", node, &[]);
    pod["spec"]["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
    scene.create(PODS, pod).await;
}

#[tokio::test(start_paused = true)]
async fn a_claim_is_used_by_a_scheduled_pod_until_the_pod_is_deleted() {
    let scene = Fixture::new();
    create_pod_with_claim(&scene, Some("n")).await;
    let claim = format!("{CLAIMS}/data");
    scene.done("DELETE", &claim, Value::Null).await;
    scene.done("PATCH", &format!("{PODS}/a/status"), json!({"status": {"phase": "Succeeded"}})).await;
    // A change that makes the controller look at the terminating claims of the namespace again.
    scene.create(PODS, pod("b", None, &[])).await;
    scene.done("DELETE", &format!("{PODS}/b"), Value::Null).await;
    wait::idle().await;
    assert!(!scene.is_gone(&claim).await, "a Pod that has ended is still there, and its volume may be mounted");

    scene.done("DELETE", &format!("{PODS}/a?gracePeriodSeconds=0"), Value::Null).await;
    wait::idle().await;
    assert!(scene.is_gone(&claim).await);
}

#[tokio::test(start_paused = true)]
async fn a_claim_is_not_used_by_a_pod_without_a_node() {
    let scene = Fixture::new();
    create_pod_with_claim(&scene, None).await;
    let claim = format!("{CLAIMS}/data");
    scene.done("DELETE", &claim, Value::Null).await;
    wait::idle().await;
    assert!(scene.is_gone(&claim).await);
}

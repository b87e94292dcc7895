//! Tests of the subresources of Pods.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::fixture::Fixture;
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";

async fn pod(scene: &Fixture, name: &str, finalizers: &[&str], containers: &[&str]) -> Value {
    let containers: Vec<_> = containers.iter().map(|name| json!({"name": name, "image": "b"})).collect();
    scene
        .create(PODS, json!({"metadata": {"name": name, "finalizers": finalizers}, "spec": {"containers": containers}}))
        .await
}

async fn bind(scene: &Fixture, pod: &str, kind: &str, node: &str) -> (u16, Value) {
    let binding = json!({"metadata": {"name": pod}, "target": {"kind": kind, "name": node}});
    scene.send("POST", &format!("{PODS}/{pod}/binding"), binding).await
}

#[tokio::test(start_paused = true)]
async fn a_pod_is_bound_once() {
    let scene = Fixture::new();
    pod(&scene, "a", &["a.b/c"], &["a"]).await;
    let refused = async |kind: &str, node: &str| {
        let (code, refused) = bind(&scene, "a", kind, node).await;
        (code, refused["message"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(refused("Node", "").await, (500, "target.name: Required value".into()));
    let why = "target.kind: Unsupported value: \"Foo\": supported values: \"Node\", \"<empty>\"";
    assert_eq!(refused("Foo", "x").await, (500, why.into()));
    let done = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    assert_eq!(bind(&scene, "a", "Node", "n1").await, (201, done));
    let why = "Operation cannot be fulfilled on pods/binding \"a\": pod a is already assigned to node \"n1\"";
    assert_eq!(refused("Node", "n2").await, (409, why.into()));
    assert_eq!(bind(&scene, "nope", "Node", "n").await.0, 404);
    let bound = scene.get(&format!("{PODS}/a")).await;
    assert_eq!((&bound["spec"]["nodeName"], &bound["metadata"]["generation"]), (&json!("n1"), &json!(1)));
    let condition = json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": "2026-01-01T00:00:00Z"});
    assert_eq!(bound["status"]["conditions"], json!([condition]));
    scene.done("DELETE", &format!("{PODS}/a"), Value::Null).await;
    let why =
        "Operation cannot be fulfilled on pods/binding \"a\": pod a is being deleted, cannot be assigned to a host";
    assert_eq!(refused("Node", "n1").await, (409, why.into()));
    let other = json!({"metadata": {"name": "other"}, "target": {"name": "n"}});
    let (code, refused) = scene.send("POST", &format!("{PODS}/a/binding"), other).await;
    assert_eq!((code, &refused["message"]), (400, &json!("name in URL does not match name in Binding object")));
}

#[tokio::test(start_paused = true)]
async fn a_log_is_that_of_one_container() {
    let scene = Fixture::new();
    pod(&scene, "a", &[], &["a", "c"]).await;
    let (code, refused) = scene.send("GET", &format!("{PODS}/a/log"), Value::Null).await;
    let why = "a container name must be specified for pod a, choose one of: [a c]";
    assert_eq!((code, &refused["message"]), (400, &json!(why)));
    let (code, refused) = scene.send("GET", &format!("{PODS}/a/log?container=z"), Value::Null).await;
    assert_eq!((code, &refused["message"]), (400, &json!("container z is not valid for pod a")));
    assert_eq!(scene.send("GET", &format!("{PODS}/nope/log"), Value::Null).await.0, 404);
    bind(&scene, "a", "Node", "n").await;
    let log = scene.get(&format!("{PODS}/a/log?container=a")).await;
    assert_eq!(log, "a of default/a: containers do not run here\n");
}

#[tokio::test(start_paused = true)]
async fn no_way_leads_into_a_container() {
    let scene = Fixture::new();
    pod(&scene, "a", &[], &["a"]).await;
    for way in ["exec?command=x", "attach", "portforward", "proxy"] {
        let (code, refused) = scene.send("POST", &format!("{PODS}/a/{way}"), Value::Null).await;
        assert_eq!((code, &refused["kind"]), (501, &json!("Status")), "{way}: {refused}");
        assert_eq!(scene.send("POST", &format!("{PODS}/nope/{way}"), Value::Null).await.0, 404, "{way}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_part_is_written_alone() {
    let scene = Fixture::new();
    let mut new = pod(&scene, "a", &[], &["a"]).await;
    new["spec"]["ephemeralContainers"] = json!([{"name": "d", "image": "dbg"}]);
    new["spec"]["containers"][0]["image"] = "q".into();
    new["metadata"]["labels"] = json!({"z": "z"});
    let written = scene.done("PUT", &format!("{PODS}/a/ephemeralcontainers"), new).await;
    assert_eq!(written["spec"]["ephemeralContainers"][0]["image"], "dbg");
    assert_eq!(written["spec"]["containers"][0]["image"], "b");
    assert!(written["metadata"]["labels"].is_null());
    assert_eq!(written["metadata"]["generation"], 2);
}

#[tokio::test(start_paused = true)]
async fn an_evicted_pod_says_why_it_goes() {
    let scene = Fixture::new();
    pod(&scene, "a", &["a.b/c"], &["a"]).await;
    let (code, _) = scene.send("POST", &format!("{PODS}/a/eviction"), json!({"metadata": {"name": "a"}})).await;
    assert_eq!(code, 201);
    let pod = scene.get(&format!("{PODS}/a")).await;
    assert_eq!(
        pod["status"]["conditions"],
        json!([{"type": "DisruptionTarget", "status": "True", "lastProbeTime": null, "lastTransitionTime": "2026-01-01T00:00:00Z",
                "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting"}])
    );
    assert!(!pod["metadata"]["deletionTimestamp"].is_null());
    let (code, refused) = scene.send("POST", &format!("{PODS}/a/eviction"), json!({"metadata": {"name": "b"}})).await;
    assert_eq!((code, &refused["message"]), (400, &json!("name in URL does not match name in Eviction object")));
    assert_eq!(
        scene.send("POST", &format!("{PODS}/nope/eviction"), json!({"metadata": {"name": "nope"}})).await.0,
        404
    );
}

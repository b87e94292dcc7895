//! Tests of lists, watches, tables and discovery against the responses of kube-apiserver 1.36.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::StreamExt as _;
use http::Request;
use http_body_util::BodyExt as _;
use opgen_sandbox::{Record, Sandbox, User, fault::ObservedEvent};
use serde_json::{Value, json};

const MAPS: &str = "/api/v1/namespaces/reading/configmaps";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// A sandbox with a namespace that only the test writes to.
async fn sandbox() -> Sandbox {
    let sandbox = Sandbox::builder().seed(3).start();
    post(&sandbox, "/api/v1/namespaces", json!({"metadata": {"name": "reading"}})).await;
    sandbox
}

async fn send(sandbox: &Sandbox, path: &str, accept: &str) -> (u16, Bytes) {
    let request = Request::get(path).header("accept", accept).body(Bytes::new()).unwrap();
    let (head, body) = sandbox.call(User::admin("reader"), request).await.into_parts();
    (head.status.as_u16(), body.collect().await.unwrap().to_bytes())
}

async fn get(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_slice(&send(sandbox, path, "application/json").await.1).unwrap()
}

async fn post(sandbox: &Sandbox, path: &str, object: Value) -> Value {
    let request =
        Request::post(path).header("content-type", "application/json").body(object.to_string().into()).unwrap();
    let text = sandbox.call(User::admin("writer"), request).await.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&text).unwrap()
}

async fn maps(sandbox: &Sandbox, names: &[&str]) -> Vec<String> {
    let mut versions = Vec::new();
    for name in names {
        let made = post(sandbox, MAPS, json!({"metadata": {"name": name, "labels": {"name": name}}})).await;
        versions.push(made["metadata"]["resourceVersion"].as_str().unwrap().to_owned());
    }
    versions
}

/// Those of a test; each namespace has one of its own, too.
fn names(list: &Value) -> Vec<&str> {
    let names = list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap());
    names.filter(|name| *name != "kube-root-ca.crt").collect()
}

#[tokio::test(start_paused = true)]
async fn a_list_goes_on_as_it_began() {
    let sandbox = sandbox().await;
    maps(&sandbox, &["a", "b", "c"]).await;
    let first = get(&sandbox, &format!("{MAPS}?limit=2")).await;
    assert_eq!(names(&first), ["a", "b"]);
    let left = first["metadata"]["remainingItemCount"].as_u64().unwrap();
    maps(&sandbox, &["bb", "d"]).await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    let rest = get(&sandbox, &format!("{MAPS}?continue={token}")).await;
    assert_eq!(names(&rest), ["c"]);
    assert_eq!(rest["items"].as_array().unwrap().len() as u64, left);
    assert_eq!(rest["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);

    sandbox.compact();
    let old = get(&sandbox, &format!("{MAPS}?continue={token}")).await;
    assert_eq!((&old["code"], &old["reason"]), (&json!(410), &json!("Expired")));
    let regardless = old["metadata"]["continue"].as_str().unwrap();
    let rest = get(&sandbox, &format!("{MAPS}?continue={regardless}")).await;
    assert_eq!(names(&rest), ["bb", "c", "d"]);
}

#[tokio::test(start_paused = true)]
async fn versions_say_how_new_a_list_is() {
    let sandbox = sandbox().await;
    let versions = maps(&sandbox, &["a", "b", "c"]).await;
    let second = &versions[1];
    let at = |more: String| {
        let sandbox = sandbox.clone();
        async move { names(&get(&sandbox, &format!("{MAPS}?{more}")).await).join(" ") }
    };
    assert_eq!(at(format!("resourceVersion={second}")).await, "a b c");
    assert_eq!(at(format!("resourceVersion={second}&resourceVersionMatch=NotOlderThan")).await, "a b c");
    assert_eq!(at(format!("resourceVersion={second}&resourceVersionMatch=Exact")).await, "a b");
    assert_eq!(at(format!("resourceVersion={second}&limit=500")).await, "a b");
    assert_eq!(at("resourceVersion=0&limit=1".to_owned()).await, "a b c");
    let far = get(&sandbox, &format!("{MAPS}?resourceVersion=99999999")).await;
    assert_eq!((&far["code"], &far["reason"]), (&json!(504), &json!("Timeout")));
    assert_eq!(far["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
    assert_eq!(far["details"]["retryAfterSeconds"], 1);
}

#[tokio::test(start_paused = true)]
async fn options_that_contradict_each_other_are_refused() {
    let sandbox = sandbox().await;
    let cases = [
        (
            "resourceVersionMatch=Exact",
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            "sendInitialEvents=true",
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
        ),
        (
            "watch=1&sendInitialEvents=true",
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            "watch=1&resourceVersion=abc",
            500,
            "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax",
        ),
        (
            "resourceVersion=a",
            400,
            "invalid resource version: resourceVersion: Invalid value: \"a\": strconv.ParseUint: parsing \"a\": invalid syntax",
        ),
        (
            "continue=abc",
            400,
            "invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value",
        ),
        (
            "fieldSelector=data%3Da",
            400,
            "\"data\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
        ),
        ("fieldSelector=a", 400, "invalid selector: 'a'; can't understand 'a'"),
        ("limit=a", 400, "strconv.ParseInt: parsing \"a\": invalid syntax"),
    ];
    for (query, code, message) in cases {
        let refused = get(&sandbox, &format!("{MAPS}?{query}")).await;
        assert_eq!((&refused["code"], &refused["message"]), (&json!(code), &json!(message)), "{query}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_says_where_it_ends_and_a_watch_marks_its_way() {
    let sandbox = sandbox().await;
    maps(&sandbox, &["a", "b"]).await;
    let query = "watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=100&labelSelector=name";
    let (code, text) = send(&sandbox, &format!("{MAPS}?{query}"), "application/json").await;
    assert_eq!(code, 200);
    let events: Vec<Value> = text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let told: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    // After a minute, and before the end.
    assert_eq!(told, ["ADDED", "ADDED", "BOOKMARK", "BOOKMARK", "BOOKMARK"]);
    assert_eq!(events[2]["object"]["metadata"]["annotations"], json!({"k8s.io/initial-events-end": "true"}));
    assert_eq!(events[3]["object"]["metadata"].as_object().unwrap().keys().collect::<Vec<_>>(), ["resourceVersion"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_a_forgotten_version_is_told_so() {
    let sandbox = sandbox().await;
    let versions = maps(&sandbox, &["a", "b"]).await;
    sandbox.compact();
    let request = Request::get(format!("{MAPS}?watch=1&resourceVersion={}", versions[0])).body(Bytes::new()).unwrap();
    let mut events = sandbox.call(User::admin("reader"), request).await.into_body().into_data_stream();
    let event: Value = serde_json::from_slice(&events.next().await.unwrap().unwrap()).unwrap();
    assert_eq!(
        (&event["type"], &event["object"]["code"], &event["object"]["reason"]),
        (&json!("ERROR"), &json!(410), &json!("Expired"))
    );
    assert!(events.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn objects_are_shown_as_tables() {
    let sandbox = sandbox().await;
    let service = json!({"metadata": {"name": "web"}, "spec": {"type": "ExternalName", "externalName": "a.b", "ports": [{"port": 80, "protocol": "TCP"}], "selector": {"app": "web"}}});
    post(&sandbox, "/api/v1/namespaces/reading/services", service).await;
    tokio::time::advance(std::time::Duration::from_secs(125)).await;
    let (_, text) = send(&sandbox, "/api/v1/namespaces/reading/services?includeObject=None", TABLE).await;
    let table: Value = serde_json::from_slice(&text).unwrap();
    let columns: Vec<_> =
        table["columnDefinitions"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
    assert_eq!(columns, ["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector"]);
    assert_eq!(
        table["rows"],
        json!([{"cells": ["web", "ExternalName", "<none>", "a.b", "80/TCP", "2m5s", "app=web"], "object": null}])
    );
    let (code, _) = send(&sandbox, "/api/v1/namespaces/reading/services?includeObject=All", TABLE).await;
    assert_eq!(code, 400);
}

#[tokio::test(start_paused = true)]
async fn what_is_served_is_said() {
    let sandbox = sandbox().await;
    let apps = get(&sandbox, "/apis/apps/v1").await;
    let deployments = apps["resources"].as_array().unwrap().iter().find(|row| row["name"] == "deployments").unwrap();
    assert_eq!(deployments["storageVersionHash"], "8aSe+NMegvE=");
    assert_eq!(get(&sandbox, "/apis/autoscaling").await["preferredVersion"]["version"], "v2");
    assert_eq!(get(&sandbox, "/version").await["gitVersion"], "v1.36.3");
    let index = get(&sandbox, "/openapi/v3").await;
    let address = index["paths"]["apis/apps/v1"]["serverRelativeURL"].as_str().unwrap();
    let document = get(&sandbox, address).await;
    let schema = &document["components"]["schemas"]["io.k8s.api.apps.v1.Deployment"];
    assert_eq!(
        schema["properties"]["spec"]["allOf"][0]["$ref"],
        "#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec"
    );
    assert!(document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"].is_object());
    let deployment = &get(&sandbox, "/openapi/v2").await["definitions"]["io.k8s.api.apps.v1.Deployment"];
    assert_eq!(deployment["properties"]["spec"]["$ref"], "#/definitions/io.k8s.api.apps.v1.DeploymentSpec");
    let protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    let (code, old) = send(&sandbox, "/openapi/v2", protobuf).await;
    assert_eq!((code, &old[..5]), (200, &b"\x0a\x032.0"[..]));
    assert_eq!(send(&sandbox, "/openapi/v2", "text/html").await.0, 406);
    let v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let all: Value = serde_json::from_slice(&send(&sandbox, "/apis", v2).await.1).unwrap();
    assert_eq!((&all["kind"], &all["items"][1]["metadata"]["name"]), (&json!("APIGroupDiscoveryList"), &json!("apps")));
    for (path, code, text) in
        [("/nope", 404, "404 page not found\n"), ("/readyz/nope", 404, "404 page not found\n"), ("/readyz", 200, "ok")]
    {
        assert_eq!(send(&sandbox, path, "*/*").await, (code, Bytes::from(text)), "{path}");
    }
    assert_eq!(get(&sandbox, "/apis/apps/v9").await["reason"], "NotFound");
}

#[tokio::test]
async fn who_listens_is_told_what_a_watch_tells() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = told.clone();
    let listen = move |watch: &Record, event: ObservedEvent| {
        listener.lock().unwrap().push(format!("{} {}: {event}", watch.user, watch.resource));
    };
    let sandbox = Sandbox::builder().events(listen).start();
    post(&sandbox, "/api/v1/namespaces", json!({"metadata": {"name": "reading"}})).await;
    let version = maps(&sandbox, &["a"]).await.remove(0);
    assert!(told.lock().unwrap().is_empty(), "a list is no watch");
    let request = Request::get(format!("{MAPS}?watch=true&fieldSelector=metadata.name=a")).body(Bytes::new()).unwrap();
    let mut body = sandbox.call(User::admin("reader"), request).await.into_body();
    let line = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(line.starts_with(b"{\"type\":\"ADDED\""), "{line:?}");
    assert_eq!(*told.lock().unwrap(), [format!("reader configmaps: event 0: ADDED ConfigMap reading/a at {version}")]);
}

//! Tests of patches and field ownership, step by step against the responses of kube-apiserver 1.36.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt as _;
use opgen_sandbox::{Sandbox, User};
use serde_json::{Map, Value, json};

/// What was asked of the real server, and what it said.
#[derive(serde::Deserialize)]
struct Step {
    says: String,
    method: String,
    path: String,
    #[serde(rename = "type", default)]
    media: Option<String>,
    #[serde(default = "test_agent")]
    agent: String,
    #[serde(default)]
    body: Value,
    /// A body that is no JSON.
    #[serde(default)]
    text: Option<String>,
    code: u16,
    answer: Value,
    #[serde(default)]
    warnings: Vec<String>,
}

fn test_agent() -> String {
    "b-test/1".into()
}

impl Step {
    fn get(path: &str) -> Self {
        Self {
            says: String::new(),
            method: "GET".into(),
            path: path.into(),
            media: None,
            agent: test_agent(),
            body: Value::Null,
            text: None,
            code: 200,
            answer: Value::Null,
            warnings: Vec::new(),
        }
    }
}

/// What changes from run to run, or is no part of what is compared.
const APART: [&str; 7] =
    ["uid", "resourceVersion", "creationTimestamp", "generation", "selfLink", "clusterIP", "clusterIPs"];

async fn send(sandbox: &Sandbox, step: &Step) -> (u16, Value, Vec<String>) {
    let text =
        step.text.clone().unwrap_or_else(|| if step.body.is_null() { String::new() } else { step.body.to_string() });
    let request = Request::builder()
        .method(step.method.as_str())
        .uri(&step.path)
        .header("content-type", step.media.as_deref().unwrap_or("application/json"))
        .header("user-agent", &step.agent)
        .body(Bytes::from(text))
        .unwrap();
    let response = sandbox.call(User::admin("admin"), request).await;
    let (head, body) = response.into_parts();
    let warnings = head.headers.get_all("warning").iter().map(|warning| warning.to_str().unwrap().to_owned()).collect();
    let body = body.collect().await.unwrap().to_bytes();
    (head.status.as_u16(), serde_json::from_slice(&body).unwrap(), warnings)
}

/// An answer without what changes from run to run: managers by who they are, causes in one order.
fn comparable(mut answer: Value, seen: &Value) -> Value {
    if answer["kind"] == "Status" {
        let mut said = Map::new();
        for key in ["reason", "message", "details"] {
            if let Some(value) = answer.get_mut(key).map(Value::take) {
                said.insert(key.into(), value);
            }
        }
        if let Some(causes) = said.get_mut("details").and_then(|details| details["causes"].as_array_mut()) {
            causes.sort_by_key(|cause| [cause["field"].to_string(), cause["message"].to_string()]);
        }
        // What quotes the whole object is compared by its reason and fields.
        if let Some(fields) = seen.get("field") {
            let causes = said["details"]["causes"].as_array().unwrap();
            let own: Vec<_> = causes.iter().map(|cause| cause["field"].clone()).collect();
            assert_eq!(&Value::from(own), fields);
            return json!({"reason": said["reason"], "field": fields});
        }
        return Value::Object(said);
    }
    if seen.get("managers").is_some() {
        return json!({"managers": managers(&answer["metadata"]["managedFields"])});
    }
    let object = answer.as_object_mut().unwrap();
    ["apiVersion", "kind", "status"].iter().for_each(|key| drop(object.remove(*key)));
    stable(answer)
}

fn stable(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(key, _)| !APART.contains(&key.as_str()));
            let field = |(key, value): (String, Value)| {
                let value = if key == "managedFields" { managers(&value) } else { stable(value) };
                (key, value)
            };
            Value::Object(kept.map(field).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(stable).collect()),
        scalar => scalar,
    }
}

fn managers(entries: &Value) -> Value {
    let entry = |entry: &Value| {
        let word = |key: &str| entry[key].as_str().unwrap_or_default();
        let who = [word("manager"), word("operation"), word("apiVersion"), word("subresource")].join("|");
        (who, json!({"fields": entry["fieldsV1"], "timed": entry.get("time").is_some()}))
    };
    Value::Object(entries.as_array().unwrap().iter().map(entry).collect())
}

/// Takes the steps, and compares each answer with what the real server said.
async fn follow(sandbox: &Sandbox, seen: &str) {
    let steps: Vec<Step> = serde_json::from_str(seen).unwrap();
    assert!(!steps.is_empty());
    let mut wrong = Vec::new();
    for step in &steps {
        // Who wrote before whom is told by seconds.
        tokio::time::advance(Duration::from_secs(1)).await;
        let (code, answer, warnings) = send(sandbox, step).await;
        if step.path.ends_with("/customresourcedefinitions") {
            assert_eq!(code, 201, "{answer}");
            established(sandbox, &step.path, answer["metadata"]["name"].as_str().unwrap()).await;
            continue;
        }
        let mut expected = step.answer.clone();
        if let Some(causes) = expected.get_mut("details").and_then(|details| details["causes"].as_array_mut()) {
            causes.sort_by_key(|cause| [cause["field"].to_string(), cause["message"].to_string()]);
        }
        if let Some(object) = expected.as_object_mut() {
            object.remove("status");
        }
        if code != step.code {
            wrong.push(format!("{}: {code} instead of {}: {answer}", step.says, step.code));
            continue;
        }
        let answer = comparable(answer, &step.answer);
        if (&answer, &warnings) != (&expected, &step.warnings) {
            wrong.push(format!("{}:\n  {answer} {warnings:?}\n  {expected} {:?}", step.says, step.warnings));
        }
    }
    assert!(wrong.is_empty(), "{} of {} steps differ:\n{}", wrong.len(), steps.len(), wrong.join("\n"));
}

/// Waits until a custom kind is served.
async fn established(sandbox: &Sandbox, path: &str, name: &str) {
    let step = Step::get(&format!("{path}/{name}"));
    let look = async || {
        let (_, crd, _) = send(sandbox, &step).await;
        crate::client::has(&crd, "Established").then_some(())
    };
    crate::wait::until(name, look).await;
}

async fn sandbox() -> Sandbox {
    let sandbox = Sandbox::builder().seed(1).start();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}});
    let step = Step { method: "POST".into(), body: namespace, ..Step::get("/api/v1/namespaces") };
    assert_eq!(send(&sandbox, &step).await.0, 201);
    sandbox
}

#[tokio::test(start_paused = true)]
async fn appliers_own_conflict_and_give_up_as_on_the_real_server() {
    follow(&sandbox().await, include_str!("seen/patch/apply.json")).await;
}

#[tokio::test(start_paused = true)]
async fn merge_json_and_strategic_patches_do_what_they_do_on_the_real_server() {
    follow(&sandbox().await, include_str!("seen/patch/patches.json")).await;
}

#[tokio::test(start_paused = true)]
async fn items_of_merged_lists_come_in_the_real_servers_order() {
    follow(&sandbox().await, include_str!("seen/patch/order.json")).await;
}

#[tokio::test(start_paused = true)]
async fn custom_resources_their_status_versions_and_scales_are_patched_as_on_the_real_server() {
    follow(&sandbox().await, include_str!("seen/patch/custom.json")).await;
}

#[tokio::test(start_paused = true)]
async fn who_creates_a_built_in_object_owns_its_defaults_as_on_the_real_server() {
    follow(&sandbox().await, include_str!("seen/patch/built_in.json")).await;
}

#[tokio::test(start_paused = true)]
async fn a_deployment_is_applied_by_several_patched_and_taken_over_from_kubectl() {
    follow(&sandbox().await, include_str!("seen/patch/deployments.json")).await;
}

#[tokio::test(start_paused = true)]
async fn replicas_belong_to_who_scaled() {
    follow(&sandbox().await, include_str!("seen/patch/scale.json")).await;
}

#[tokio::test(start_paused = true)]
async fn owners_named_twice_are_told_and_dropped() {
    follow(&sandbox().await, include_str!("seen/patch/owners.json")).await;
}

#[tokio::test(start_paused = true)]
async fn an_apply_of_bytes_that_are_not_base64_is_refused() {
    let sandbox = Sandbox::builder().seed(1).start();
    let path = "/api/v1/namespaces/default/secrets/s";
    let apply = |text: &str| Step {
        method: "PATCH".into(),
        media: Some("application/apply-patch+yaml".into()),
        body: json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"key": text}}),
        ..Step::get(&format!("{path}?fieldManager=test"))
    };
    for text in ["%%%", "="] {
        let (code, answer, _) = send(&sandbox, &apply(text)).await;
        let message = answer["message"].as_str().unwrap();
        let expected = "failed to convert new object (/s; /v1, Kind=Secret) to proper version: unable to convert \
                        unstructured object to /v1, Kind=Secret: error decoding from json: illegal base64 data";
        assert!(code == 500 && message.starts_with(expected), "{text}: {code} {message}");
        assert_eq!(send(&sandbox, &Step::get(path)).await.0, 404);
    }
    assert_eq!(send(&sandbox, &apply("aGk=")).await.0, 201);
}

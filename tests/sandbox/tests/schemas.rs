//! Tests of pruning, defaulting and validation of custom resources. The expected responses are those of kube-apiserver 1.36, recorded in
//! the folder `seen`.
#![allow(clippy::unwrap_used, clippy::panic, dead_code)]

use crate::client::{causes, define, sandbox, send};
use opgen_sandbox::Sandbox;
use serde_json::{Value, json};

/// What of an answer is the same each time.
fn shown(code: u16, answer: &Value) -> Value {
    if code >= 400 {
        let mut causes = causes(answer);
        causes.sort();
        return if causes.is_empty() { json!({"message": answer["message"]}) } else { json!({"causes": causes}) };
    }
    let mut shown = answer.clone();
    if let Some(items) = shown.get_mut("items").and_then(Value::as_array_mut) {
        for item in items {
            let metadata = &item["metadata"];
            item["metadata"] = json!({"name": metadata["name"], "generation": metadata["generation"]});
        }
    }
    if let Some(details) = shown.get_mut("details").and_then(Value::as_object_mut) {
        details.remove("uid");
    }
    let metadata = shown.as_object_mut().unwrap().remove("metadata").unwrap_or_default();
    if let Some(generation) = metadata.get("generation") {
        shown["generation"] = generation.clone();
    }
    if shown["kind"] == "CustomResourceDefinition" {
        shown.as_object_mut().unwrap().remove("status");
    }
    shown
}

async fn replay(sandbox: &Sandbox, case: &Value) -> Vec<String> {
    for crd in case["crds"].as_array().into_iter().flatten() {
        define(sandbox, crd).await;
    }
    let mut differences = Vec::new();
    for step in case["steps"].as_array().unwrap() {
        crate::wait::idle().await;
        let (method, path) = (step["method"].as_str().unwrap(), step["path"].as_str().unwrap());
        let (code, answer) = send(sandbox, method.parse().unwrap(), path, &step["body"]).await;
        // What other rooms answer is theirs to compare.
        let is = if step["answer"].is_null() { Value::Null } else { shown(code, &answer) };
        let (is, seen) = (json!([code, is]), json!([step["code"], step["answer"]]));
        if is != seen {
            differences.push(format!("{}: {method} {path} {}\n  seen {seen}\n  is   {is}", case["name"], step["body"]));
        }
    }
    differences
}

async fn replay_all(seen: &str) {
    let cases: Vec<Value> = serde_json::from_str(seen).unwrap();
    let mut differences = Vec::new();
    for case in &cases {
        differences.extend(replay(&sandbox(), case).await);
    }
    assert!(differences.is_empty(), "{} differ\n{}", differences.len(), differences.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn custom_resources_are_what_the_api_server_makes_of_them() {
    replay_all(include_str!("seen/schemas.json")).await;
}

#[tokio::test(start_paused = true)]
async fn scales_selected_fields_and_versions_are_the_api_servers() {
    replay_all(include_str!("seen/kinds.json")).await;
}

#[tokio::test(start_paused = true)]
async fn definitions_are_judged_as_by_the_api_server() {
    replay_all(include_str!("seen/definitions.json")).await;
}

#[tokio::test(start_paused = true)]
async fn objects_follow_a_changed_schema_as_with_the_api_server() {
    replay_all(include_str!("seen/later.json")).await;
}

#[tokio::test(start_paused = true)]
async fn events_and_autoscalers_are_the_same_in_both_their_versions() {
    replay_all(include_str!("seen/two.json")).await;
}

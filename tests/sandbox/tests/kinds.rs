//! Tests of the lifecycle of CustomResourceDefinitions.
#![allow(clippy::unwrap_used, clippy::panic, dead_code)]

use crate::{
    client::{CRDS, define, delete, get, has, patch, post, sandbox, until},
    wait,
};
use serde_json::{Value, json};

const WIDGETS: &str = "/apis/a-schema.io/v1/namespaces/default/widgets";

fn widgets() -> Value {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"size": {"type": "integer", "minimum": 1}}},
    }});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.a-schema.io"},
        "spec": {
            "group": "a-schema.io", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

fn widget(name: &str) -> Value {
    json!({"apiVersion": "a-schema.io/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": 2, "x": 1}})
}

#[tokio::test(start_paused = true)]
async fn a_definition_is_completed_and_established() {
    let sandbox = sandbox();
    let (code, made) = post(&sandbox, CRDS, &widgets()).await;
    assert_eq!(code, 201, "{made}");
    let names = json!({"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"});
    assert_eq!(made["spec"]["names"], names);
    assert_eq!(made["spec"]["conversion"], json!({"strategy": "None"}));
    let status = json!({"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]});
    assert_eq!(made["status"], status);
    assert_eq!(made["metadata"]["generation"], 1);

    let path = format!("{CRDS}/widgets.a-schema.io");
    let crd = until(&sandbox, &path, |_, crd| has(crd, "Established")).await;
    assert_eq!(crd["status"]["acceptedNames"], names);
    let said: Vec<_> =
        crd["status"]["conditions"].as_array().unwrap().iter().map(|own| own["message"].clone()).collect();
    assert_eq!(said, ["no conflicts found", "the initial names have been accepted"]);
    assert_eq!(crd["metadata"]["generation"], 1);
    assert_eq!(crd["metadata"]["finalizers"], Value::Null);

    let (code, made) = post(&sandbox, WIDGETS, &widget("a")).await;
    assert_eq!((code, &made["spec"]), (201, &json!({"size": 2})));
}

#[tokio::test(start_paused = true)]
async fn a_taken_name_is_not_accepted_before_it_is_free() {
    let sandbox = sandbox();
    define(&sandbox, &widgets()).await;
    let mut other = widgets();
    other["metadata"]["name"] = "widgetses.a-schema.io".into();
    other["spec"]["names"] = json!({"plural": "widgetses", "kind": "Widget", "listKind": "WidgetsList"});
    post(&sandbox, CRDS, &other).await;
    let path = format!("{CRDS}/widgetses.a-schema.io");
    let crd = until(&sandbox, &path, |_, crd| crd["status"]["conditions"].is_array()).await;
    let said = |crd: &Value| -> Vec<String> {
        let conditions = crd["status"]["conditions"].as_array().unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        conditions.iter().map(|own| [&own["type"], &own["status"], &own["reason"]].map(text).join(" ")).collect()
    };
    assert_eq!(said(&crd), ["NamesAccepted False KindConflict", "Established False NotAccepted"]);
    assert_eq!(get(&sandbox, "/apis/a-schema.io/v1/widgetses").await.0, 404);
    delete(&sandbox, &format!("{CRDS}/widgets.a-schema.io")).await;
    let crd = until(&sandbox, &path, |_, crd| has(crd, "Established")).await;
    assert_eq!(said(&crd), ["NamesAccepted True NoConflicts", "Established True InitialNamesAccepted"]);
    assert_eq!(get(&sandbox, "/apis/a-schema.io/v1/widgetses").await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn a_definition_goes_after_its_objects() {
    let sandbox = sandbox();
    define(&sandbox, &widgets()).await;
    let mut held = widget("held");
    held["metadata"]["finalizers"] = json!(["a.io/x"]);
    post(&sandbox, WIDGETS, &held).await;
    post(&sandbox, WIDGETS, &widget("free")).await;

    let path = format!("{CRDS}/widgets.a-schema.io");
    let (code, crd) = delete(&sandbox, &path).await;
    assert_eq!(code, 200);
    assert_eq!(crd["metadata"]["finalizers"], json!(["customresourcecleanup.apiextensions.k8s.io"]));
    assert_eq!(crd["metadata"]["deletionGracePeriodSeconds"], Value::Null);
    assert_eq!(crd["metadata"]["generation"], 1);
    assert_eq!(crd["status"]["conditions"][2]["reason"], "InstanceDeletionPending");
    let crd = until(&sandbox, WIDGETS, |_, list| list["items"].as_array().is_some_and(|items| items.len() == 1)).await;
    assert_eq!(crd["items"][0]["metadata"]["name"], "held");
    let crd = get(&sandbox, &path).await.1;
    assert_eq!(crd["status"]["conditions"][2]["reason"], "InstanceDeletionInProgress");

    let (code, refused) = post(&sandbox, WIDGETS, &widget("late")).await;
    let message =
        "widgets.a-schema.io \"late\" is forbidden: create not allowed while custom resource definition is terminating";
    assert_eq!((code, refused["message"].as_str().unwrap()), (403, message));

    patch(&sandbox, &format!("{WIDGETS}/held"), &json!({"metadata": {"finalizers": null}})).await;
    until(&sandbox, &path, |code, _| code == 404).await;
    until(&sandbox, WIDGETS, |code, _| code == 404).await;
    define(&sandbox, &widgets()).await;
    assert_eq!(get(&sandbox, WIDGETS).await.1["items"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_definition_goes_although_no_version_is_served() {
    let sandbox = sandbox();
    define(&sandbox, &widgets()).await;
    post(&sandbox, WIDGETS, &widget("hidden")).await;
    let path = format!("{CRDS}/widgets.a-schema.io");
    let mut versions = widgets()["spec"]["versions"].clone();
    versions[0]["served"] = false.into();
    assert_eq!(patch(&sandbox, &path, &json!({"spec": {"versions": versions}})).await.0, 200);
    until(&sandbox, WIDGETS, |code, _| code == 404).await;

    assert_eq!(delete(&sandbox, &path).await.0, 200);
    until(&sandbox, &path, |code, _| code == 404).await;
    define(&sandbox, &widgets()).await;
    assert_eq!(get(&sandbox, WIDGETS).await.1["items"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn an_object_with_a_finalizer_is_marked_although_no_version_is_served() {
    let sandbox = sandbox();
    define(&sandbox, &widgets()).await;
    let mut held = widget("held");
    held["metadata"]["finalizers"] = json!(["a.io/x"]);
    assert_eq!(post(&sandbox, WIDGETS, &held).await.1["metadata"]["generation"], 1);
    let path = format!("{CRDS}/widgets.a-schema.io");
    let mut versions = widgets()["spec"]["versions"].clone();
    versions[0]["served"] = false.into();
    assert_eq!(patch(&sandbox, &path, &json!({"spec": {"versions": versions}})).await.0, 200);
    until(&sandbox, WIDGETS, |code, _| code == 404).await;

    assert_eq!(delete(&sandbox, &path).await.0, 200);
    let in_progress = |crd: &Value| crd["status"]["conditions"][2]["reason"] == "InstanceDeletionInProgress";
    until(&sandbox, &path, |_, crd| in_progress(crd)).await;
    versions[0]["served"] = true.into();
    assert_eq!(patch(&sandbox, &path, &json!({"spec": {"versions": versions}})).await.0, 200);
    let is_marked = |held: &Value| held["metadata"]["deletionTimestamp"].is_string();
    let marked = until(&sandbox, &format!("{WIDGETS}/held"), |_, held| is_marked(held)).await;
    assert_eq!(marked["metadata"]["generation"], 2);
}

#[tokio::test(start_paused = true)]
async fn who_uses_a_deprecated_version_is_warned() {
    let sandbox = sandbox();
    let mut crd = widgets();
    crd["spec"]["versions"][0]["deprecated"] = true.into();
    define(&sandbox, &crd).await;
    let request = http::Request::get(WIDGETS).body(bytes::Bytes::new()).unwrap();
    let response = sandbox.call(opgen_sandbox::User::admin("admin"), request).await;
    assert_eq!(response.headers()["warning"], "299 - \"a-schema.io/v1 Widget is deprecated\"");
}

#[tokio::test(start_paused = true)]
async fn the_address_of_an_openapi_document_changes_with_the_document() {
    let sandbox = sandbox();
    define(&sandbox, &widgets()).await;
    let address = async || {
        let (_, index) = get(&sandbox, "/openapi/v3").await;
        index["paths"]["apis/a-schema.io/v1"]["serverRelativeURL"].as_str().unwrap().to_owned()
    };
    let before = address().await;
    let definition = format!("{CRDS}/widgets.a-schema.io");
    let mut versions = get(&sandbox, &definition).await.1["spec"]["versions"].clone();
    versions[0]["selectableFields"] = json!([{"jsonPath": ".spec.size"}]);
    let (code, answer) = patch(&sandbox, &definition, &json!({"spec": {"versions": versions}})).await;
    assert_eq!(code, 200, "{answer}");
    wait::until("a document with the selectable field", async || {
        let (_, document) = get(&sandbox, &address().await).await;
        document.to_string().contains("x-kubernetes-selectable-fields").then_some(())
    })
    .await;
    assert_ne!(address().await, before);
}

//! Tests of custom resources in two versions with a conversion webhook.
#![allow(clippy::unwrap_used, clippy::panic, dead_code)]

use crate::{
    client::{define, delete, get, patch, post},
    wait,
};
use bytes::Bytes;
use futures::StreamExt as _;
use http::{Request, Response};
use kube::{
    Api,
    api::{ApiResource, DynamicObject, GroupVersionKind, WatchEvent, WatchParams},
};
use opgen_sandbox::{
    Sandbox,
    fault::{Faults, WebhookFault},
};
use serde_json::{Value, json};

const V1: &str = "/apis/a-schema.io/v1/namespaces/default/people";
const V2: &str = "/apis/a-schema.io/v2/namespaces/default/people";

fn sandbox() -> Sandbox {
    Sandbox::builder().seed(1).webhook("https://people.test/", |request| async move { answer(&request) }).start()
}

/// The first version has two names, the second one of both. Whoever is called `Nobody` can't be converted.
fn answer(request: &Request<Bytes>) -> Response<Bytes> {
    let review: Value = serde_json::from_slice(request.body()).unwrap();
    let objects = review["request"]["objects"].as_array().unwrap();
    let failed = objects.iter().any(|object| object.to_string().contains("Nobody"));
    let desired = review["request"]["desiredAPIVersion"].as_str().unwrap();
    let objects: Vec<Value> = objects.iter().map(|object| converted(object, desired)).collect();
    let result =
        if failed { json!({"status": "Failed", "message": "who is that?"}) } else { json!({"status": "Success"}) };
    let response = json!({"uid": review["request"]["uid"], "convertedObjects": objects, "result": result});
    let review = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response});
    Response::new(Bytes::from(review.to_string()))
}

fn converted(object: &Value, desired: &str) -> Value {
    let mut object = object.clone();
    object["apiVersion"] = desired.into();
    object["metadata"]["labels"] = json!({"converted": "yes"});
    object["metadata"]["finalizers"] = json!(["ignored.io/x"]);
    let spec = object["spec"].take();
    object["spec"] = if desired.ends_with("v2") {
        let name = |key: &str| spec[key].as_str().unwrap_or_default().to_owned();
        json!({"name": format!("{} {}", name("first"), name("last"))})
    } else {
        let (first, last) = spec["name"].as_str().unwrap_or_default().split_once(' ').unwrap_or_default();
        json!({"first": first, "last": last, "pruned": true})
    };
    object
}

fn people() -> Value {
    let version = |name: &str, storage: bool, fields: Value| {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}});
        json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": schema}})
    };
    let text = json!({"type": "string"});
    let conversion = json!({"strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://people.test/convert"},
    }});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "people.a-schema.io"},
        "spec": {
            "group": "a-schema.io", "scope": "Namespaced", "names": {"plural": "people", "kind": "Person"},
            "conversion": conversion,
            "versions": [
                version("v1", true, json!({"first": text, "last": text})),
                version("v2", false, json!({"name": text})),
            ],
        },
    })
}

fn person(version: &str, name: &str, spec: &Value) -> Value {
    let api_version = format!("a-schema.io/{version}");
    json!({"apiVersion": api_version, "kind": "Person", "metadata": {"name": name}, "spec": spec})
}

#[tokio::test(start_paused = true)]
async fn objects_are_read_and_written_in_each_version() {
    let sandbox = sandbox();
    define(&sandbox, &people()).await;
    let (code, made) = post(&sandbox, V2, &person("v2", "ada", &json!({"name": "Ada Lovelace"}))).await;
    assert_eq!((code, &made["spec"]), (201, &json!({"name": "Ada Lovelace"})), "{made}");
    assert_eq!(made["metadata"]["labels"], json!({"converted": "yes"}));
    assert_eq!(made["metadata"]["finalizers"], Value::Null);

    let kept = get(&sandbox, &format!("{V1}/ada")).await.1;
    assert_eq!(kept["spec"], json!({"first": "Ada", "last": "Lovelace"}));
    let (code, changed) = patch(&sandbox, &format!("{V1}/ada"), &json!({"spec": {"last": "King"}})).await;
    assert_eq!((code, &changed["metadata"]["generation"]), (200, &json!(2)));
    let (_, list) = get(&sandbox, V2).await;
    assert_eq!(list["items"][0]["spec"], json!({"name": "Ada King"}));
    assert_eq!(list["items"][0]["apiVersion"], "a-schema.io/v2");

    let (code, changed) = patch(&sandbox, &format!("{V2}/ada"), &json!({"spec": {"name": "Augusta King"}})).await;
    assert_eq!((code, &changed["spec"]), (200, &json!({"name": "Augusta King"})), "{changed}");
    assert_eq!(get(&sandbox, &format!("{V1}/ada")).await.1["spec"], json!({"first": "Augusta", "last": "King"}));
    assert_eq!(delete(&sandbox, &format!("{V2}/ada")).await.0, 200);
    assert_eq!(get(&sandbox, &format!("{V1}/ada")).await.0, 404);
}

#[tokio::test(start_paused = true)]
async fn a_watch_shows_changes_in_its_version() {
    let sandbox = sandbox();
    define(&sandbox, &people()).await;
    post(&sandbox, V1, &person("v1", "ada", &json!({"first": "Ada", "last": "Lovelace"}))).await;
    let kind = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("a-schema.io", "v2", "Person"), "people");
    let api = Api::<DynamicObject>::namespaced_with(sandbox.client(), "default", &kind);
    let mut events = api.watch(&WatchParams::default().disable_bookmarks(), "0").await.unwrap().boxed();
    patch(&sandbox, &format!("{V1}/ada"), &json!({"spec": {"last": "King"}})).await;
    delete(&sandbox, &format!("{V1}/ada")).await;
    let mut told = Vec::new();
    for _ in 0..3 {
        let (what, object) = match events.next().await.unwrap().unwrap() {
            WatchEvent::Added(object) => ("added", object),
            WatchEvent::Modified(object) => ("modified", object),
            WatchEvent::Deleted(object) => ("deleted", object),
            other => panic!("{other:?}"),
        };
        told.push(format!("{what} {}", object.data["spec"]["name"].as_str().unwrap_or_default()));
    }
    assert_eq!(told, ["added Ada Lovelace", "modified Ada King", "deleted Ada King"]);
}

/// Changes the definition, which gives its versions new caches of converted objects.
async fn drop_cached_conversions(sandbox: &Sandbox) {
    let definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/people.a-schema.io";
    let short_names = json!({"spec": {"names": {"shortNames": ["pe"]}}});
    assert_eq!(patch(sandbox, definition, &short_names).await.0, 200);
    wait::until("the short name", async || {
        (get(sandbox, definition).await.1["status"]["acceptedNames"]["shortNames"] == json!(["pe"])).then_some(())
    })
    .await;
}

fn second_version(sandbox: &Sandbox) -> Api<DynamicObject> {
    let kind = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("a-schema.io", "v2", "Person"), "people");
    Api::<DynamicObject>::namespaced_with(sandbox.client(), "default", &kind)
}

#[tokio::test(start_paused = true)]
async fn a_watch_shows_past_changes_whose_conversions_are_no_longer_cached() {
    let sandbox = sandbox();
    define(&sandbox, &people()).await;
    let (_, list) = get(&sandbox, V2).await;
    let version = list["metadata"]["resourceVersion"].as_str().unwrap();
    post(&sandbox, V1, &person("v1", "ada", &json!({"first": "Ada", "last": "Lovelace"}))).await;
    patch(&sandbox, &format!("{V1}/ada"), &json!({"spec": {"last": "King"}})).await;
    drop_cached_conversions(&sandbox).await;
    let parameters = WatchParams::default().disable_bookmarks();
    let mut events = second_version(&sandbox).watch(&parameters, version).await.unwrap().boxed();
    for expected in ["Ada Lovelace", "Ada King"] {
        let (WatchEvent::Added(object) | WatchEvent::Modified(object)) = events.next().await.unwrap().unwrap() else {
            panic!("no event of {expected}")
        };
        assert_eq!(object.data["spec"]["name"], expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_with_a_selector_shows_a_past_change_after_which_the_object_no_longer_matches() {
    let sandbox = sandbox();
    let mut people = people();
    people["spec"]["versions"][1]["selectableFields"] = json!([{"jsonPath": ".spec.name"}]);
    define(&sandbox, &people).await;
    let (_, ada) = post(&sandbox, V1, &person("v1", "ada", &json!({"first": "Ada", "last": "Lovelace"}))).await;
    patch(&sandbox, &format!("{V1}/ada"), &json!({"spec": {"last": "King"}})).await;
    drop_cached_conversions(&sandbox).await;
    let parameters = WatchParams::default().disable_bookmarks().fields("spec.name=Ada Lovelace");
    let version = ada["metadata"]["resourceVersion"].as_str().unwrap();
    let mut events = second_version(&sandbox).watch(&parameters, version).await.unwrap().boxed();
    let event = events.next().await.unwrap().unwrap();
    assert!(matches!(event, WatchEvent::Deleted(_)), "{event:?}");
}

#[tokio::test(start_paused = true)]
async fn what_can_not_be_converted_is_an_error() {
    let sandbox = sandbox();
    define(&sandbox, &people()).await;
    post(&sandbox, V1, &person("v1", "odysseus", &json!({"first": "Nobody", "last": "Ithaca"}))).await;
    let (code, answer) = get(&sandbox, &format!("{V2}/odysseus")).await;
    let message = "conversion webhook for a-schema.io/v1, Kind=Person failed: who is that?";
    assert_eq!((code, answer["message"].as_str().unwrap()), (500, message));
    assert_eq!(get(&sandbox, V2).await.0, 500);
    assert_eq!(get(&sandbox, &format!("{V1}/odysseus")).await.0, 200);
    let (code, _) = post(&sandbox, V2, &person("v2", "other", &json!({"name": "Nobody Else"}))).await;
    assert_eq!(code, 500);
    assert_eq!(get(&sandbox, &format!("{V1}/other")).await.0, 404);
}

/// A sandbox whose calls to the webhook have faults.
fn sandbox_with(faults: &Faults) -> Sandbox {
    let faults = faults.clone();
    let builder = Sandbox::builder().seed(1).webhook("https://people.test/", |request| async move { answer(&request) });
    builder.webhook_faults(move |call| faults.record_webhook_call(call)).start()
}

#[tokio::test(start_paused = true)]
async fn a_conversion_fails_as_long_as_the_webhook_does() {
    let failed = |why: &str| format!("failed: {why}");
    let post = |why: &str| failed(&format!("Post \"https://people.test/convert?timeout=30s\": {why}"));
    let zero = "00000000-0000-4000-8000-000000000000";
    for (fault, why) in [
        (WebhookFault::Refused, post("dial tcp people.test:443: connect: connection refused")),
        (WebhookFault::TimedOut, post("context deadline exceeded")),
        (
            WebhookFault::ServerError,
            failed("an error on the server (\"unknown\") has prevented the request from succeeding"),
        ),
        (WebhookFault::NotJson, failed("couldn't get version/kind; json parse error: ")),
        (WebhookFault::OtherRequest, failed("expected response.uid=")),
        (WebhookFault::Incomplete, "returned 0 objects, expected 1".to_owned()),
        (WebhookFault::OtherName, "returned invalid object: must have the same name: ada != another".to_owned()),
        (WebhookFault::OtherUid, "returned invalid object: must have the same UID: ".to_owned()),
        (
            WebhookFault::OtherVersion,
            "returned invalid object at index 0: invalid groupVersion (expected a-schema.io/v2, received example.com/v0)"
                .to_owned(),
        ),
    ] {
        // The creation converts the object for watches of the other version, the read for its response.
        let faults = Faults::none().at_webhook_call(1, fault).at_webhook_call(2, fault);
        let sandbox = sandbox_with(&faults);
        define(&sandbox, &people()).await;
        let ada = person("v1", "ada", &json!({"first": "Ada", "last": "Lovelace"}));
        assert_eq!(crate::client::post(&sandbox, V1, &ada).await.0, 201, "{fault}");
        let (code, status) = get(&sandbox, &format!("{V2}/ada")).await;
        let message = status["message"].as_str().unwrap();
        let start = format!("conversion webhook for a-schema.io/v1, Kind=Person {why}");
        assert!(code == 500 && message.starts_with(&start), "{fault}: {status}");
        let names_uid = matches!(fault, WebhookFault::OtherRequest | WebhookFault::OtherUid);
        assert!(status.get("reason").is_none() && message.contains(zero) == names_uid, "{fault}: {status}");
        let (code, ada) = get(&sandbox, &format!("{V2}/ada")).await;
        assert_eq!((code, &ada["spec"]), (200, &json!({"name": "Ada Lovelace"})), "{fault}");
        assert_eq!((faults.webhook_calls(), faults.disturbed_webhook_calls()), (3, 2), "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_is_stored_although_its_response_can_not_be_converted() {
    let sandbox = sandbox_with(&Faults::none().at_webhook_call(2, WebhookFault::Refused));
    define(&sandbox, &people()).await;
    let ada = person("v2", "ada", &json!({"name": "Ada Lovelace"}));
    let (code, status) = post(&sandbox, V2, &ada).await;
    let why = "conversion webhook for a-schema.io/v1, Kind=Person failed: Post \"https://people.test/convert?timeout=30s\": dial tcp people.test:443: connect: connection refused";
    assert_eq!((code, &status["message"]), (500, &json!(why)));
    assert_eq!(post(&sandbox, V2, &ada).await.0, 409);
    assert_eq!(get(&sandbox, &format!("{V2}/ada")).await.1["spec"], json!({"name": "Ada Lovelace"}));
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_with_a_failed_conversion_and_continues_with_the_next_one() {
    let sandbox = sandbox_with(&Faults::none().at_webhook_call(2, WebhookFault::Refused));
    define(&sandbox, &people()).await;
    let (_, ada) = post(&sandbox, V1, &person("v1", "ada", &json!({"first": "Ada", "last": "Lovelace"}))).await;
    let version = ada["metadata"]["resourceVersion"].as_str().unwrap();
    let kind = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("a-schema.io", "v2", "Person"), "people");
    let api = Api::<DynamicObject>::namespaced_with(sandbox.client(), "default", &kind);
    let params = WatchParams::default().disable_bookmarks();
    let mut events = api.watch(&params, version).await.unwrap().boxed();
    patch(&sandbox, &format!("{V1}/ada"), &json!({"spec": {"last": "King"}})).await;
    match events.next().await.unwrap() {
        Ok(WatchEvent::Error(status)) => assert_eq!(status.code, 500),
        other => panic!("{other:?}"),
    }
    assert!(events.next().await.is_none());
    let mut events = api.watch(&params, version).await.unwrap().boxed();
    match events.next().await.unwrap().unwrap() {
        WatchEvent::Modified(ada) => assert_eq!(ada.data["spec"]["name"], "Ada King"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_admission_webhook_sees_the_version_of_its_rules() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Value::Null));
    let (last, faults) = (seen.clone(), Faults::none());
    let counted = faults.clone();
    let builder = Sandbox::builder().seed(1).webhook("https://people.test/", |request| async move { answer(&request) });
    let builder = builder.webhook_faults(move |call| counted.record_webhook_call(call));
    let sandbox = builder.webhook("https://people.test/rename", move |request| {
        let review: Value = serde_json::from_slice(request.body()).unwrap();
        *last.lock().unwrap() = review["request"]["object"].clone();
        let patch = json!([{"op": "replace", "path": "/spec/last", "value": "King"}]).to_string();
        let patch = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, patch);
        let response =
            json!({"uid": review["request"]["uid"], "allowed": true, "patchType": "JSONPatch", "patch": patch});
        let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
        async move { Response::new(Bytes::from(review.to_string())) }
    });
    let sandbox = sandbox.start();
    define(&sandbox, &people()).await;
    let rule =
        json!({"apiGroups": ["a-schema.io"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["people"]});
    let configuration = json!({"metadata": {"name": "rename"}, "webhooks": [{
        "name": "rename.a-schema.io", "clientConfig": {"url": "https://people.test/rename"}, "rules": [rule],
        "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore",
    }]});
    let configurations = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    assert_eq!(post(&sandbox, configurations, &configuration).await.0, 201);
    let (code, ada) = post(&sandbox, V2, &person("v2", "ada", &json!({"name": "Ada Lovelace"}))).await;
    assert_eq!((code, &ada["spec"]), (201, &json!({"name": "Ada King"})), "{ada}");
    let object = seen.lock().unwrap().clone();
    assert_eq!((&object["apiVersion"], &object["spec"]["first"]), (&json!("a-schema.io/v1"), &json!("Ada")));
    // The failure policy does not ignore a failed conversion.
    drop(faults.clone().at_webhook_call(faults.webhook_calls() + 1, WebhookFault::Refused));
    let (code, status) = post(&sandbox, V2, &person("v2", "eve", &json!({"name": "Eve Lovelace"}))).await;
    let message = status["message"].as_str().unwrap();
    let start = "Internal error occurred: conversion webhook for a-schema.io/v2, Kind=Person failed: Post ";
    assert!(code == 500 && message.starts_with(start), "{status}");
}

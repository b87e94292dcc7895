//! Tests server-side apply of objects in buckets.

use super::harness::{FINALIZER, Harness, JSON, WEB, web};
use serde_json::{Value, json};

/// Returns the fields of a manager's apply.
fn owned<'a>(object: &'a Value, manager: &str) -> &'a Value {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let entry = entries.iter().find(|entry| entry["manager"] == manager && entry["operation"] == "Apply");
    &entry.unwrap()["fieldsV1"]
}

#[tokio::test]
async fn an_apply_creates_and_changes_an_object() {
    let harness = Harness::new();
    let (code, created) = harness.apply("me", false, &web(json!({"image": "a"}))).await;
    assert_eq!((code, &created["metadata"]["generation"]), (201, &json!(1)));
    assert_eq!(owned(&created, "me"), &json!({"f:spec": {"f:image": {}}}));
    assert_eq!(created["spec"]["replicas"], 1, "a default that nobody owns");
    let (code, changed) = harness.apply("me", false, &web(json!({"image": "b", "options": {"a": "b"}}))).await;
    assert_eq!((code, &changed["metadata"]["generation"]), (200, &json!(2)));
    assert_eq!(owned(&changed, "me"), &json!({"f:spec": {"f:image": {}, "f:options": {"f:a": {}}}}));
}

#[tokio::test]
async fn a_field_that_a_manager_gives_up_is_removed_and_those_of_others_stay() {
    let harness = Harness::new();
    let ports = json!([{"port": 80, "name": "http"}, {"port": 81}]);
    harness.apply("me", false, &web(json!({"image": "a", "args": ["x"], "ports": ports, "options": {"a": "1"}}))).await;
    let other = web(json!({"image": "a", "ports": [{"port": 82}], "options": {"b": "2"}, "tags": ["x"]}));
    assert_eq!(harness.apply("other", false, &other).await.0, 200);
    let (code, changed) = harness.apply("me", false, &web(json!({"ports": [{"port": 81}], "tags": ["y"]}))).await;
    assert_eq!(code, 200, "{changed}");
    let expected = json!({
        "image": "a", "replicas": 1, "ports": [{"port": 81}, {"port": 82}], "options": {"b": "2"}, "tags": ["x", "y"],
    });
    assert_eq!(changed["spec"], expected);
    let (_, changed) = harness.apply("other", false, &web(json!({}))).await;
    assert_eq!(changed["spec"], json!({"replicas": 1, "ports": [{"port": 81}], "tags": ["y"]}));
}

#[tokio::test]
async fn a_field_of_another_manager_is_taken_by_force_only() {
    let harness = Harness::new();
    harness.apply("me", false, &web(json!({"image": "a", "replicas": 2}))).await;
    let other = web(json!({"image": "b"}));
    let (code, status) = harness.apply("other", false, &other).await;
    assert_eq!((code, &status["reason"]), (409, &json!("Conflict")));
    assert_eq!(status["details"]["causes"][0]["field"], ".spec.image", "{status}");
    let (code, changed) = harness.apply("other", true, &other).await;
    assert_eq!((code, &changed["spec"]["image"]), (200, &json!("b")));
    assert_eq!(owned(&changed, "me"), &json!({"f:spec": {"f:replicas": {}}}));
    // A write without apply takes the field, too.
    let (_, changed) = harness.merge(WEB, json!({"spec": {"replicas": 3}})).await;
    let entries = changed["metadata"]["managedFields"].as_array().unwrap();
    assert!(entries.iter().all(|entry| entry["manager"] != "me"), "{entries:?}");
}

#[tokio::test]
async fn finalizers_and_owners_of_several_managers_are_merged() {
    let harness = Harness::new();
    let owner = |uid: &str| json!([{"apiVersion": "v1", "kind": "Node", "name": "a", "uid": uid}]);
    let with = |finalizer: &str, uid: &str| {
        let mut object = web(json!({}));
        object["metadata"]["finalizers"] = json!([finalizer]);
        object["metadata"]["ownerReferences"] = owner(uid);
        object
    };
    harness.apply("me", false, &with(FINALIZER, "1")).await;
    let (_, changed) = harness.apply("other", false, &with("other.example.com/a", "2")).await;
    assert_eq!(changed["metadata"]["finalizers"], json!([FINALIZER, "other.example.com/a"]));
    assert_eq!(changed["metadata"]["ownerReferences"].as_array().map(Vec::len), Some(2));
    let (_, changed) = harness.apply("me", false, &web(json!({}))).await;
    assert_eq!(changed["metadata"]["finalizers"], json!(["other.example.com/a"]));
    assert_eq!(changed["metadata"]["ownerReferences"], owner("2"));
}

#[tokio::test]
async fn an_apply_is_checked_before_it_is_merged() {
    let harness = Harness::new();
    let with = |field: &str, value: Value| {
        let mut object = web(json!({"image": "a"}));
        object["metadata"][field] = value;
        object
    };
    assert_eq!(harness.apply("me", true, &with("uid", json!("other"))).await.0, 409, "there is no object");
    assert_eq!(harness.apply("me", true, &with("resourceVersion", json!("1"))).await.0, 201);
    assert_eq!(harness.apply("me", true, &with("uid", json!("other"))).await.0, 422);
    assert_eq!(harness.apply("me", true, &with("resourceVersion", json!("7"))).await.0, 409);
    assert_eq!(harness.apply("me", true, &with("managedFields", json!([{}]))).await.0, 400);
    assert_eq!(harness.apply("me", true, &with("name", json!("other"))).await.0, 400);
}

#[tokio::test]
async fn the_fields_of_an_object_without_managers_are_those_before_the_first_apply() {
    let harness = Harness::new();
    harness.bucket.put_raw("shop.web", r#"{"spec": {"image": "a"}}"#);
    let (code, status) = harness.apply("me", false, &web(json!({"image": "b"}))).await;
    assert_eq!((code, &status["reason"]), (409, &json!("Conflict")));
    assert!(status["message"].as_str().unwrap().contains("before-first-apply"), "{status}");
    let (code, changed) = harness.apply("me", true, &web(json!({"image": "b"}))).await;
    assert_eq!((code, &changed["spec"]["image"]), (200, &json!("b")));
}

#[tokio::test]
async fn a_patch_moves_fields_to_another_manager() {
    let harness = Harness::new();
    harness.create(&web(json!({"image": "a", "replicas": 2}))).await;
    let entry = json!({
        "manager": "me", "operation": "Apply", "apiVersion": "demo.example.com/v1", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:image": {}, "f:replicas": {}}},
    });
    let patch = json!([{"op": "replace", "path": "/metadata/managedFields", "value": [entry]}]);
    assert_eq!(harness.send("PATCH", WEB, JSON, &patch).await.0, 200);
    let (_, changed) = harness.apply("me", false, &web(json!({"image": "a"}))).await;
    // The default of a field that was removed.
    assert_eq!(changed["spec"], json!({"image": "a", "replicas": 1}));
}

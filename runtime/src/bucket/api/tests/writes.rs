//! Tests creates, updates, patches and deletions.

use super::harness::{APPS, Harness, JSON, MERGE, WEB, kind, read, send, web};
use crate::{
    bucket::{
        Bucket, BucketEntry, BucketError, BucketEvent, EntryList, Expected, MemoryBucket,
        api::{BucketApi, BucketKind},
    },
    environment::Environment,
    kind::kind_of,
};
use futures::{
    FutureExt as _, StreamExt as _,
    future::{BoxFuture, ready},
    stream::{self, BoxStream},
};
use k8s_openapi::api::core::v1::Secret;
use serde_json::{Value, json};
use std::sync::Arc;

#[tokio::test]
async fn a_new_object_gets_the_metadata_of_the_server_and_its_defaults() {
    let harness = Harness::new();
    let mut object = web(json!({"image": "a", "unknown": 1, "replicas": 2.0}));
    object["status"] = json!({"phase": "Done"});
    object["metadata"]["deletionTimestamp"] = json!("2020-01-01T00:00:00Z");
    let created = harness.create(&object).await;
    let metadata = &created["metadata"];
    assert_eq!(created["spec"], json!({"image": "a", "replicas": 2}));
    assert_eq!((created.get("status"), &metadata["deletionTimestamp"]), (None, &Value::Null));
    assert_eq!((&metadata["namespace"], &metadata["generation"]), (&json!("shop"), &json!(1)));
    assert_eq!(
        (&metadata["resourceVersion"], &metadata["creationTimestamp"]),
        (&json!("1"), &json!("2023-11-14T22:13:20Z"))
    );
    assert_eq!(metadata["uid"].as_str().map(str::len), Some(36));
    assert_eq!(metadata["managedFields"][0]["fieldsV1"], json!({"f:spec": {".": {}, "f:image": {}, "f:replicas": {}}}));
    assert_eq!(harness.web().await, created);
    let stored = harness.stored("shop.web").await;
    assert_eq!((&stored["spec"], &stored["metadata"]["resourceVersion"]), (&created["spec"], &Value::Null));
    assert_eq!(harness.revision("_claim.shop.web").await, None);
}

#[tokio::test]
async fn a_create_is_refused_with_the_codes_of_kubernetes() {
    let harness = Harness::new();
    harness.create(&web(json!({}))).await;
    let refused = async |change: fn(&mut Value)| {
        let mut object = web(json!({}));
        change(&mut object);
        let (code, status) = harness.send("POST", APPS, "application/json", &object).await;
        (code, status["reason"].as_str().unwrap_or_default().to_owned())
    };
    for (change, code, reason) in [
        ((|_| {}) as fn(&mut Value), 409, "AlreadyExists"),
        (|object| object["metadata"]["resourceVersion"] = json!("1"), 500, ""),
        (|object| object["kind"] = json!("Other"), 400, "BadRequest"),
        (|object| object["metadata"] = json!({"name": "b", "namespace": "other"}), 400, "BadRequest"),
        (|object| object["metadata"] = json!({"name": "B"}), 422, "Invalid"),
        (|object| object["metadata"] = json!({}), 422, "Invalid"),
        (|object| object["metadata"] = json!({"name": "b", "labels": {"a b": ""}}), 422, "Invalid"),
        (|object| *object = web(json!({"replicas": 51})), 422, "Invalid"),
    ] {
        assert_eq!(refused(change).await, (code, reason.to_owned()));
    }
    let mut object = web(json!({"replicas": -1}));
    object["metadata"]["name"] = json!("b");
    let (_, status) = harness.send("POST", APPS, "application/json", &object).await;
    assert_eq!(status["details"]["causes"][0]["field"], "spec.replicas", "{status}");
    assert_eq!(harness.revision("shop.b").await, None);
}

#[tokio::test]
async fn a_name_is_generated() {
    let harness = Harness::new();
    let mut object = web(json!({}));
    object["metadata"] = json!({"generateName": "web-"});
    let name = harness.create(&object).await["metadata"]["name"].as_str().unwrap().to_owned();
    assert!(name.starts_with("web-") && name.len() == 9, "{name}");
}

#[tokio::test]
async fn an_update_replaces_the_version_that_it_names() {
    let harness = Harness::new();
    assert_eq!(harness.put(WEB, &web(json!({}))).await.0, 404);
    let created = harness.create(&web(json!({"image": "a"}))).await;
    assert_eq!(harness.put(WEB, &web(json!({}))).await.0, 422);
    let mut object = created.clone();
    object["spec"]["image"] = json!("b");
    object["status"] = json!({"phase": "Done"});
    let (code, updated) = harness.put(WEB, &object).await;
    assert_eq!((code, updated.get("status"), &updated["metadata"]["generation"]), (200, None, &json!(2)));
    assert_eq!((&updated["spec"]["image"], &updated["metadata"]["uid"]), (&json!("b"), &created["metadata"]["uid"]));
    let (code, status) = harness.put(WEB, &object).await;
    assert_eq!((code, &status["reason"]), (409, &json!("Conflict")));
    object["metadata"]["resourceVersion"] = updated["metadata"]["resourceVersion"].clone();
    object["metadata"]["uid"] = json!("other");
    assert_eq!(harness.put(WEB, &object).await.0, 409);
    object["metadata"]["name"] = json!("other");
    assert_eq!(harness.put(WEB, &object).await.0, 400);
}

#[tokio::test]
async fn a_write_that_changes_nothing_makes_no_revision() {
    let harness = Harness::new();
    let created = harness.create(&web(json!({"image": "a"}))).await;
    let applied = web(json!({"options": {"a": "b"}}));
    assert_eq!(harness.apply("me", false, &applied).await.0, 200);
    let revision = harness.revision("shop.web").await;
    let current = harness.web().await;
    assert_ne!(current["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"]);
    for (code, object) in [
        harness.put(WEB, &current).await,
        harness.put(&format!("{WEB}/status"), &current).await,
        harness.merge(WEB, json!({"spec": {"image": "a"}})).await,
        harness.send("PATCH", WEB, JSON, &json!([{"op": "test", "path": "/spec/image", "value": "a"}])).await,
        harness.apply("me", false, &applied).await,
    ] {
        assert_eq!((code, &object), (200, &current));
    }
    assert_eq!(harness.revision("shop.web").await, revision);
}

#[tokio::test]
async fn the_status_is_written_by_its_subresource_only() {
    let harness = Harness::new();
    let created = harness.create(&web(json!({"image": "a"}))).await;
    let mut object = created.clone();
    (object["status"], object["spec"]["image"]) = (json!({"phase": "Ready"}), json!("b"));
    object["metadata"]["labels"] = json!({"a": "b"});
    let (code, updated) = harness.put(&format!("{WEB}/status?fieldManager=web%2Fstatus"), &object).await;
    assert_eq!((code, &updated["status"], &updated["spec"]["image"]), (200, &json!({"phase": "Ready"}), &json!("a")));
    assert_eq!((&updated["metadata"]["generation"], updated["metadata"].get("labels")), (&json!(1), None));
    let entries = updated["metadata"]["managedFields"].as_array().unwrap();
    let of_status = entries.iter().find(|entry| entry["subresource"] == "status").unwrap();
    assert_eq!(
        (&of_status["manager"], of_status.pointer("/fieldsV1/f:status/f:phase")),
        (&json!("web/status"), Some(&json!({})))
    );
    let (_, updated) = harness.merge(WEB, json!({"status": {"phase": "Other"}, "spec": {"image": "b"}})).await;
    assert_eq!((&updated["status"]["phase"], &updated["metadata"]["generation"]), (&json!("Ready"), &json!(2)));
    let (code, updated) = harness.merge(&format!("{WEB}/status"), json!({"status": {"phase": null}})).await;
    assert_eq!((code, &updated["status"]), (200, &json!({})));
    assert_eq!(harness.get(&format!("{WEB}/status")).await, (200, updated));
    let invalid = harness.merge(&format!("{WEB}/status"), json!({"status": {"phase": 1}})).await;
    assert_eq!(invalid.0, 422, "{}", invalid.1);
}

#[tokio::test]
async fn json_patches_are_guarded_by_the_version_that_they_name() {
    let harness = Harness::new();
    let created = harness.create(&web(json!({}))).await;
    let version = created["metadata"]["resourceVersion"].clone();
    let patch = json!([
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
        {"op": "add", "path": "/metadata/finalizers", "value": ["demo.example.com/test"]},
    ]);
    let (code, patched) = harness.send("PATCH", WEB, JSON, &patch).await;
    assert_eq!((code, &patched["metadata"]["finalizers"]), (200, &json!(["demo.example.com/test"])));
    let (code, status) = harness.send("PATCH", WEB, JSON, &patch).await;
    assert_eq!((code, &status["reason"]), (409, &json!("Conflict")));
    // A patch that does not apply names neither an object nor a field.
    let patch = json!([{"op": "remove", "path": "/metadata/finalizers/3"}]);
    let (code, status) = harness.send("PATCH", WEB, JSON, &patch).await;
    assert_eq!((code, status.get("details")), (422, None), "{status}");
    let patch = json!([{"op": "remove", "path": "/metadata/finalizers/0"}]);
    let (code, patched) = harness.send("PATCH", WEB, JSON, &patch).await;
    assert_eq!((code, patched["metadata"].get("finalizers")), (200, None));
}

#[tokio::test]
async fn requests_that_are_none_are_refused() {
    let harness = Harness::new();
    harness.create(&web(json!({}))).await;
    for (method, uri, media, body, code) in [
        ("PATCH", WEB, "text/plain", json!({}), 415),
        ("PATCH", WEB, MERGE, json!([]), 400),
        ("PATCH", WEB, JSON, json!({}), 400),
        ("PATCH", WEB, "application/apply-patch+yaml", web(json!({})), 422),
        ("PATCH", &format!("{WEB}?force=true"), MERGE, json!({}), 422),
        ("PATCH", WEB, MERGE, json!({"kind": "Other"}), 422),
        ("PATCH", WEB, MERGE, json!({"metadata": {"labels": 1}}), 422),
        ("PATCH", WEB, MERGE, json!({"metadata": {"uid": "other"}}), 422),
        ("PUT", APPS, "application/json", web(json!({})), 405),
        ("POST", WEB, "application/json", web(json!({})), 405),
        ("GET", &format!("{WEB}/scale"), "", Value::Null, 404),
        ("GET", "/apis/demo.example.com/v1/namespaces/shop/webapps/Web", "", Value::Null, 404),
        ("GET", "/apis/demo.example.com/v2/namespaces/shop/webapps/web", "", Value::Null, 404),
        ("GET", "/api/v1/namespaces/shop/configmaps", "", Value::Null, 404),
    ] {
        let (actual, status) = harness.send(method, uri, media, &body).await;
        assert_eq!((actual, &status["kind"]), (code, &json!("Status")), "{method} {uri} {body}: {status}");
    }
}

#[tokio::test]
async fn an_object_without_finalizers_is_removed_at_once() {
    let harness = Harness::new();
    let created = harness.create(&web(json!({}))).await;
    for (precondition, value) in [("uid", "other"), ("resourceVersion", "77")] {
        let options = json!({"preconditions": {precondition: value}});
        assert_eq!(harness.send("DELETE", WEB, "application/json", &options).await.0, 409);
    }
    let options = json!({"propagationPolicy": "Foreground", "preconditions": {"uid": created["metadata"]["uid"]}});
    let (code, status) = harness.send("DELETE", WEB, "application/json", &options).await;
    assert_eq!((code, &status["kind"], &status["status"]), (200, &json!("Status"), &json!("Success")));
    assert_eq!(status["details"]["uid"], created["metadata"]["uid"]);
    assert_eq!((harness.get(WEB).await.0, harness.delete(WEB).await.0), (404, 404));
    assert_eq!(harness.revision("shop.web").await, None);
}

#[tokio::test]
async fn options_of_a_deletion_that_do_not_decode_delete_nothing() {
    let harness = Harness::new();
    harness.create(&web(json!({}))).await;
    for options in [
        json!({"preconditions": {"uid": 1}}),
        json!({"preconditions": {"resourceVersion": 1}}),
        json!({"preconditions": "uid"}),
        json!({"dryRun": "All"}),
        json!([]),
    ] {
        let (code, status) = harness.send("DELETE", WEB, "application/json", &options).await;
        assert_eq!((code, &status["reason"]), (400, &json!("BadRequest")), "{options}: {status}");
    }
    assert_eq!(harness.revision("shop.web").await, Some(1));
}

#[tokio::test]
async fn a_dry_run_writes_nothing() {
    let harness = Harness::new();
    let (code, _) = harness.send("POST", &format!("{APPS}?dryRun=All"), "application/json", &web(json!({}))).await;
    assert_eq!((code, harness.revision("shop.web").await), (201, None));
    harness.create(&web(json!({}))).await;
    let (_, patched) = harness.merge(&format!("{WEB}?dryRun=All"), json!({"spec": {"image": "b"}})).await;
    assert_eq!(patched["spec"]["image"], "b");
    assert_eq!(harness.delete(&format!("{WEB}?dryRun=All")).await.0, 200);
    // A value that Kubernetes does not know is no reason to write.
    assert_eq!(harness.delete(&format!("{WEB}?dryRun=x")).await.0, 200);
    assert_eq!(harness.revision("shop.web").await, Some(1));
}

#[tokio::test]
async fn the_texts_of_a_secret_are_encoded() {
    let kind = BucketKind::plain(kind_of::<Secret>(), Arc::new(MemoryBucket::new("secrets")));
    let api = BucketApi::new(vec![kind], Environment::system());
    let uri = "/api/v1/namespaces/shop/secrets";
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"b": "hello"}});
    let (code, created) = read(send(&api, "POST", uri, "application/json", &secret).await).await;
    assert_eq!((code, &created["data"]), (201, &json!({"b": "aGVsbG8="})));
    assert_eq!((created.get("stringData"), created["metadata"].get("generation")), (None, None));
    for texts in [json!({"b": 1}), json!({"b": {}}), json!(["b"]), json!("b")] {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "c"}, "stringData": texts});
        let (code, status) = read(send(&api, "POST", uri, "application/json", &secret).await).await;
        assert_eq!((code, &status["reason"]), (400, &json!("BadRequest")), "{texts}: {status}");
    }
}

/// A bucket whose calls fail.
#[derive(Debug)]
struct BrokenBucket(BucketError);

impl Bucket for BrokenBucket {
    fn name(&self) -> &str {
        "broken"
    }

    fn get<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<BucketEntry>, BucketError>> {
        ready(Err(self.0.clone())).boxed()
    }

    fn list(&self) -> BoxFuture<'_, Result<EntryList, BucketError>> {
        ready(Err(self.0.clone())).boxed()
    }

    fn put<'a>(&'a self, _: &'a str, _: Vec<u8>, _: Expected) -> BoxFuture<'a, Result<u64, BucketError>> {
        ready(Err(self.0.clone())).boxed()
    }

    fn remove<'a>(&'a self, _: &'a str, _: u64) -> BoxFuture<'a, Result<u64, BucketError>> {
        ready(Err(self.0.clone())).boxed()
    }

    fn watch(&self) -> BoxStream<'static, Result<BucketEvent, BucketError>> {
        let error = self.0.clone();
        stream::once(ready(Err(error))).chain(stream::pending()).boxed()
    }
}

#[tokio::test]
async fn the_errors_of_a_bucket_become_those_of_kubernetes() {
    for (error, code) in [
        (BucketError::unavailable("apps", "no answer"), 503),
        (BucketError::no_bucket("apps"), 503),
        (BucketError::forbidden("apps", "get", "denied"), 403),
        (BucketError::invalid("apps", "a sealed stream"), 400),
        (BucketError::conflict("shop.web"), 409),
    ] {
        let kind = BucketKind::plain(kind(), Arc::new(BrokenBucket(error)));
        let api = BucketApi::new(vec![kind], Environment::system());
        let response = send(&api, "GET", WEB, "", &Value::Null).await;
        assert_eq!(response.headers().get("retry-after"), None, "it would hold up calls to Kubernetes");
        assert_eq!(read(response).await.0, code);
        let (listed, _) = read(send(&api, "GET", APPS, "", &Value::Null).await).await;
        assert_eq!(listed, code, "the view does not follow the bucket");
    }
    let harness = Harness::over(MemoryBucket::with_limit("apps", 100));
    assert_eq!(harness.send("POST", APPS, "application/json", &web(json!({}))).await.0, 413);
}

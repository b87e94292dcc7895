//! Tests how objects are read from bucket entries that clients without knowledge of Kubernetes have written, valid and invalid ones.

use super::harness::{APPS, Harness, WEB, web};
use crate::{bucket::MemoryBucket, log::Log};
use serde_json::{Value, json};

#[tokio::test]
async fn a_spec_is_a_whole_object() {
    let harness = Harness::new();
    let revision = harness.bucket.put_raw("shop.web", r#"{"spec": {"image": "a"}}"#);
    let object = harness.web().await;
    let metadata = &object["metadata"];
    assert_eq!((&object["kind"], &object["apiVersion"]), (&json!("WebApp"), &json!("demo.example.com/v1")));
    assert_eq!((&metadata["name"], &metadata["namespace"]), (&json!("web"), &json!("shop")));
    assert_eq!(object["spec"], json!({"image": "a", "replicas": 1}));
    assert_eq!(
        (&metadata["resourceVersion"], &metadata["generation"]),
        (&json!(revision.to_string()), &json!(revision))
    );
    let (_, list) = harness.get(APPS).await;
    assert_eq!(list["items"], json!([object]));
}

#[tokio::test]
async fn the_key_names_the_object() {
    let harness = Harness::new();
    let value = json!({"metadata": {"name": "other", "namespace": "other", "resourceVersion": "77"}, "spec": {}});
    harness.bucket.put_raw("shop.web", value.to_string());
    let metadata = &harness.web().await["metadata"];
    assert_eq!((&metadata["name"], &metadata["namespace"]), (&json!("web"), &json!("shop")));
    assert_eq!(metadata["resourceVersion"], "1");
}

#[tokio::test]
async fn the_uid_of_an_object_stays_until_it_is_deleted() {
    let harness = Harness::new();
    harness.bucket.put_raw("shop.web", r#"{"spec": {"image": "a"}}"#);
    let mut events = harness.watch("").await;
    events.expect(&[("ADDED", "web")]).await;
    let uid = harness.web().await["metadata"]["uid"].clone();
    harness.bucket.put_raw("shop.web", r#"{"spec": {"image": "b"}}"#);
    events.expect(&[("MODIFIED", "web")]).await;
    assert_eq!(harness.web().await["metadata"]["uid"], uid);
    harness.bucket.delete_raw("shop.web");
    events.expect(&[("DELETED", "web")]).await;
    harness.bucket.put_raw("shop.web", r#"{"spec": {"image": "b"}}"#);
    events.expect(&[("ADDED", "web")]).await;
    let object = harness.web().await;
    assert_ne!(object["metadata"]["uid"], uid);
    // The first write stores the uid, and a time of creation.
    let (_, written) = harness.merge(WEB, json!({"metadata": {"labels": {"a": "b"}}})).await;
    assert_eq!(written["metadata"]["uid"], object["metadata"]["uid"]);
    let stored = harness.stored("shop.web").await;
    assert_eq!(stored["metadata"]["uid"], object["metadata"]["uid"]);
    assert_eq!(stored["metadata"]["creationTimestamp"], "2023-11-14T22:13:20Z");
    assert_eq!(written["metadata"]["generation"], object["metadata"]["generation"]);
}

/// The uid decides which replica works on the object.
#[tokio::test]
async fn replicas_with_shards_agree_on_the_uid_of_an_object_whose_first_value_only_one_has_seen() {
    let first = Harness::of_replica(MemoryBucket::new("apps"), 1);
    let put = |image: &str| first.bucket.put_raw("shop.web", json!({"spec": {"image": image}}).to_string());
    let uid = async |replica: &Harness| replica.web().await["metadata"]["uid"].clone();
    put("a");
    assert!(uid(&first).await.is_string());
    put("b");
    let second = Harness::of_replica(first.bucket.clone(), 2);
    assert_eq!(uid(&first).await, uid(&second).await);
    let (code, written) = first.merge(WEB, json!({"metadata": {"labels": {"a": "b"}}})).await;
    assert_eq!(code, 200, "{written}");
    let stored = written["metadata"]["uid"].clone();
    assert_eq!(uid(&second).await, stored);
    // A stored uid stays.
    put("c");
    assert_eq!((uid(&first).await, uid(&second).await), (stored.clone(), stored));
}

#[tokio::test]
async fn a_changed_spec_has_a_later_generation_and_no_managers() {
    let harness = Harness::new();
    let created = harness.create(&web(json!({"image": "a"}))).await;
    // A client that reads, changes and writes the whole value.
    let mut value = harness.stored("shop.web").await;
    value["spec"]["image"] = json!("b");
    let revision = harness.bucket.put_raw("shop.web", value.to_string());
    let object = harness.web().await;
    assert_eq!(object["metadata"]["generation"], json!(revision));
    assert_eq!(object["metadata"].get("managedFields"), None, "nobody knows who owns the new value");
    assert_eq!(object["metadata"]["uid"], created["metadata"]["uid"]);
    let (_, written) = harness.merge(WEB, json!({"spec": {"image": "c"}})).await;
    assert_eq!(written["metadata"]["generation"], json!(revision + 1));
    // A change of the labels changes no generation.
    let mut value = harness.stored("shop.web").await;
    value["metadata"]["labels"] = json!({"a": "b"});
    harness.bucket.put_raw("shop.web", value.to_string());
    assert_eq!(harness.web().await["metadata"]["generation"], json!(revision + 1));
}

#[tokio::test]
async fn invalid_entries_are_not_served_and_named_once_for_each_revision() {
    let log = Log::capture();
    let harness = Harness::new();
    for value in ["no json", "[]", r#"{"spec": {"replicas": "many"}}"#, r#"{"kind": "Other"}"#, r#"{"metadata": 1}"#] {
        let revision = harness.bucket.put_raw("shop.web", value);
        for _ in 0..2 {
            let (code, status) = harness.get(WEB).await;
            assert_eq!(code, 503, "{value}");
            assert!(status["message"].as_str().unwrap().contains("key \"shop.web\" in bucket \"apps\""), "{status}");
            assert_eq!(harness.get(&format!("{APPS}?fieldSelector=metadata.name%3Dweb")).await.0, 503, "{value}");
            assert_eq!(harness.get(APPS).await.1["items"], json!([]), "{value}");
        }
        assert_eq!(harness.revision("shop.web").await, Some(revision));
        let warnings = log.lines().into_iter().filter(|line| line.ends_with(&format!("revision={revision}")));
        assert_eq!(warnings.count(), 1, "{value}: {:?}", log.lines());
    }
    // Nobody overwrites it.
    let (code, status) = harness.send("POST", APPS, "application/json", &web(json!({}))).await;
    assert_eq!((code, &status["reason"]), (409, &json!("AlreadyExists")));
    harness.bucket.put_raw("shop.web", r#"{"spec": {}}"#);
    assert_eq!(harness.get(WEB).await.0, 200);
}

#[tokio::test]
async fn keys_of_no_object_are_named_once_and_skipped() {
    let log = Log::capture();
    let harness = Harness::new();
    for key in ["web", "shop.Web", "_other"] {
        harness.bucket.put_raw(key, r#"{"spec": {}}"#);
    }
    for _ in 0..3 {
        assert_eq!(harness.get(APPS).await.1["items"], json!([]));
    }
    let lines = log.lines();
    for (key, count) in [("\"web\"", 1), ("\"shop.Web\"", 1), ("\"_other\"", 0)] {
        let is_of = |line: &&String| line.contains(&format!("key={key}"));
        assert_eq!(lines.iter().filter(is_of).count(), count, "{key}: {lines:?}");
    }
}

#[tokio::test]
async fn an_invalid_value_leaves_a_watch_as_it_was() {
    let harness = Harness::new();
    harness.bucket.put_raw("shop.web", r#"{"spec": {"image": "a"}}"#);
    let mut events = harness.watch("").await;
    events.expect(&[("ADDED", "web")]).await;
    harness.bucket.put_raw("shop.web", "no json");
    // The view sees the invalid value before the next one replaces it.
    harness.list_version().await;
    harness.bucket.put_raw("shop.web", r#"{"spec": {"image": "b"}}"#);
    let event: Value = events.next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]["spec"]["image"]), (&json!("MODIFIED"), &json!("b")));
}

#[tokio::test]
async fn a_value_without_metadata_keeps_the_uid_that_was_stored() {
    let harness = Harness::new();
    let uid = harness.create(&web(json!({"image": "a"}))).await["metadata"]["uid"].clone();
    harness.bucket.put_raw("shop.web", r#"{"spec": {"image": "b"}}"#);
    assert_eq!(harness.web().await["metadata"]["uid"], uid);
    // The next write stores it again.
    harness.merge(WEB, json!({"metadata": {"labels": {"a": "b"}}})).await;
    assert_eq!(harness.stored("shop.web").await["metadata"]["uid"], uid);
    // A process that has listed the objects knows it, too.
    let harness = harness.restart();
    let mut events = harness.watch("").await;
    events.expect(&[("ADDED", "web")]).await;
    harness.bucket.put_raw("shop.web", r#"{"spec": {"image": "c"}}"#);
    let event = events.next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]["metadata"]["uid"]), (&json!("MODIFIED"), &uid));
    // The uid ends with the object.
    harness.delete(WEB).await;
    harness.bucket.put_raw("shop.web", r#"{"spec": {"image": "c"}}"#);
    assert_ne!(harness.web().await["metadata"]["uid"], uid);
}

#[tokio::test]
async fn a_list_has_the_last_valid_state_of_an_object_whose_value_became_invalid() {
    let harness = Harness::new();
    let mut events = harness.watch("").await;
    let before = harness.create(&web(json!({"image": "a"}))).await;
    events.expect(&[("ADDED", "web")]).await;
    for value in ["no json", r#"{"spec": {"replicas": 99}}"#] {
        harness.bucket.put_raw("shop.web", value);
        assert_eq!(harness.get(APPS).await.1["items"], json!([before]), "{value}");
        assert_eq!(harness.get(WEB).await.0, 503, "it is not said to be gone");
    }
    // Another list of the entries changes nothing.
    harness.bucket.interrupt();
    harness.bucket.put_raw("shop.other", r#"{"spec": {}}"#);
    let mut events = harness.watch("").await;
    events.expect(&[("ADDED", "other"), ("ADDED", "web")]).await;
    harness.bucket.put_raw("shop.web", r#"{"spec": {"image": "b"}}"#);
    events.expect(&[("MODIFIED", "web")]).await;
    assert_eq!(harness.web().await["metadata"]["uid"], before["metadata"]["uid"]);
    // Nobody knows what an invalid value of before the start was.
    harness.bucket.put_raw("shop.web", "no json");
    let harness = harness.restart();
    let (_, list) = harness.get(APPS).await;
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
}

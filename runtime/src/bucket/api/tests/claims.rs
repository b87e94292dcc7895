//! Tests that objects with finalizers survive when other clients delete, purge or replace their bucket entries, because a second entry
//! keeps a copy.

use super::harness::{APPS, Events, FINALIZER, Harness, JSON, WEB, web};
use crate::bucket::{Bucket as _, Expected, MemoryBucket};
use serde_json::{Value, json};

const CLAIM: &str = "_claim.shop.web";

/// Creates the object `web` with a finalizer.
async fn claimed() -> (Harness, Value) {
    let harness = Harness::new();
    harness.create(&web(json!({"image": "a"}))).await;
    let object = harness.set_finalizers(&[FINALIZER]).await;
    (harness, object)
}

/// Checks that the object is being deleted, and is otherwise the one before; returns it.
async fn expect_deleting(harness: &Harness, before: &Value) -> Value {
    let object = harness.web().await;
    for field in ["uid", "finalizers", "creationTimestamp"] {
        assert_eq!(object["metadata"][field], before["metadata"][field], "{field}");
    }
    assert_eq!(object["spec"], before["spec"]);
    assert_eq!(object["metadata"]["deletionTimestamp"], "2023-11-14T22:13:20Z", "{object}");
    let version = |object: &Value| object["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap();
    assert!(version(&object) > version(before), "caches keep the latest version: {object}");
    object
}

/// Removes the finalizer, and checks that nothing is left.
async fn finish(harness: &Harness) {
    harness.set_finalizers(&[]).await;
    assert_eq!(harness.get(WEB).await.0, 404);
    assert_eq!((harness.revision("shop.web").await, harness.revision(CLAIM).await), (None, None));
}

#[tokio::test]
async fn the_first_finalizer_makes_a_claim_and_the_last_one_ends_it() {
    let (harness, object) = claimed().await;
    let claim = harness.stored(CLAIM).await;
    assert_eq!(claim["metadata"]["uid"], object["metadata"]["uid"]);
    assert_eq!((&claim["spec"], &claim["metadata"]["managedFields"]), (&object["spec"], &Value::Null));
    // The claim was there before the finalizer was.
    assert!(harness.revision(CLAIM).await < harness.revision("shop.web").await);
    let revision = harness.revision(CLAIM).await;
    harness.merge(&format!("{WEB}/status"), json!({"status": {"phase": "Ready"}})).await;
    harness.merge(WEB, json!({"metadata": {"labels": {"a": "b"}}})).await;
    assert_eq!(harness.revision(CLAIM).await, revision, "a status needs no new claim");
    harness.merge(WEB, json!({"spec": {"image": "b"}})).await;
    assert_eq!(harness.stored(CLAIM).await["spec"]["image"], "b");
    harness.set_finalizers(&[]).await;
    assert_eq!((harness.revision(CLAIM).await, harness.get(WEB).await.0), (None, 200));
}

#[tokio::test]
async fn an_object_that_is_created_with_a_finalizer_is_claimed() {
    let harness = Harness::new();
    let mut object = web(json!({}));
    object["metadata"]["finalizers"] = json!([FINALIZER]);
    let created = harness.create(&object).await;
    harness.bucket.delete_raw("shop.web");
    expect_deleting(&harness, &created).await;
    finish(&harness).await;
}

#[tokio::test]
async fn a_deletion_waits_for_the_finalizers() {
    let (harness, before) = claimed().await;
    let (code, object) = harness.delete(WEB).await;
    assert_eq!((code, &object["kind"], &object["metadata"]["generation"]), (200, &json!("WebApp"), &json!(2)));
    assert_eq!(harness.stored(CLAIM).await["metadata"]["deletionTimestamp"], object["metadata"]["deletionTimestamp"]);
    assert_eq!(expect_deleting(&harness, &before).await, object);
    assert_eq!(harness.delete(WEB).await, (200, object.clone()), "a second deletion changes nothing");
    let added = harness.merge(WEB, json!({"metadata": {"finalizers": [FINALIZER, "demo.example.com/other"]}})).await;
    assert_eq!(added.0, 422, "{}", added.1);
    let (code, status) = harness.send("POST", APPS, "application/json", &web(json!({}))).await;
    assert_eq!((code, &status["reason"]), (409, &json!("AlreadyExists")));
    finish(&harness).await;
}

#[tokio::test]
async fn a_raw_delete_becomes_a_deletion() {
    let (harness, before) = claimed().await;
    harness.bucket.delete_raw("shop.web");
    let object = expect_deleting(&harness, &before).await;
    assert_eq!(harness.web().await, object, "the deletion timestamp is stable");
    // Reads, patches and status writes work on the claim.
    let (code, written) = harness.merge(&format!("{WEB}/status"), json!({"status": {"phase": "Gone"}})).await;
    assert_eq!((code, &written["status"]), (200, &json!({"phase": "Gone"})));
    let (_, list) = harness.get(APPS).await;
    assert_eq!(list["items"], json!([written]));
    assert_eq!(harness.revision("shop.web").await, None);
    let index = json!([
        {"op": "replace", "path": "/metadata/resourceVersion", "value": written["metadata"]["resourceVersion"]},
        {"op": "remove", "path": "/metadata/finalizers/0"},
    ]);
    assert_eq!(harness.send("PATCH", WEB, JSON, &index).await.0, 200);
    assert_eq!((harness.get(WEB).await.0, harness.revision(CLAIM).await), (404, None));
    harness.create(&web(json!({}))).await;
}

#[tokio::test]
async fn a_raw_delete_while_the_operator_is_down_is_found_at_its_start() {
    for lose in [
        (|bucket: &MemoryBucket| {
            bucket.delete_raw("shop.web");
        }) as fn(&MemoryBucket),
        |bucket| {
            bucket.purge_raw("shop.web");
        },
        |bucket| {
            bucket.purge_raw("shop.web");
            bucket.compact();
        },
    ] {
        let (harness, before) = claimed().await;
        lose(&harness.bucket);
        let harness = harness.restart();
        let mut events = harness.watch("").await;
        let event = events.next().await.unwrap();
        assert_eq!(
            (&event["type"], &event["object"]["metadata"]["uid"]),
            (&json!("ADDED"), &before["metadata"]["uid"])
        );
        expect_deleting(&harness, &before).await;
        finish(&harness).await;
    }
}

#[tokio::test]
async fn a_soft_deleted_object_that_loses_its_entry_gets_a_later_version() {
    let (harness, before) = claimed().await;
    harness.delete(WEB).await;
    let (_, written) = harness.merge(&format!("{WEB}/status"), json!({"status": {"phase": "Ending"}})).await;
    harness.bucket.purge_raw("shop.web");
    expect_deleting(&harness, &before).await;
    expect_deleting(&harness, &written).await;
    finish(&harness).await;
}

#[tokio::test]
async fn watches_show_a_raw_delete_as_a_deletion() {
    let (harness, before) = claimed().await;
    let mut events = watch(&harness).await;
    harness.bucket.delete_raw("shop.web");
    let event = events.next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]), (&json!("MODIFIED"), &expect_deleting(&harness, &before).await));
    finish(&harness).await;
    let event = events.next().await.unwrap();
    let metadata = &event["object"]["metadata"];
    assert_eq!((&event["type"], &metadata["uid"]), (&json!("DELETED"), &before["metadata"]["uid"]));
    harness.create(&web(json!({}))).await;
    events.expect(&[("ADDED", "web")]).await;
}

/// Watches from now on.
async fn watch(harness: &Harness) -> Events {
    let version = harness.list_version().await;
    harness.watch(&format!("resourceVersion={version}")).await
}

#[tokio::test]
async fn watches_show_the_deletions_of_the_api() {
    let (harness, _) = claimed().await;
    let mut events = watch(&harness).await;
    harness.delete(WEB).await;
    events.expect(&[("MODIFIED", "web")]).await;
    harness.set_finalizers(&[]).await;
    events.expect(&[("DELETED", "web")]).await;
    // Nothing else came of the claim.
    harness.create(&web(json!({}))).await;
    events.expect(&[("ADDED", "web")]).await;
    harness.delete(WEB).await;
    events.expect(&[("DELETED", "web")]).await;
}

#[tokio::test]
async fn a_value_without_metadata_changes_the_claimed_object() {
    let (harness, before) = claimed().await;
    harness.merge(WEB, json!({"metadata": {"labels": {"a": "old", "b": "old"}}, "spec": {"image": "b"}})).await;
    harness.merge(&format!("{WEB}/status"), json!({"status": {"phase": "Ready"}})).await;
    // The claim has the status of its last write.
    let before_put = harness.set_finalizers(&[FINALIZER, "demo.example.com/other"]).await;
    let mut events = watch(&harness).await;
    let value = json!({"metadata": {"labels": {"a": "new"}}, "spec": {"image": "c"}});
    harness.bucket.put_raw("shop.web", value.to_string());
    let object = harness.web().await;
    assert_eq!(object["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(object["metadata"]["finalizers"], json!([FINALIZER, "demo.example.com/other"]));
    assert_eq!(object["metadata"]["labels"], json!({"a": "new", "b": "old"}));
    assert_eq!((&object["spec"]["image"], &object["status"]["phase"]), (&json!("c"), &json!("Ready")));
    let generation = |object: &Value| object["metadata"]["generation"].as_u64().unwrap();
    assert!(generation(&object) > generation(&before_put), "{object}");
    assert_eq!(events.next().await.unwrap()["object"], object);
    // The next write stores what the value lacks.
    let (_, written) = harness.merge(WEB, json!({"metadata": {"annotations": {"c": "d"}}})).await;
    assert_eq!(generation(&written), generation(&object));
    assert_eq!(harness.stored("shop.web").await["metadata"]["uid"], before["metadata"]["uid"]);
    // The same spec with the status has the same generation. Without the status it has a later one, so that the status is written again.
    harness.bucket.put_raw("shop.web", json!({"spec": written["spec"], "status": written["status"]}).to_string());
    assert_eq!(generation(&harness.web().await), generation(&written));
    harness.bucket.put_raw("shop.web", json!({"spec": written["spec"]}).to_string());
    assert!(generation(&harness.web().await) > generation(&written));
}

#[tokio::test]
async fn another_object_waits_for_the_end_of_the_claimed_one() {
    let (harness, before) = claimed().await;
    let mut events = watch(&harness).await;
    let value = json!({"metadata": {"uid": "another"}, "spec": {"image": "new"}});
    harness.bucket.put_raw("shop.web", value.to_string());
    let old = expect_deleting(&harness, &before).await;
    assert_eq!(events.next().await.unwrap()["object"], old);
    harness.set_finalizers(&[]).await;
    events.expect(&[("DELETED", "web"), ("ADDED", "web")]).await;
    let new = harness.web().await;
    assert_eq!((&new["metadata"]["uid"], &new["spec"]["image"]), (&json!("another"), &json!("new")));
    let version = |object: &Value| object["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap();
    assert!(version(&new) > version(&old), "{new}");
    assert_eq!(harness.revision(CLAIM).await, None);
}

#[tokio::test]
async fn a_value_after_a_raw_delete_is_a_new_object() {
    let (harness, before) = claimed().await;
    harness.bucket.delete_raw("shop.web");
    expect_deleting(&harness, &before).await;
    harness.bucket.put_raw("shop.web", r#"{"spec": {"image": "new"}}"#);
    expect_deleting(&harness, &before).await;
    harness.set_finalizers(&[]).await;
    let new = harness.web().await;
    assert_eq!(new["spec"]["image"], "new");
    assert_ne!(new["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(new["metadata"].get("deletionTimestamp"), None);
}

#[tokio::test]
async fn a_deletion_is_not_taken_back_by_an_old_copy() {
    let (harness, before) = claimed().await;
    let copy = harness.stored("shop.web").await;
    harness.bucket.delete_raw("shop.web");
    expect_deleting(&harness, &before).await;
    harness.bucket.put_raw("shop.web", copy.to_string());
    expect_deleting(&harness, &before).await;
    finish(&harness).await;
}

#[tokio::test]
async fn an_invalid_value_leaves_a_claimed_object_as_it_was() {
    let (harness, _) = claimed().await;
    // The entry has a later version than the claim.
    let (_, before) = harness.merge(WEB, json!({"metadata": {"labels": {"a": "b"}}})).await;
    let mut events = watch(&harness).await;
    let version = |object: &Value| object["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap();
    let revision = harness.bucket.put_raw("shop.web", r#"{"spec": {"replicas": 99}}"#);
    for harness in [&harness, &Harness::over(harness.bucket.clone())] {
        let object = harness.web().await;
        assert_eq!((&object["spec"], object["metadata"].get("deletionTimestamp")), (&before["spec"], None));
        assert_eq!(object["metadata"]["uid"], before["metadata"]["uid"]);
        assert!(version(&object) > version(&before), "caches keep the latest version: {object}");
        let (_, list) = harness.get(APPS).await;
        assert_eq!(list["items"], json!([object]));
    }
    assert_eq!(harness.revision("shop.web").await, Some(revision), "nobody touches the value");
    let event = events.next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]), (&json!("MODIFIED"), &harness.web().await));
    // Watches see what the API writes meanwhile.
    let (_, written) = harness.merge(&format!("{WEB}/status"), json!({"status": {"phase": "Ready"}})).await;
    assert_eq!(events.next().await.unwrap()["object"]["status"], written["status"]);
    harness.bucket.put_raw("shop.web", r#"{"spec": {"replicas": 3}}"#);
    let object = harness.web().await;
    assert_eq!((&object["spec"]["replicas"], &object["metadata"]["uid"]), (&json!(3), &before["metadata"]["uid"]));
}

#[tokio::test]
async fn a_missing_claim_is_written_with_the_next_write() {
    // The second write changes nothing else.
    for status in [json!({"phase": "Ready"}), Value::Null] {
        let (harness, before) = claimed().await;
        harness.bucket.purge_raw(CLAIM);
        harness.merge(&format!("{WEB}/status"), json!({"status": status})).await;
        assert!(harness.revision(CLAIM).await.is_some());
        let revision = harness.revision("shop.web").await;
        harness.set_finalizers(&[FINALIZER]).await;
        assert_eq!(harness.revision("shop.web").await, revision, "nothing is left to write");
        harness.bucket.purge_raw("shop.web");
        expect_deleting(&harness, &before).await;
    }
}

#[tokio::test]
async fn a_claim_without_need_is_removed_with_the_next_write() {
    let (harness, _) = claimed().await;
    let claim = harness.stored(CLAIM).await;
    harness.set_finalizers(&[]).await;
    harness.bucket.put_raw(CLAIM, claim.to_string());
    harness.set_finalizers(&[]).await;
    assert_eq!(harness.revision(CLAIM).await, None);
}

#[tokio::test]
async fn a_claim_without_finalizers_protects_nothing() {
    let harness = Harness::new();
    let claim = json!({"metadata": {"uid": "a"}, "spec": {}}).to_string();
    harness.bucket.put(CLAIM, claim.into_bytes(), Expected::Absent).await.unwrap();
    assert_eq!(harness.get(WEB).await.0, 404);
    assert_eq!(harness.get(APPS).await.1["items"], json!([]));
}

#[tokio::test]
async fn a_claim_that_protects_nothing_is_replaced_by_one_that_does() {
    for claim in [r#"{"metadata": {"uid": "a"}, "spec": {}}"#, "no json"] {
        let harness = Harness::new();
        harness.bucket.put_raw(CLAIM, claim);
        harness.create(&web(json!({"image": "a"}))).await;
        let before = harness.set_finalizers(&[FINALIZER]).await;
        harness.bucket.delete_raw("shop.web");
        expect_deleting(&harness, &before).await;
        finish(&harness).await;
        harness.bucket.put_raw(CLAIM, claim);
        let mut object = web(json!({}));
        object["metadata"]["finalizers"] = json!([FINALIZER]);
        let created = harness.create(&object).await;
        harness.bucket.delete_raw("shop.web");
        expect_deleting(&harness, &created).await;
    }
}

#[tokio::test]
async fn a_value_without_finalizers_does_not_end_a_deletion() {
    let (harness, before) = claimed().await;
    let copy = |mut value: Value| {
        value["metadata"].as_object_mut().unwrap().remove("finalizers");
        value.to_string()
    };
    let plain = copy(harness.stored("shop.web").await);
    harness.delete(WEB).await;
    let deleted = copy(harness.stored("shop.web").await);
    for value in [plain, deleted] {
        harness.bucket.put_raw("shop.web", value);
        expect_deleting(&harness, &before).await;
        // The write of a status keeps the object, too.
        let (code, object) = harness.merge(&format!("{WEB}/status"), json!({"status": {"phase": "Ending"}})).await;
        assert_eq!((code, &object["metadata"]["finalizers"]), (200, &json!([FINALIZER])));
    }
    finish(&harness).await;
}

#[tokio::test]
async fn an_invalid_value_ends_with_its_object() {
    for (is_own, left) in [(true, 404), (false, 503)] {
        let (harness, before) = claimed().await;
        let mut events = watch(&harness).await;
        let mut value = json!({"metadata": {"uid": before["metadata"]["uid"]}, "spec": {"replicas": 99}});
        if !is_own {
            value["metadata"] = json!({});
        }
        harness.bucket.put_raw("shop.web", value.to_string());
        events.expect(&[("MODIFIED", "web")]).await;
        harness.delete(WEB).await;
        expect_deleting(&harness, &before).await;
        harness.set_finalizers(&[]).await;
        while events.next_name().await.0 != "DELETED" {}
        assert_eq!((harness.get(WEB).await.0, harness.revision(CLAIM).await), (left, None));
        assert_eq!(harness.get(APPS).await.1["items"], json!([]));
    }
}

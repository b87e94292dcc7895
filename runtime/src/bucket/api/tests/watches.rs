//! Tests watches of objects in buckets: where a watch starts, how it selects objects, its bookmarks, and its expiry with status 410.

use super::harness::{FINALIZER, Harness, WEB, labeled, web};
use serde_json::{Value, json};

fn code(event: &Value) -> (&str, u64) {
    (event["type"].as_str().unwrap(), event["object"]["code"].as_u64().unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn a_watch_shows_the_changes_after_its_version() {
    let harness = Harness::new();
    harness.create(&web(json!({"image": "a"}))).await;
    let version = harness.list_version().await;
    let (_, changed) = harness.merge(WEB, json!({"spec": {"image": "b"}})).await;
    let mut events = harness.watch(&format!("resourceVersion={version}")).await;
    assert_eq!(events.next().await.unwrap(), json!({"type": "MODIFIED", "object": changed}));
    harness.delete(WEB).await;
    let event = events.next().await.unwrap();
    let metadata = &event["object"]["metadata"];
    assert_eq!((&event["type"], &metadata["uid"]), (&json!("DELETED"), &changed["metadata"]["uid"]));
    assert_eq!((&metadata["resourceVersion"], &event["object"]["kind"]), (&json!("3"), &json!("WebApp")));
    // Objects of other namespaces are not watched.
    harness.bucket.put_raw("blog.a", r#"{"spec": {}}"#);
    harness.bucket.put_raw("shop.b", r#"{"spec": {}}"#);
    events.expect(&[("ADDED", "b")]).await;
}

#[tokio::test(start_paused = true)]
async fn objects_enter_and_leave_a_selection() {
    let harness = Harness::new();
    let version = harness.list_version().await;
    harness.create(&labeled("a", json!({"app": "web"}))).await;
    harness.create(&labeled("b", json!({"app": "db"}))).await;
    let mut events = harness.watch(&format!("resourceVersion={version}&labelSelector=app%3Dweb")).await;
    events.expect(&[("ADDED", "a")]).await;
    let label = async |name: &str, value: &str| {
        let uri = format!("{}/{name}", super::harness::APPS);
        assert_eq!(harness.merge(&uri, json!({"metadata": {"labels": {"app": value}}})).await.0, 200);
        // A watch may leave out the states between two reads; a list waits until the view has this one.
        harness.list_version().await;
    };
    label("b", "web").await;
    label("a", "db").await;
    label("a", "other").await;
    label("b", "web").await;
    harness.delete(&format!("{}/b", super::harness::APPS)).await;
    events.expect(&[("ADDED", "b"), ("DELETED", "a"), ("DELETED", "b")]).await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_begins_with_the_current_objects() {
    let harness = Harness::new();
    harness.create(&labeled("a", json!({"app": "web"}))).await;
    harness.create(&labeled("b", json!({}))).await;
    for query in [
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
        "allowWatchBookmarks=true&resourceVersion=0",
        "allowWatchBookmarks=1&resourceVersion=",
    ] {
        let mut events = harness.watch(query).await;
        events.expect(&[("ADDED", "a"), ("ADDED", "b")]).await;
        let bookmark = events.next().await.unwrap();
        let metadata = &bookmark["object"]["metadata"];
        assert_eq!((&bookmark["type"], &metadata["resourceVersion"]), (&json!("BOOKMARK"), &json!("2")), "{query}");
        assert_eq!(metadata["annotations"]["k8s.io/initial-events-end"], "true");
    }
    let mut events = harness.watch("fieldSelector=metadata.name%3Db").await;
    events.expect(&[("ADDED", "b")]).await;
    harness.create(&labeled("c", json!({}))).await;
    harness.delete(&format!("{}/b", super::harness::APPS)).await;
    events.expect(&[("DELETED", "b")]).await;
}

#[tokio::test(start_paused = true)]
async fn a_quiet_watch_sends_bookmarks_until_its_time_is_over() {
    let harness = Harness::new();
    harness.create(&web(json!({}))).await;
    let mut events = harness.watch("resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=150").await;
    for _ in 0..2 {
        let event = events.next().await.unwrap();
        assert_eq!(
            (&event["type"], &event["object"]["metadata"]["resourceVersion"]),
            (&json!("BOOKMARK"), &json!("1"))
        );
    }
    assert_eq!(events.next().await, None);
    let mut events = harness.watch("resourceVersion=1&timeoutSeconds=150").await;
    assert_eq!(events.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_not_kept_is_expired() {
    let harness = Harness::new();
    for _ in 0..3 {
        harness.bucket.put_raw("shop.web", r#"{"spec": {}}"#);
    }
    harness.list_version().await;
    let mut events = harness.watch("resourceVersion=2").await;
    assert_eq!(code(&events.next().await.unwrap()), ("ERROR", 410));
    assert_eq!(events.next().await, None);
    // A version of the future waits.
    let mut events = harness.watch("resourceVersion=5").await;
    for image in ["a", "b", "c"] {
        harness.bucket.put_raw("shop.web", json!({"spec": {"image": image}}).to_string());
        // The view sees each of the values.
        harness.list_version().await;
    }
    assert_eq!(events.next().await.unwrap()["object"]["spec"]["image"], "c");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_reads_too_slowly_is_expired() {
    let harness = Harness::new();
    let version = harness.list_version().await;
    let mut slow = harness.watch(&format!("resourceVersion={version}")).await;
    let mut quick = harness.watch(&format!("resourceVersion={version}")).await;
    for number in 0..1030 {
        harness.bucket.put_raw("shop.web", json!({"spec": {"image": number.to_string()}}).to_string());
        assert_eq!(quick.next_name().await.1, "web");
    }
    assert_eq!(code(&slow.next().await.unwrap()), ("ERROR", 410));
    assert_eq!(slow.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_gap_without_changes_is_no_end_of_a_watch() {
    let harness = Harness::new();
    harness.create(&web(json!({}))).await;
    let claimed = harness.set_finalizers(&[FINALIZER]).await;
    let version = harness.list_version().await;
    let mut events = harness.watch(&format!("resourceVersion={version}")).await;
    harness.bucket.interrupt();
    // The view lists the entries again.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let mut resumed = harness.watch(&format!("resourceVersion={version}")).await;
    harness.merge(WEB, json!({"spec": {"image": "b"}})).await;
    for events in [&mut events, &mut resumed] {
        let event = events.next().await.unwrap();
        assert_eq!(
            (&event["type"], &event["object"]["metadata"]["uid"]),
            (&json!("MODIFIED"), &claimed["metadata"]["uid"])
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_gap_with_lost_changes_expires_all_watches() {
    let harness = Harness::new();
    harness.create(&labeled("a", json!({}))).await;
    harness.create(&labeled("b", json!({}))).await;
    let version = harness.list_version().await;
    let mut events = harness.watch(&format!("resourceVersion={version}")).await;
    harness.bucket.delete_raw("shop.b");
    harness.bucket.compact();
    harness.bucket.interrupt();
    let event = events.next().await.unwrap();
    assert_eq!(event["type"], "ERROR", "{event}");
    // The list has a version from which a watch goes on.
    let version = harness.list_version().await;
    let mut events = harness.watch(&format!("resourceVersion={version}")).await;
    harness.create(&labeled("c", json!({}))).await;
    events.expect(&[("ADDED", "c")]).await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_of_metadata_has_nothing_else() {
    let harness = Harness::new();
    harness.create(&web(json!({}))).await;
    let accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let mut events = harness.watch_as("", accept).await;
    for event_type in ["ADDED", "MODIFIED", "DELETED"] {
        match event_type {
            "MODIFIED" => assert_eq!(harness.merge(WEB, json!({"spec": {"image": "b"}})).await.0, 200),
            "DELETED" => assert_eq!(harness.delete(WEB).await.0, 200),
            _ => {}
        }
        let event = events.next().await.unwrap();
        assert_eq!((&event["type"], &event["object"]["kind"]), (&json!(event_type), &json!("PartialObjectMetadata")));
        assert_eq!((event["object"].get("spec"), &event["object"]["metadata"]["name"]), (None, &json!("web")));
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_api_is_the_end_of_its_watches() {
    let harness = Harness::new();
    let mut events = harness.watch("").await;
    drop(harness);
    assert_eq!(events.next().await, None);
}

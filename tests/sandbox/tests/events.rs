//! Tests that Events written in one of their two API groups are read in the other.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::fixture::Fixture;
use serde_json::{Value, json};

const CORE: &str = "/api/v1/namespaces/default/events";
const OTHER: &str = "/apis/events.k8s.io/v1/namespaces/default/events";

fn without_metadata(mut event: Value) -> Value {
    event.as_object_mut().unwrap().remove("metadata");
    event
}

#[tokio::test(start_paused = true)]
async fn what_is_written_in_one_form_is_read_in_the_other() {
    let scene = Fixture::new();
    let object =
        json!({"kind": "Pod", "namespace": "default", "name": "x", "uid": "u", "apiVersion": "v1", "fieldPath": "a"});
    let event = json!({
        "metadata": {"name": "c1"}, "involvedObject": object, "reason": "R", "message": "M",
        "source": {"component": "comp", "host": "h"}, "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:01:00Z", "count": 3, "type": "Normal",
    });
    let made = scene.create(CORE, event).await;
    let other = scene.get(&format!("{OTHER}/c1")).await;
    assert_eq!(other["metadata"]["uid"], made["metadata"]["uid"]);
    assert_eq!(
        without_metadata(other),
        json!({"kind": "Event", "apiVersion": "events.k8s.io/v1", "eventTime": null, "reason": "R", "regarding": object,
               "note": "M", "type": "Normal", "deprecatedSource": {"component": "comp", "host": "h"},
               "deprecatedFirstTimestamp": "2026-01-01T00:00:00Z", "deprecatedLastTimestamp": "2026-01-01T00:01:00Z",
               "deprecatedCount": 3})
    );

    let (object, node) =
        (json!({"kind": "Pod", "namespace": "default", "name": "x"}), json!({"kind": "Node", "name": "n"}));
    let series = json!({"count": 2, "lastObservedTime": "2026-01-01T00:00:00.123456Z"});
    let event = json!({
        "metadata": {"name": "e1"}, "eventTime": "2026-01-01T00:00:00.123456Z", "reportingController": "a.b/c",
        "reportingInstance": "i", "action": "Do", "reason": "R", "regarding": object, "related": node, "note": "N",
        "type": "Warning", "series": series,
    });
    scene.create(OTHER, event).await;
    let core = json!({
        "kind": "Event", "apiVersion": "v1", "involvedObject": object, "reason": "R", "message": "N", "source": {},
        "firstTimestamp": null, "lastTimestamp": null, "type": "Warning", "eventTime": "2026-01-01T00:00:00.123456Z",
        "series": series, "action": "Do", "related": node, "reportingComponent": "a.b/c", "reportingInstance": "i",
    });
    assert_eq!(without_metadata(scene.get(&format!("{CORE}/e1")).await), core);
    scene.done("PATCH", &format!("{CORE}/e1"), json!({"message": "changed"})).await;
    let list = scene.get(OTHER).await;
    assert_eq!((&list["items"][1]["note"], &list["items"][1]["message"]), (&json!("changed"), &Value::Null));
    scene.done("DELETE", &format!("{OTHER}/e1"), Value::Null).await;
    assert!(scene.is_gone(&format!("{CORE}/e1")).await);
}

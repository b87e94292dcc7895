//! Tests of built-in kinds with two versions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

use opgen_sandbox::Sandbox;
use serde_json::{Value, json};

use crate::admin_client::{prepare, send};

const OLD: &str = "/api/v1/namespaces/d-try/events";
const NEW: &str = "/apis/events.k8s.io/v1/namespaces/d-try/events";

fn without_metadata(mut object: Value) -> Value {
    object.as_object_mut().unwrap().remove("metadata");
    object
}

#[tokio::test(start_paused = true)]
async fn an_event_is_read_in_both_of_its_forms() {
    let sandbox = Sandbox::builder().seed(1).start();
    prepare(&sandbox).await;
    let old = json!({
        "metadata": {"name": "e1"}, "reason": "R", "message": "m", "type": "Normal", "count": 2,
        "involvedObject": {"kind": "Pod", "namespace": "d-try", "name": "p", "apiVersion": "v1"},
        "firstTimestamp": "2026-01-01T01:00:00Z", "source": {"component": "c", "host": "h"},
    });
    assert_eq!(send(&sandbox, "POST", OLD, &old).await.0, 201);
    let (_, seen) = send(&sandbox, "GET", &format!("{NEW}/e1"), &Value::Null).await;
    let expected = json!({
        "kind": "Event", "apiVersion": "events.k8s.io/v1", "eventTime": null, "reason": "R", "note": "m",
        "regarding": {"kind": "Pod", "namespace": "d-try", "name": "p", "apiVersion": "v1"}, "type": "Normal",
        "deprecatedSource": {"component": "c", "host": "h"}, "deprecatedFirstTimestamp": "2026-01-01T01:00:00Z",
        "deprecatedLastTimestamp": null, "deprecatedCount": 2,
    });
    assert_eq!(without_metadata(seen), expected);

    let new = json!({
        "metadata": {"name": "e2"}, "regarding": {"kind": "Pod", "namespace": "d-try", "name": "p"}, "reason": "R",
        "note": "m", "type": "Normal", "eventTime": "2026-01-01T01:00:00.000000Z", "action": "a",
        "reportingController": "a.b/c", "reportingInstance": "i",
    });
    assert_eq!(send(&sandbox, "POST", NEW, &new).await.0, 201);
    let (_, seen) = send(&sandbox, "GET", OLD, &Value::Null).await;
    let expected = json!({
        "involvedObject": {"kind": "Pod", "namespace": "d-try", "name": "p"}, "reason": "R", "message": "m",
        "source": {}, "firstTimestamp": null, "lastTimestamp": null, "type": "Normal", "action": "a",
        "eventTime": "2026-01-01T01:00:00.000000Z", "reportingComponent": "a.b/c", "reportingInstance": "i",
    });
    let mut second = without_metadata(seen["items"][1].clone());
    for type_ in ["apiVersion", "kind"] {
        second.as_object_mut().unwrap().remove(type_);
    }
    assert_eq!(second, expected);
    let (_, listed) = send(&sandbox, "GET", NEW, &Value::Null).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
    let changed = send(&sandbox, "PATCH", &format!("{OLD}/e2"), &json!({"message": "other"})).await;
    assert_eq!(changed.0, 200);
    let (_, seen) = send(&sandbox, "GET", &format!("{NEW}/e2"), &Value::Null).await;
    assert_eq!((&seen["note"], &seen["regarding"]["name"]), (&json!("other"), &json!("p")));
}

#[tokio::test(start_paused = true)]
async fn an_autoscaler_keeps_its_metrics_in_the_older_form() {
    let sandbox = Sandbox::builder().seed(1).start();
    prepare(&sandbox).await;
    let path = |version: &str| format!("/apis/autoscaling/{version}/namespaces/d-try/horizontalpodautoscalers");
    let target = json!({"kind": "Deployment", "name": "x", "apiVersion": "apps/v1"});
    let memory = json!({"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "100Mi"}}});
    let processor = json!({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}});
    let absolute = json!({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "2"}}});
    let metrics = json!([processor, memory, absolute]);
    let autoscaler =
        json!({"metadata": {"name": "h"}, "spec": {"scaleTargetRef": target, "maxReplicas": 3, "metrics": metrics}});
    assert_eq!(send(&sandbox, "POST", &path("v2"), &autoscaler).await.0, 201);
    let older = format!("{}/h", path("v1"));
    let (_, seen) = send(&sandbox, "GET", &older, &Value::Null).await;
    let expected =
        json!({"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 3, "targetCPUUtilizationPercentage": 50});
    assert_eq!(seen["spec"], expected);
    assert_eq!(seen["status"], json!({"currentReplicas": 0, "desiredReplicas": 0}));
    let (code, _) = send(&sandbox, "PATCH", &older, &json!({"spec": {"maxReplicas": 4}})).await;
    assert_eq!(code, 200);
    let (_, seen) = send(&sandbox, "GET", &format!("{}/h", path("v2")), &Value::Null).await;
    let metrics = json!([memory, absolute, processor]);
    assert_eq!((&seen["spec"]["maxReplicas"], &seen["spec"]["metrics"]), (&json!(4), &metrics));
}

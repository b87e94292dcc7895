//! Built-in kinds that are served in two forms: events, and autoscalers.

use serde_json::{Map, Value, json};

use crate::object;

/// What the fields of an event are called in `v1` and in `events.k8s.io/v1`.
const EVENT: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];
/// What `v1` writes even if it is empty.
const WRITTEN_EMPTY: [&str; 2] = ["reportingComponent", "reportingInstance"];

/// Turns an object of one of these kinds from the form it has into another.
pub(super) fn convert(from: &str, to: &str, object: &mut Value) {
    let Value::Object(fields) = object else { return };
    match (from, to) {
        ("v1", "events.k8s.io/v1") => {
            EVENT.iter().for_each(|(old, new)| rename(fields, old, new));
            for empty in ["reportingController", "reportingInstance"] {
                if fields.get(empty).is_some_and(|value| value == "") {
                    fields.remove(empty);
                }
            }
        }
        ("events.k8s.io/v1", "v1") => {
            EVENT.iter().for_each(|(old, new)| rename(fields, new, old));
            for empty in WRITTEN_EMPTY {
                fields.entry(empty).or_insert_with(|| "".into());
            }
        }
        ("autoscaling/v2", "autoscaling/v1") => to_one_target(object),
        ("autoscaling/v1", "autoscaling/v2") => to_metrics(object),
        _ => {}
    }
}

fn rename(fields: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = fields.remove(from) {
        fields.insert(to.to_owned(), value);
    }
}

/// `autoscaling/v1` knows the use of the processor alone; what else is measured waits in an annotation.
const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

fn to_one_target(autoscaler: &mut Value) {
    let Some(Value::Object(spec)) = autoscaler.get_mut("spec") else { return };
    let metrics = spec.remove("metrics").and_then(|metrics| metrics.as_array().cloned()).unwrap_or_default();
    let behavior = spec.remove("behavior");
    let mut others = Vec::new();
    for metric in metrics {
        match use_of_processor(&metric) {
            Some(percent) => drop(spec.insert("targetCPUUtilizationPercentage".into(), percent.into())),
            None => others.push(metric),
        }
    }
    let status = object::map_at(autoscaler, &["status"]);
    ["currentMetrics", "conditions"].into_iter().for_each(|part| drop(status.remove(part)));
    status.entry("currentReplicas").or_insert_with(|| 0.into());
    let annotations = object::map_at(autoscaler, &["metadata", "annotations"]);
    if !others.is_empty() {
        annotations.insert(METRICS.into(), Value::from(others).to_string().into());
    }
    if let Some(behavior) = behavior {
        annotations.insert(BEHAVIOR.into(), behavior.to_string().into());
    }
    if annotations.is_empty() {
        object::metadata_mut(autoscaler).remove("annotations");
    }
}

fn use_of_processor(metric: &Value) -> Option<i64> {
    let processor = object::text(metric, &["resource", "name"]) == "cpu";
    object::number(metric, &["resource", "target", "averageUtilization"]).filter(|_| processor)
}

fn to_metrics(autoscaler: &mut Value) {
    let mut noted = |key: &str| {
        let annotations = object::map_at(autoscaler, &["metadata", "annotations"]);
        let text = annotations.remove(key)?;
        serde_json::from_str::<Value>(text.as_str()?).ok()
    };
    let (others, behavior) = (noted(METRICS), noted(BEHAVIOR));
    if object::map_at(autoscaler, &["metadata", "annotations"]).is_empty() {
        object::metadata_mut(autoscaler).remove("annotations");
    }
    let Some(Value::Object(spec)) = autoscaler.get_mut("spec") else { return };
    let percent = spec.remove("targetCPUUtilizationPercentage");
    let target = |percent: Value| json!({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": percent}}});
    let mut metrics: Vec<Value> = percent.map(target).into_iter().collect();
    metrics.extend(others.and_then(|others| others.as_array().cloned()).unwrap_or_default());
    if !metrics.is_empty() {
        spec.insert("metrics".into(), metrics.into());
    }
    if let Some(behavior) = behavior {
        spec.insert("behavior".into(), behavior);
    }
}

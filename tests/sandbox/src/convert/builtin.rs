//! Converts Events and HorizontalPodAutoscalers between their versions.

use serde_json::{Map, Value, json};

use crate::{
    kind::Kind,
    object::{at, map_at, number},
};

/// The fields that core Events and Events of `events.k8s.io` name differently: the core name, then the new name.
const EVENT_FIELDS: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

/// Converts an object that is stored in another version to the version of `kind`. Does nothing for kinds whose versions don't differ.
pub(super) fn convert(object: &mut Value, kind: &Kind) {
    let Value::Object(fields) = object else { return };
    match (kind.group.as_str(), kind.version.as_str(), kind.kind.as_str()) {
        ("", "v1", "Event") => to_core_event(fields),
        ("events.k8s.io", "v1", "Event") => to_event(fields),
        ("autoscaling", "v1", "HorizontalPodAutoscaler") => to_autoscaler_v1(object),
        ("autoscaling", "v2", "HorizontalPodAutoscaler") => to_autoscaler_v2(object),
        _ => {}
    }
}

/// Converts an Event of `events.k8s.io` to the core group. Adds the fields that Kubernetes always encodes in core Events, even if empty.
fn to_core_event(fields: &mut Map<String, Value>) {
    for (core, new) in EVENT_FIELDS {
        rename_field(fields, new, core);
    }
    for (name, empty) in [
        ("source", json!({})),
        ("firstTimestamp", Value::Null),
        ("lastTimestamp", Value::Null),
        ("eventTime", Value::Null),
        ("reportingComponent", json!("")),
        ("reportingInstance", json!("")),
    ] {
        fields.entry(name).or_insert(empty);
    }
}

/// Converts an Event of the core group to `events.k8s.io`. Removes the empty texts that Kubernetes encodes in core Events only, and adds
/// the fields that it encodes in the new ones even if they are empty.
fn to_event(fields: &mut Map<String, Value>) {
    for (core, new) in EVENT_FIELDS {
        rename_field(fields, core, new);
    }
    for name in ["note", "reportingController", "reportingInstance"] {
        if fields.get(name).is_some_and(|text| *text == "") {
            fields.remove(name);
        }
    }
    for (name, empty) in [
        ("eventTime", Value::Null),
        ("deprecatedSource", json!({})),
        ("deprecatedFirstTimestamp", Value::Null),
        ("deprecatedLastTimestamp", Value::Null),
    ] {
        fields.entry(name).or_insert(empty);
    }
}

/// Renames a field, if it exists.
fn rename_field(fields: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = fields.remove(from) {
        fields.insert(to.to_owned(), value);
    }
}

/// The annotation that holds the metrics other than CPU, which `autoscaling/v1` has no field for.
const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
/// The annotation that holds the behavior, which `autoscaling/v1` has no field for.
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// Converts a HorizontalPodAutoscaler from `autoscaling/v2` to `autoscaling/v1`. The target and current CPU utilization move to fields of
/// their own, other metrics of the spec and the behavior to annotations, in the form of `autoscaling/v2`. Other current metrics and the
/// conditions are dropped. The API server writes these to annotations as well, and metrics in the form of `autoscaling/v1`.
fn to_autoscaler_v1(object: &mut Value) {
    let is_cpu = |metric: &Value| metric["resource"]["name"] == "cpu";
    let usage = |metric: Option<&Value>, part: &str| number(metric?, &["resource", part, "averageUtilization"]);
    let items = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let is_cpu_usage = |metric: &Value| is_cpu(metric) && usage(Some(metric), "target").is_some();
    let (cpu, others): (Vec<_>, Vec<_>) = items(&object["spec"]["metrics"]).into_iter().partition(is_cpu_usage);
    let current_metrics = items(&object["status"]["currentMetrics"]);
    let current_cpu = usage(current_metrics.iter().find(|metric| is_cpu(metric)), "current");
    let mut annotations: Vec<(&str, Value)> = Vec::new();
    if !others.is_empty() {
        annotations.push((METRICS, others.into()));
    }
    if let Some(Value::Object(spec)) = object.get_mut("spec") {
        spec.remove("metrics");
        annotations.extend(spec.remove("behavior").map(|behavior| (BEHAVIOR, behavior)));
        let target_cpu = usage(cpu.first(), "target");
        spec.extend(target_cpu.map(|target_cpu| ("targetCPUUtilizationPercentage".to_owned(), target_cpu.into())));
    }
    for (annotation, value) in annotations {
        map_at(object, &["metadata", "annotations"]).insert(annotation.into(), value.to_string().into());
    }
    if let Some(Value::Object(status)) = object.get_mut("status") {
        ["currentMetrics", "conditions"].into_iter().for_each(|field| drop(status.remove(field)));
        status.entry("currentReplicas").or_insert_with(|| 0.into());
        status
            .extend(current_cpu.map(|current_cpu| ("currentCPUUtilizationPercentage".to_owned(), current_cpu.into())));
    }
}

/// Removes an annotation and returns its value, parsed as JSON; `None` if the annotation does not exist or its value is not JSON.
fn take_annotation(object: &mut Value, annotation: &str) -> Option<Value> {
    let annotations = object.get_mut("metadata")?.get_mut("annotations")?.as_object_mut()?;
    let text = annotations.remove(annotation)?;
    if annotations.is_empty() {
        map_at(object, &["metadata"]).remove("annotations");
    }
    serde_json::from_str(text.as_str()?).ok()
}

/// Converts a HorizontalPodAutoscaler from `autoscaling/v1` to `autoscaling/v2`. The CPU utilization becomes a metric; other metrics and
/// the behavior come from the annotations that [`to_autoscaler_v1`] writes.
fn to_autoscaler_v2(object: &mut Value) {
    // Returns a list with the CPU metric; `part` is `target` or `current`.
    let cpu = |part: &str, usage: i64| {
        let value = if part == "target" {
            json!({"type": "Utilization", "averageUtilization": usage})
        } else {
            json!({"averageUtilization": usage, "averageValue": "0"})
        };
        json!([{"type": "Resource", "resource": {"name": "cpu", part: value}}])
    };
    let (others, behavior) = (take_annotation(object, METRICS), take_annotation(object, BEHAVIOR));
    let target_cpu = number(object, &["spec", "targetCPUUtilizationPercentage"]);
    let current_cpu = number(object, &["status", "currentCPUUtilizationPercentage"]);
    if let Some(Value::Object(spec)) = object.get_mut("spec") {
        spec.remove("targetCPUUtilizationPercentage");
        let metrics = [others, target_cpu.map(|target_cpu| cpu("target", target_cpu))].into_iter().flatten();
        let metrics: Vec<Value> = metrics.filter_map(|list| list.as_array().cloned()).flatten().collect();
        if !metrics.is_empty() {
            spec.insert("metrics".to_owned(), metrics.into());
        }
        spec.extend(behavior.map(|behavior| ("behavior".to_owned(), behavior)));
    }
    let has_no_replicas = at(object, &["status", "currentReplicas"]).is_some_and(|replicas| *replicas == 0);
    if let Some(Value::Object(status)) = object.get_mut("status") {
        status.remove("currentCPUUtilizationPercentage");
        // `autoscaling/v1` always encodes this field, `autoscaling/v2` only if it is not 0.
        if has_no_replicas {
            status.remove("currentReplicas");
        }
        status.insert(
            "currentMetrics".to_owned(),
            current_cpu.map_or(Value::Null, |current_cpu| cpu("current", current_cpu)),
        );
    }
}

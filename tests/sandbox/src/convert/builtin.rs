//! Converts built-in kinds that have more than one version: Events and HorizontalPodAutoscalers.

use serde_json::{Map, Value, json};

use crate::{
    kind::Kind,
    object::{at, map_at, number},
};

/// The field names of core Events and of Events of `events.k8s.io`.
const EVENT_FIELDS: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

/// Converts an object of another version to this kind.
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

fn to_core_event(fields: &mut Map<String, Value>) {
    for (core, new) in EVENT_FIELDS {
        rename(fields, new, core);
    }
    for (name, nothing) in [
        ("source", json!({})),
        ("firstTimestamp", Value::Null),
        ("lastTimestamp", Value::Null),
        ("eventTime", Value::Null),
        ("reportingComponent", json!("")),
        ("reportingInstance", json!("")),
    ] {
        fields.entry(name).or_insert(nothing);
    }
}

fn to_event(fields: &mut Map<String, Value>) {
    for (core, new) in EVENT_FIELDS {
        rename(fields, core, new);
    }
    for name in ["note", "reportingController", "reportingInstance"] {
        if fields.get(name).is_some_and(|text| *text == "") {
            fields.remove(name);
        }
    }
    for (name, nothing) in [
        ("eventTime", Value::Null),
        ("deprecatedSource", json!({})),
        ("deprecatedFirstTimestamp", Value::Null),
        ("deprecatedLastTimestamp", Value::Null),
    ] {
        fields.entry(name).or_insert(nothing);
    }
}

fn rename(fields: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = fields.remove(from) {
        fields.insert(to.to_owned(), value);
    }
}

/// The annotations that hold the metrics and behavior that `autoscaling/v1` has no fields for: it has only the CPU
/// metric.
const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

fn to_autoscaler_v1(object: &mut Value) {
    let is_cpu = |metric: &Value| metric["resource"]["name"] == "cpu";
    let usage = |metric: Option<&Value>, part: &str| number(metric?, &["resource", part, "averageUtilization"]);
    let listed = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let (cpu, others): (Vec<_>, Vec<_>) = listed(&object["spec"]["metrics"]).into_iter().partition(is_cpu);
    let measured = listed(&object["status"]["currentMetrics"]);
    let is = usage(measured.iter().find(|metric| is_cpu(metric)), "current");
    let mut waiting: Vec<(&str, Value)> = Vec::new();
    if !others.is_empty() {
        waiting.push((METRICS, others.into()));
    }
    if let Some(Value::Object(spec)) = object.get_mut("spec") {
        spec.remove("metrics");
        waiting.extend(spec.remove("behavior").map(|behavior| (BEHAVIOR, behavior)));
        let wanted = usage(cpu.first(), "target");
        spec.extend(wanted.map(|wanted| ("targetCPUUtilizationPercentage".to_owned(), wanted.into())));
    }
    for (annotation, value) in waiting {
        map_at(object, &["metadata", "annotations"]).insert(annotation.into(), value.to_string().into());
    }
    if let Some(Value::Object(status)) = object.get_mut("status") {
        ["currentMetrics", "conditions"].into_iter().for_each(|field| drop(status.remove(field)));
        status.entry("currentReplicas").or_insert_with(|| 0.into());
        status.extend(is.map(|is| ("currentCPUUtilizationPercentage".to_owned(), is.into())));
    }
}

/// Removes an annotation and returns its parsed value.
fn waiting(object: &mut Value, annotation: &str) -> Option<Value> {
    let annotations = object.get_mut("metadata")?.get_mut("annotations")?.as_object_mut()?;
    let text = annotations.remove(annotation)?;
    if annotations.is_empty() {
        map_at(object, &["metadata"]).remove("annotations");
    }
    serde_json::from_str(text.as_str()?).ok()
}

fn to_autoscaler_v2(object: &mut Value) {
    let cpu = |part: &str, usage: i64| {
        let value = if part == "target" {
            json!({"type": "Utilization", "averageUtilization": usage})
        } else {
            json!({"averageUtilization": usage, "averageValue": "0"})
        };
        json!([{"type": "Resource", "resource": {"name": "cpu", part: value}}])
    };
    let (others, behavior) = (waiting(object, METRICS), waiting(object, BEHAVIOR));
    let wanted = number(object, &["spec", "targetCPUUtilizationPercentage"]);
    let is = number(object, &["status", "currentCPUUtilizationPercentage"]);
    if let Some(Value::Object(spec)) = object.get_mut("spec") {
        spec.remove("targetCPUUtilizationPercentage");
        let metrics = [wanted.map(|wanted| cpu("target", wanted)), others].into_iter().flatten();
        let metrics: Vec<Value> = metrics.filter_map(|some| some.as_array().cloned()).flatten().collect();
        if !metrics.is_empty() {
            spec.insert("metrics".to_owned(), metrics.into());
        }
        spec.extend(behavior.map(|behavior| ("behavior".to_owned(), behavior)));
    }
    let unset = at(object, &["status", "currentReplicas"]).is_some_and(|replicas| *replicas == 0);
    if let Some(Value::Object(status)) = object.get_mut("status") {
        status.remove("currentCPUUtilizationPercentage");
        if unset {
            status.remove("currentReplicas");
        }
        status.insert("currentMetrics".to_owned(), is.map_or(Value::Null, |is| cpu("current", is)));
    }
}

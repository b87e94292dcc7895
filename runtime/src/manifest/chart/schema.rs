//! Generates `values.schema.json`, by which Helm refuses values that the chart does not have.

use super::options;
use crate::manifest::{finalizer_policy, json, project::Project};
use serde_json::{Value, json};

/// Returns the JSON Schema of the chart's values. It refuses values of features that the operator doesn't have.
pub(super) fn document(project: &Project) -> Value {
    let mut properties = json!({
        "affinity": {"type": "object"},
        "args": list(&text()),
        "config": options::schema(project),
        "crds": object(json!({"install": flag(), "keep": flag()})),
        "enabled": described(flag(), "The condition of a chart that depends on this one."),
        "env": list(&json!({"type": "object"})),
        "fullnameOverride": text(),
        "global": described(json!({"type": "object"}), "The values that a chart shares with those it depends on."),
        "image": object(json!({
            "digest": text(),
            "pullPolicy": {"enum": ["Always", "IfNotPresent", "Never"]},
            "repository": {"minLength": 1, "type": "string"},
            "tag": text(),
        })),
        "imagePullSecrets": list(&json!({"type": "object"})),
        "monitoring": object(json!({
            "dashboard": object(json!({"enabled": flag(), "labels": texts()})),
            "metricsReader": list(&json!({"type": "object"})),
            "prometheusRule": object(json!({"enabled": flag(), "labels": texts()})),
            "serviceMonitor": object(json!({"enabled": flag(), "labels": texts()})),
        })),
        "networkPolicy": object(json!({
            "egress": list(&json!({"type": "object"})),
            "enabled": flag(),
            "metricsFrom": list(&json!({"type": "object"})),
        })),
        "nodeSelector": texts(),
        "podAnnotations": texts(),
        "podDisruptionBudget": object(json!({"enabled": flag()})),
        "podLabels": texts(),
        "podSecurityContext": {"type": "object"},
        "priorityClassName": text(),
        "rbac": object(json!({"aggregate": flag(), "create": flag()})),
        "replicas": {"minimum": 0, "type": "integer"},
        "resources": {"type": "object"},
        "securityContext": {"type": "object"},
        "serviceAccount": object(json!({"annotations": texts(), "create": flag(), "name": text()})),
        "terminationGracePeriodSeconds": {"minimum": 0, "type": "integer"},
        "tolerations": list(&json!({"type": "object"})),
        "topologySpread": object(json!({"enabled": flag()})),
        "volumeMounts": list(&json!({"type": "object"})),
        "volumes": list(&json!({"type": "object"})),
    });
    if !finalizer_policy::documents(project).is_empty() {
        properties["finalizerPolicy"] = object(json!({"enabled": flag()}));
    }
    if !project.buckets().is_empty() {
        properties["nats"] = object(json!({"credentialsSecret": text(), "url": text()}));
    }
    if project.has_webhooks() {
        properties["webhooks"] = object(json!({"certManager": flag()}));
    }
    let mut schema = object(properties);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(format!("Values of the chart {}", project.name));
    described(schema, json::description())
}

fn flag() -> Value {
    json!({"type": "boolean"})
}

fn text() -> Value {
    json!({"type": "string"})
}

/// Returns the schema of labels and annotations.
fn texts() -> Value {
    json!({"additionalProperties": text(), "type": "object"})
}

fn list(item: &Value) -> Value {
    json!({"items": item, "type": "array"})
}

/// Returns the schema of an object with these fields and no others.
fn object(properties: Value) -> Value {
    json!({"additionalProperties": false, "properties": properties, "type": "object"})
}

fn described(mut schema: Value, description: &str) -> Value {
    schema["description"] = json!(description);
    schema
}

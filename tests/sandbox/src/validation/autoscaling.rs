//! Validates HorizontalPodAutoscalers: replicas, metrics and behavior.

use super::{
    field::{Causes, Field},
    name::{self, NameRule},
    resources::validate_non_negative_quantity,
};

/// The types of metrics, each with the field that holds its source.
const SOURCES: [(&str, &str); 5] = [
    ("ContainerResource", "containerResource"),
    ("External", "external"),
    ("Object", "object"),
    ("Pods", "pods"),
    ("Resource", "resource"),
];
/// The types of metrics, as the message about an unknown type lists them.
const TYPES: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];

/// Validates the spec of a HorizontalPodAutoscaler (upstream: `validateHorizontalPodAutoscalerSpec`).
pub(super) fn validate_autoscaler(spec: &Field<'_>, causes: &mut Causes) {
    let (min, max) = (spec.child("minReplicas"), spec.child("maxReplicas"));
    if min.number().is_some_and(|min| min < 1) {
        min.invalid(causes, "must be greater than or equal to 1");
    }
    if max.number().unwrap_or(0) == 0 {
        max.required(causes, "must be set and greater than 0");
    } else if max.number().is_some_and(|max| max < 1) {
        max.invalid(causes, "must be greater than 0");
    }
    if min.number().unwrap_or(1) > max.number().unwrap_or(0) {
        max.invalid(causes, "must be greater than or equal to `minReplicas`");
    }
    validate_scale_target(&spec.child("scaleTargetRef"), causes);
    let metrics = spec.child("metrics");
    for metric in metrics.items() {
        validate_metric(&metric, causes);
    }
    // Metrics of Pods can't wake a workload without Pods, so scaling to zero requires another metric.
    if min.number() == Some(0) {
        let has_external_metric =
            metrics.items().any(|metric| matches!(metric.child("type").text(), "Object" | "External"));
        if !has_external_metric {
            metrics.forbidden(
                causes,
                "must specify at least one Object or External metric to support scaling to zero replicas",
            );
        }
    }
    for direction in ["scaleUp", "scaleDown"] {
        let rules = spec.nested(&["behavior", direction]);
        if rules.is_set() {
            validate_scaling_rules(&rules, causes);
        }
    }
}

/// Validates the reference to the scaled object (upstream: `ValidateCrossVersionObjectReference`).
fn validate_scale_target(target: &Field<'_>, causes: &mut Causes) {
    for key in ["kind", "name"] {
        let field = target.child(key);
        if field.is_empty() {
            field.required(causes, "");
        } else if let Some(detail) = name::violation(NameRule::Segment, field.text()) {
            field.invalid(causes, &detail);
        }
    }
    let version = target.child("apiVersion");
    if version.is_empty() {
        version.invalid_part(causes, "", "apiVersion must specify API group");
    } else if version.text().matches('/').count() > 1 {
        version.invalid(causes, &format!("unexpected GroupVersion string: {}", version.text()));
    }
}

/// Validates a metric: its type, and the source that the type requires (upstream: `validateMetricSpec`).
fn validate_metric(metric: &Field<'_>, causes: &mut Causes) {
    let type_ = metric.child("type");
    let Some((_, source)) = SOURCES.iter().find(|(known, _)| *known == type_.text()) else {
        if type_.is_empty() {
            type_.required(causes, "must specify a metric source type");
        } else {
            // The server reports an unknown type twice: as a type and as a type without a known source.
            type_.unsupported(causes, &TYPES);
            type_.unsupported(causes, &TYPES);
        }
        return;
    };
    let source = metric.child(source);
    if !source.is_set() {
        source.required(causes, &format!("must populate information for the given metric source \"{}\"", type_.text()));
        return;
    }
    match type_.text() {
        "Resource" | "ContainerResource" => source.child("name").require(causes, "must specify a resource name"),
        _ => source.nested(&["metric", "name"]).require(causes, ""),
    }
    validate_metric_target(&source.child("target"), type_.text(), causes);
}

/// Validates the target of a metric (`MetricTarget`). `source_type` is the type of the metric, which decides which target values are
/// required.
fn validate_metric_target(target: &Field<'_>, source_type: &str, causes: &mut Causes) {
    let target_type = target.child("type");
    let (utilization, average, value) =
        (target.child("averageUtilization"), target.child("averageValue"), target.child("value"));
    if target_type.is_empty() {
        target_type.required(causes, "must specify a metric target type");
    } else if !["Utilization", "Value", "AverageValue"].contains(&target_type.text()) {
        target_type.invalid(causes, "must be either Utilization, Value, or AverageValue");
    }
    if utilization.number().is_some_and(|number| number < 1) {
        utilization.invalid(causes, "must be greater than 0");
    }
    if matches!(source_type, "Resource" | "ContainerResource") && !utilization.is_set() && !average.is_set() {
        utilization.required(causes, "must set either a target raw value or a target utilization");
    } else if utilization.is_set() && average.is_set() {
        average.forbidden(causes, "may not set both a target raw value and a target utilization");
    } else if source_type == "Pods" && !average.is_set() {
        average.required(causes, "must specify a positive target averageValue");
    } else if matches!(source_type, "Object" | "External") && !average.is_set() && !value.is_set() {
        average.required(causes, "must set either a target value or averageValue");
    }
}

/// Validates the behavior of scaling in one direction (`HPAScalingRules`): stabilization window, select policy and scaling policies.
fn validate_scaling_rules(rules: &Field<'_>, causes: &mut Causes) {
    let window = rules.child("stabilizationWindowSeconds");
    if window.number().is_some_and(|seconds| seconds < 0) {
        window.invalid(causes, "must be greater than or equal to zero");
    }
    window.at_most(causes, 3600);
    rules.child("selectPolicy").optional_enum(causes, &["Disabled", "Max", "Min"]);
    let policies = rules.child("policies");
    if policies.is_empty() {
        policies.required(causes, "must specify at least one Policy");
    }
    for policy in policies.items() {
        let policy_type = policy.child("type");
        if !["Percent", "Pods"].contains(&policy_type.text()) {
            policy_type.unsupported(causes, &["Percent", "Pods"]);
        }
        let period = policy.child("periodSeconds");
        for field in [&policy.child("value"), &period] {
            if field.number().is_none_or(|number| number <= 0) {
                field.invalid(causes, "must be greater than zero");
            }
        }
        period.at_most(causes, 1800);
    }
    validate_non_negative_quantity(&rules.child("tolerance"), causes);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn resource_metrics_require_an_average_value_or_a_utilization() {
        let target = json!({"type": "Utilization"});
        for source_type in ["Resource", "ContainerResource"] {
            let mut causes = Causes::new();
            validate_metric_target(&Field::top(&target), source_type, &mut causes);
            assert!(causes.iter().any(|cause| cause.field == "averageUtilization"), "{source_type}");
        }
    }
}

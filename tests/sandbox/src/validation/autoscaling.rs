//! Validates HorizontalPodAutoscalers.

use super::{
    at::{At, Causes},
    name::{self, NameRule},
};

const SOURCES: [(&str, &str); 5] = [
    ("ContainerResource", "containerResource"),
    ("External", "external"),
    ("Object", "object"),
    ("Pods", "pods"),
    ("Resource", "resource"),
];
const TYPES: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];

pub(super) fn autoscaler(spec: &At<'_>, causes: &mut Causes) {
    let (least, most) = (spec.child("minReplicas"), spec.child("maxReplicas"));
    if least.number().is_some_and(|least| least < 1) {
        least.invalid(causes, "must be greater than or equal to 1");
    }
    if most.number().unwrap_or(0) == 0 {
        most.required(causes, "must be set and greater than 0");
    } else if most.number().is_some_and(|most| most < 1) {
        most.invalid(causes, "must be greater than 0");
    }
    if least.number().unwrap_or(1) > most.number().unwrap_or(0) {
        most.invalid(causes, "must be greater than or equal to `minReplicas`");
    }
    target(&spec.child("scaleTargetRef"), causes);
    let metrics = spec.child("metrics");
    for metric in metrics.items() {
        self::metric(&metric, causes);
    }
    if least.number() == Some(0) {
        let outside = metrics.items().any(|metric| matches!(metric.child("type").text(), "Object" | "External"));
        if !outside {
            metrics.forbidden(
                causes,
                "must specify at least one Object or External metric to support scaling to zero replicas",
            );
        }
    }
    for direction in ["scaleUp", "scaleDown"] {
        let rules = spec.at(&["behavior", direction]);
        if rules.is_set() {
            self::rules(&rules, causes);
        }
    }
}

fn target(target: &At<'_>, causes: &mut Causes) {
    for part in ["kind", "name"] {
        let part = target.child(part);
        if part.is_empty() {
            part.required(causes, "");
        } else if let Some(why) = name::fault(NameRule::Segment, part.text()) {
            part.invalid(causes, &why);
        }
    }
    let version = target.child("apiVersion");
    if version.is_empty() {
        version.invalid_part(causes, "", "apiVersion must specify API group");
    } else if version.text().matches('/').count() > 1 {
        version.invalid(causes, &format!("unexpected GroupVersion string: {}", version.text()));
    }
}

fn metric(metric: &At<'_>, causes: &mut Causes) {
    let type_ = metric.child("type");
    let Some((_, source)) = SOURCES.iter().find(|(known, _)| *known == type_.text()) else {
        if type_.is_empty() {
            type_.required(causes, "must specify a metric source type");
        } else {
            // Both the type and what should come with it are unknown.
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
        "Resource" | "ContainerResource" => source.child("name").demand(causes, "must specify a resource name"),
        _ => source.at(&["metric", "name"]).demand(causes, ""),
    }
    amount(&source.child("target"), type_.text(), causes);
}

fn amount(target: &At<'_>, type_: &str, causes: &mut Causes) {
    let kind = target.child("type");
    let (utilization, average, value) =
        (target.child("averageUtilization"), target.child("averageValue"), target.child("value"));
    if kind.is_empty() {
        kind.required(causes, "must specify a metric target type");
    } else if !["Utilization", "Value", "AverageValue"].contains(&kind.text()) {
        kind.invalid(causes, "must be either Utilization, Value, or AverageValue");
    }
    if utilization.number().is_some_and(|number| number < 1) {
        utilization.invalid(causes, "must be greater than 0");
    }
    if type_ == "Resource" && !utilization.is_set() && !average.is_set() {
        utilization.required(causes, "must set either a target raw value or a target utilization");
    } else if utilization.is_set() && average.is_set() {
        average.forbidden(causes, "may not set both a target raw value and a target utilization");
    } else if type_ == "Pods" && !average.is_set() {
        average.required(causes, "must specify a positive target averageValue");
    } else if matches!(type_, "Object" | "External") && !average.is_set() && !value.is_set() {
        average.required(causes, "must set either a target value or averageValue");
    }
}

fn rules(rules: &At<'_>, causes: &mut Causes) {
    rules.child("stabilizationWindowSeconds").within(causes, 0, 3600);
    rules.child("selectPolicy").if_one_of(causes, &["Disabled", "Max", "Min"]);
    let policies = rules.child("policies");
    if policies.is_empty() {
        policies.required(causes, "must specify at least one Policy");
    }
    for policy in policies.items() {
        policy.child("type").if_one_of(causes, &["Percent", "Pods"]);
        for (part, most) in [("value", i64::MAX), ("periodSeconds", 1800)] {
            let part = policy.child(part);
            if !part.number().is_some_and(|number| (1..=most).contains(&number)) {
                part.invalid(causes, "must be greater than zero");
            }
        }
    }
}

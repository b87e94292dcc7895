//! Generates the PrometheusRule with the alerts of an operator, for the Prometheus operator.

use super::{metrics, project::Project};
use crate::metrics::{ALERTS, Alert};
use serde_json::{Map, Value, json};

/// The file of the PrometheusRule, whose kind belongs to the Prometheus operator.
pub(crate) const RULES_FILE: &str = "rules.yaml";

/// Returns the PrometheusRule with all alerts of the operator.
pub(crate) fn prometheus_rule(project: &Project) -> Value {
    let rules: Vec<_> = ALERTS.iter().map(|alert| rule(project, alert)).collect();
    json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {
            "labels": metrics::component_labels(project),
            "name": metrics::service_name(project),
            "namespace": project.namespace,
        },
        "spec": {"groups": [{"name": project.name, "rules": rules}]},
    })
}

/// Returns the alerting rule of a PrometheusRule for an alert. It sets the label `namespace`, by which Alertmanager routes and silences
/// alerts, since most expressions aggregate this label away.
fn rule(project: &Project, alert: &Alert) -> Value {
    let with_name = |text: &str| text.replace("$operator", &project.name);
    let mut rule = Map::new();
    rule.insert("alert".to_owned(), alert.name.into());
    rule.insert("expr".to_owned(), alert.expression.replace("$operator", &metrics::matchers(project)).into());
    if alert.minutes > 0 {
        rule.insert("for".to_owned(), format!("{}m", alert.minutes).into());
    }
    let labels = json!({
        "namespace": project.namespace,
        "operator": project.name,
        "severity": alert.severity.as_str(),
    });
    let annotations = json!({
        "description": with_name(alert.description),
        "runbook": with_name(alert.runbook),
        "summary": with_name(alert.summary),
    });
    rule.insert("labels".to_owned(), labels);
    rule.insert("annotations".to_owned(), annotations);
    rule.into()
}

//! Generates the Service of `/metrics`, the ClusterRole of its readers, and a ServiceMonitor for the Prometheus operator.

use super::project::Project;
use serde_json::{Value, json};

/// The port of `/metrics`.
pub const METRICS_PORT: u16 = 8443;

/// The file of the ServiceMonitor, whose kind belongs to the Prometheus operator.
pub(crate) const MONITOR_FILE: &str = "monitor.yaml";

/// Returns the labels that the ServiceMonitor selects the Service by.
pub(super) fn component_labels(project: &Project) -> Value {
    let mut labels = project.labels();
    labels["app.kubernetes.io/component"] = json!("metrics");
    labels
}

/// Returns the name of the Service, of the ServiceMonitor and of the PrometheusRule.
pub(super) fn service_name(project: &Project) -> String {
    format!("{}-metrics", project.name)
}

/// Returns the label matchers of PromQL that select the operator's time series: the Prometheus operator sets `job` to the name of the
/// Service, and `namespace`.
pub(super) fn matchers(project: &Project) -> String {
    format!("job=\"{}\",namespace=\"{}\"", service_name(project), project.namespace)
}

/// Returns the Service through which Prometheus reads the operator's metrics.
pub(crate) fn service(project: &Project) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"labels": component_labels(project), "name": service_name(project), "namespace": project.namespace},
        "spec": {
            "ports": [{"name": "https", "port": METRICS_PORT, "protocol": "TCP", "targetPort": "metrics"}],
            "selector": project.selector(),
        },
    })
}

/// Returns the ClusterRole that lets its subjects read the metrics; bind it to the ServiceAccount of Prometheus.
pub(crate) fn reader_role(project: &Project) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"labels": project.labels(), "name": format!("{}-metrics-reader", project.cluster_name())},
        "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}],
    })
}

/// Returns the ServiceMonitor, by which the Prometheus operator finds the metrics. It skips the verification of the server's certificate,
/// which is self-signed.
pub(crate) fn service_monitor(project: &Project) -> Value {
    json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": {"labels": component_labels(project), "name": service_name(project), "namespace": project.namespace},
        "spec": {
            "endpoints": [{
                "bearerTokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token",
                "path": "/metrics",
                "port": "https",
                "scheme": "https",
                "tlsConfig": {"insecureSkipVerify": true},
            }],
            "selector": {"matchLabels": {"app.kubernetes.io/component": "metrics", "app.kubernetes.io/name": project.name}},
        },
    })
}

#[cfg(test)]
mod tests;

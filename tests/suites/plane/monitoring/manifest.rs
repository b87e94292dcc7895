//! Reads the generated rules and monitor of an example as the Prometheus operator does.

use serde_json::{Value, json};

use crate::operator::example::Example;

/// The rules that Prometheus gets of a PrometheusRule.
pub(super) fn rules(example: &Example) -> Value {
    let [rule] = &documents(example, "components/monitoring/rules.yaml")[..] else { panic!("one PrometheusRule") };
    assert_eq!(rule["kind"], "PrometheusRule");
    json!({"groups": rule["spec"]["groups"]})
}

/// The scrape configuration that the Prometheus operator makes of the ServiceMonitor and of the Service that it selects, with the
/// one address of an operator that is no Pod, and with the token in a file.
pub(super) fn scrape_config(example: &Example, address: &str, token_file: &str) -> Value {
    let [monitor] = &documents(example, "components/monitoring/monitor.yaml")[..] else { panic!("one ServiceMonitor") };
    let wanted = monitor["spec"]["selector"]["matchLabels"].as_object().expect("labels").clone();
    let [endpoint] = &monitor["spec"]["endpoints"].as_array().expect("endpoints")[..] else { panic!("one endpoint") };
    let is_selected = |object: &Value| {
        let labels = &object["metadata"]["labels"];
        object["kind"] == "Service" && wanted.iter().all(|(key, value)| labels[key] == *value)
    };
    let services: Vec<_> = documents(example, "base/operator.yaml").into_iter().filter(is_selected).collect();
    let [service] = &services[..] else { panic!("one Service: {services:?}") };
    let ports = service["spec"]["ports"].as_array().expect("ports");
    assert!(ports.iter().any(|port| port["name"] == endpoint["port"]), "{ports:?} have {}", endpoint["port"]);
    json!({
        "job_name": service["metadata"]["name"],
        "scheme": endpoint["scheme"],
        "metrics_path": endpoint["path"],
        "tls_config": {"insecure_skip_verify": endpoint["tlsConfig"]["insecureSkipVerify"]},
        "authorization": {"credentials_file": token_file},
        "static_configs": [{"targets": [address], "labels": {"namespace": service["metadata"]["namespace"]}}],
    })
}

/// The documents of a committed file.
fn documents(example: &Example, file: &str) -> Vec<Value> {
    let text = example.committed(file);
    text.split("---\n").skip(1).map(|document| serde_saphyr::from_str(document).expect("YAML")).collect()
}

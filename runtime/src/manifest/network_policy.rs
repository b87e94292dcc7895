//! Generates the NetworkPolicy of an operator.

use super::{metrics::METRICS_PORT, project::Project, webhooks::WEBHOOK_PORT};
use serde_json::{Value, json};

/// The ports of API servers: that of the Service `kubernetes`, and the usual one of its endpoints.
const API_SERVER_PORTS: [u16; 2] = [443, 6443];
const DNS_PORT: u16 = 53;
/// The usual port of NATS for its clients.
const NATS_PORT: u16 = 4222;

/// Returns the NetworkPolicy of the operator. It allows egress to the ports of API servers, DNS, and NATS if kinds are in buckets, and
/// ingress to the metrics and the webhooks. The probes need no rule, since network policies don't restrict the kubelet.
///
/// The policy is an optional component, because an operator whose code calls other services needs more egress. It allows these ports at
/// any address, because the addresses of the API server and of DNS differ from cluster to cluster.
pub(crate) fn document(project: &Project) -> Value {
    let port = |number: u16, protocol: &str| json!({"port": number, "protocol": protocol});
    let dns = ["UDP", "TCP"].map(|protocol| port(DNS_PORT, protocol));
    let api_server = API_SERVER_PORTS.map(|number| port(number, "TCP"));
    let mut egress = vec![json!({"ports": api_server}), json!({"ports": dns})];
    if !project.buckets().is_empty() {
        egress.push(json!({"ports": [port(NATS_PORT, "TCP")]}));
    }
    let mut ingress = vec![json!({"ports": [port(METRICS_PORT, "TCP")]})];
    if project.has_webhooks() {
        ingress.push(json!({"ports": [port(WEBHOOK_PORT, "TCP")]}));
    }
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"labels": project.labels(), "name": project.name, "namespace": project.namespace},
        "spec": {
            "egress": egress,
            "ingress": ingress,
            "podSelector": {"matchLabels": project.selector()},
            "policyTypes": ["Ingress", "Egress"],
        },
    })
}

//! Allocates cluster IPs and node ports of Services.

use serde_json::{Value, json};

use super::service::{has_cluster_ip, has_node_ports, ports};
use crate::{object, server::Server};

/// The network of cluster IPs, 10.96.0.0/16. Allocation leaves the lower addresses to users who choose their own.
const NETWORK: [u8; 2] = [10, 96];
const FIRST_ADDRESS: u16 = 256;
const LAST_ADDRESS: u16 = 65534;
/// The range of node ports, as kube-apiserver has it by default.
const FIRST_PORT: u16 = 30000;
const LAST_PORT: u16 = 32767;
const SERVICES: &str = "services";

/// The number of random draws before the range is searched in order.
const DRAWS: usize = 8;

/// Allocates the cluster IP, the node ports and the health check port that a Service needs and does not set.
pub(super) fn allocate(server: &Server, service: &mut Value) {
    let type_ = object::text(service, &["spec", "type"]).to_owned();
    if has_cluster_ip(&type_) {
        allocate_cluster_ip(server, service);
    }
    let wants_node_ports = object::at(service, &["spec", "allocateLoadBalancerNodePorts"]) != Some(&Value::Bool(false));
    if has_node_ports(&type_) && (type_ == "NodePort" || wants_node_ports) {
        allocate_node_ports(server, service);
    }
    // With the policy `Local`, a load balancer checks which nodes have Pods of the Service.
    let is_local = object::text(service, &["spec", "externalTrafficPolicy"]) == "Local";
    let health_check_port = object::number(service, &["spec", "healthCheckNodePort"]).unwrap_or(0);
    if type_ == "LoadBalancer" && is_local && health_check_port == 0 {
        let port = unused_node_port(server, &node_ports(service));
        object::map_at(service, &["spec"]).insert("healthCheckNodePort".into(), port.into());
    }
}

/// Sets the missing ones of `clusterIP`, `clusterIPs`, `ipFamilyPolicy` and `ipFamilies`. Allocates an address if the
/// Service sets none; `None` is the address of a headless Service.
fn allocate_cluster_ip(server: &Server, service: &mut Value) {
    let has_selector = object::at(service, &["spec", "selector"]).is_some();
    let spec = object::map_at(service, &["spec"]);
    if !spec.get("clusterIP").is_some_and(|address| address != "") {
        let listed_address = spec.get("clusterIPs").and_then(|list| list.get(0)).cloned();
        let address = listed_address.unwrap_or_else(|| unused_cluster_ip(server).into());
        spec.insert("clusterIP".into(), address);
    }
    let address = spec.get("clusterIP").cloned().unwrap_or_default();
    let is_headless = address == "None";
    spec.entry("clusterIPs").or_insert_with(|| json!([address]));
    // A headless Service without a selector may have addresses of both families.
    let policy = if is_headless && !has_selector { "RequireDualStack" } else { "SingleStack" };
    let policy = spec.entry("ipFamilyPolicy").or_insert_with(|| policy.into());
    let is_dual_stack = is_headless && !has_selector && *policy == "RequireDualStack";
    spec.entry("ipFamilies").or_insert_with(|| if is_dual_stack { json!(["IPv4", "IPv6"]) } else { json!(["IPv4"]) });
}

/// Sets missing node ports. Ports with the same number and different protocols share one node port.
fn allocate_node_ports(server: &Server, service: &mut Value) {
    let mut used = node_ports(service);
    let spec = object::map_at(service, &["spec"]);
    // Port number, protocol and node port of the ports so far.
    let mut assigned: Vec<(Value, Value, u16)> = Vec::new();
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        let (number, protocol) = (port["port"].clone(), port["protocol"].clone());
        if let Some(node_port) = object::number(port, &["nodePort"]).filter(|node_port| *node_port != 0) {
            assigned.push((number, protocol, u16::try_from(node_port).unwrap_or_default()));
            continue;
        }
        let shared = assigned
            .iter()
            .find(|(other_number, other_protocol, _)| *other_number == number && *other_protocol != protocol)
            .map(|(.., port)| *port);
        let node_port = shared.unwrap_or_else(|| unused_node_port(server, &used));
        used.push(node_port);
        assigned.push((number, protocol, node_port));
        object::map_at(port, &[]).insert("nodePort".into(), node_port.into());
    }
}

/// Returns the node ports that a Service sets.
fn node_ports(service: &Value) -> Vec<u16> {
    let numbers = ports(service).iter().filter_map(|port| object::number(port, &["nodePort"]));
    numbers.filter_map(|port| u16::try_from(port).ok()).collect()
}

/// Returns a cluster IP that no stored Service uses.
fn unused_cluster_ip(server: &Server) -> String {
    let address = |offset: u16| {
        let [high, low] = offset.to_be_bytes();
        format!("{}.{}.{high}.{low}", NETWORK[0], NETWORK[1])
    };
    let offset =
        unused_number(server, FIRST_ADDRESS..=LAST_ADDRESS, |offset| format!("\"clusterIP\":\"{}\"", address(offset)));
    address(offset)
}

/// Returns a node port that no stored Service uses and that is not in `used`.
fn unused_node_port(server: &Server, used: &[u16]) -> u16 {
    loop {
        // Matches both `nodePort` and `healthCheckNodePort`.
        let port = unused_number(server, FIRST_PORT..=LAST_PORT, |port| format!("odePort\":{port}"));
        if !used.contains(&port) {
            return port;
        }
    }
}

/// Returns a number of the range that no stored Service uses, or a used number if all are used. `text` returns JSON with the
/// number; a Service whose JSON contains this text uses the number. Draws random numbers first, then searches the range.
fn unused_number(server: &Server, range: std::ops::RangeInclusive<u16>, text: impl Fn(u16) -> String) -> u16 {
    let (_, services) = server.store.list(SERVICES, None);
    let is_used = |number: u16| {
        let text = text(number);
        services.iter().any(|service| service.json.contains_text(&text))
    };
    let draw = || server.environment.chance(|chance| chance.u16(range.clone()));
    let mut number = draw();
    for _ in 0..DRAWS {
        if !is_used(number) {
            return number;
        }
        number = draw();
    }
    range.clone().find(|number| !is_used(*number)).unwrap_or(number)
}

/// Returns whether a stored Service uses the cluster IP.
pub(crate) fn is_allocated(server: &Server, address: &str) -> bool {
    let text = format!("\"clusterIP\":\"{address}\"");
    let (_, services) = server.store.list(SERVICES, None);
    services.iter().any(|service| service.json.contains_text(&text))
}

//! Allocates cluster IPs and node ports of Services.

use serde_json::{Value, json};

use super::service::{is_on_nodes, needs_address, ports};
use crate::{object, server::Server};

/// The network of cluster IPs is 10.96.0.0/16. Allocation leaves the lower addresses to users who choose their own.
const NETWORK: [u8; 2] = [10, 96];
const FIRST_ADDRESS: u16 = 256;
const LAST_ADDRESS: u16 = 65534;
const FIRST_PORT: u16 = 30000;
const LAST_PORT: u16 = 32767;
const SERVICES: &str = "services";

/// The number of random draws before the range is searched in order.
const DRAWS: usize = 8;

/// Allocates the cluster IP and node ports that a Service needs and does not set.
pub(super) fn allocate(server: &Server, service: &mut Value) {
    let type_ = object::text(service, &["spec", "type"]).to_owned();
    if needs_address(&type_) {
        give_address(server, service);
    }
    let wanted = object::at(service, &["spec", "allocateLoadBalancerNodePorts"]) != Some(&Value::Bool(false));
    if is_on_nodes(&type_) && (type_ == "NodePort" || wanted) {
        give_ports(server, service);
    }
    let local = object::text(service, &["spec", "externalTrafficPolicy"]) == "Local";
    let health = object::number(service, &["spec", "healthCheckNodePort"]).unwrap_or(0);
    if type_ == "LoadBalancer" && local && health == 0 {
        let port = free_port(server, &used_ports(service));
        object::map_at(service, &["spec"]).insert("healthCheckNodePort".into(), port.into());
    }
}

fn give_address(server: &Server, service: &mut Value) {
    let selects = object::at(service, &["spec", "selector"]).is_some();
    let spec = object::map_at(service, &["spec"]);
    if !spec.get("clusterIP").is_some_and(|address| address != "") {
        let listed = spec.get("clusterIPs").and_then(|list| list.get(0)).cloned();
        let address = listed.unwrap_or_else(|| free_address(server).into());
        spec.insert("clusterIP".into(), address);
    }
    let address = spec.get("clusterIP").cloned().unwrap_or_default();
    let headless = address == "None";
    spec.entry("clusterIPs").or_insert_with(|| json!([address]));
    // A headless Service without a selector may have addresses of both families.
    let policy = if headless && !selects { "RequireDualStack" } else { "SingleStack" };
    let policy = spec.entry("ipFamilyPolicy").or_insert_with(|| policy.into());
    let both = headless && !selects && *policy == "RequireDualStack";
    spec.entry("ipFamilies").or_insert_with(|| if both { json!(["IPv4", "IPv6"]) } else { json!(["IPv4"]) });
}

fn give_ports(server: &Server, service: &mut Value) {
    let mut used = used_ports(service);
    let spec = object::map_at(service, &["spec"]);
    // TCP and UDP of the same port share one node port.
    let mut assigned: Vec<(Value, Value, u16)> = Vec::new();
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        let (number, protocol) = (port["port"].clone(), port["protocol"].clone());
        if let Some(chosen) = object::number(port, &["nodePort"]).filter(|chosen| *chosen != 0) {
            assigned.push((number, protocol, u16::try_from(chosen).unwrap_or_default()));
            continue;
        }
        let shared = assigned.iter().find(|(other, by, _)| *other == number && *by != protocol).map(|(.., port)| *port);
        let chosen = shared.unwrap_or_else(|| free_port(server, &used));
        used.push(chosen);
        assigned.push((number, protocol, chosen));
        object::map_at(port, &[]).insert("nodePort".into(), chosen.into());
    }
}

fn used_ports(service: &Value) -> Vec<u16> {
    let own = ports(service).iter().filter_map(|port| object::number(port, &["nodePort"]));
    own.filter_map(|port| u16::try_from(port).ok()).collect()
}

fn free_address(server: &Server) -> String {
    let written = |offset: u16| {
        let [high, low] = offset.to_be_bytes();
        format!("{}.{}.{high}.{low}", NETWORK[0], NETWORK[1])
    };
    let offset = free(server, FIRST_ADDRESS..=LAST_ADDRESS, |offset| format!("\"clusterIP\":\"{}\"", written(offset)));
    written(offset)
}

fn free_port(server: &Server, used: &[u16]) -> u16 {
    loop {
        let port = free(server, FIRST_PORT..=LAST_PORT, |port| format!("odePort\":{port}"));
        if !used.contains(&port) {
            return port;
        }
    }
}

/// Returns a number of the range that no stored Service uses.
fn free(server: &Server, range: std::ops::RangeInclusive<u16>, text: impl Fn(u16) -> String) -> u16 {
    let (_, held) = server.store.list(SERVICES, None);
    let taken = |number: u16| {
        let text = text(number);
        held.iter().any(|service| service.json.contains_text(&text))
    };
    let drawn = || server.environment.chance(|chance| chance.u16(range.clone()));
    let mut number = drawn();
    for _ in 0..DRAWS {
        if !taken(number) {
            return number;
        }
        number = drawn();
    }
    range.clone().find(|number| !taken(*number)).unwrap_or(number)
}

/// Whether another Service uses an address.
pub(crate) fn is_taken(server: &Server, address: &str) -> bool {
    let text = format!("\"clusterIP\":\"{address}\"");
    let (_, held) = server.store.list(SERVICES, None);
    held.iter().any(|service| service.json.contains_text(&text))
}

//! Prints the table cells of Services, Endpoints, Ingresses and NetworkPolicies, and of ServiceAccounts.

use jiff::Timestamp;
use serde_json::Value;

use super::format::{
    Cells, NONE, UNKNOWN, UNSET, count, items, join_first, labels, only_age, row_with_age, selector, text_or,
};
use crate::object::{at, number, text};

/// The maximum number of list items in a cell.
const MAX_ITEMS: usize = 3;

/// Returns the function that prints the table row of a kind; `None` if this module has none for the kind.
pub(super) fn printer_for(group: &str, plural: &str) -> Option<Cells> {
    Some(match (group, plural) {
        ("", "services") => service,
        ("", "endpoints") => endpoints,
        ("discovery.k8s.io", "endpointslices") => endpoint_slice,
        ("networking.k8s.io", "ingresses") => ingress,
        ("networking.k8s.io", "ingressclasses") => ingress_class,
        ("networking.k8s.io", "networkpolicies") => network_policy,
        ("networking.k8s.io", "servicecidrs") => |object, now| {
            let ranges: Vec<&str> = items(object, &["spec", "cidrs"]).iter().filter_map(Value::as_str).collect();
            row_with_age(object, now, [ranges.join(",").into()])
        },
        ("networking.k8s.io", "ipaddresses") => |object, now| {
            let part = |field| text(object, &["spec", "parentRef", field]);
            let parts = [part("group"), part("resource"), part("namespace"), part("name")];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            // As upstream, the row ends with the age, although the table has no column for it.
            row_with_age(object, now, [parts.join("/").into()])
        },
        ("", "serviceaccounts") => only_age,
        _ => return None,
    })
}

/// Prints the row of a Service.
fn service(object: &Value, now: Timestamp) -> Vec<Value> {
    let cluster_ip = items(object, &["spec", "clusterIPs"]).first().and_then(Value::as_str);
    let ports = items(object, &["spec", "ports"]).iter().map(|port| {
        let node_port = count(port, &["nodePort"]);
        let node_port = if node_port > 0 { format!(":{node_port}") } else { String::new() };
        format!("{}{node_port}/{}", count(port, &["port"]), text(port, &["protocol"]))
    });
    let ports = ports.collect::<Vec<_>>().join(",");
    let ports = if ports.is_empty() { NONE.to_owned() } else { ports };
    let cells = [
        text_or(object, &["spec", "type"], ""),
        cluster_ip.unwrap_or(NONE).into(),
        external_ips(object).into(),
        ports.into(),
    ];
    let mut row = row_with_age(object, now, cells);
    row.push(labels(object, &["spec", "selector"]).into());
    row
}

/// Returns the external addresses of a Service, as its type determines them: its external IPs, its load balancers or
/// its external name.
fn external_ips(object: &Value) -> String {
    let external_ips: Vec<&str> = items(object, &["spec", "externalIPs"]).iter().filter_map(Value::as_str).collect();
    match text(object, &["spec", "type"]) {
        "ClusterIP" | "NodePort" => {
            if external_ips.is_empty() {
                NONE.to_owned()
            } else {
                external_ips.join(",")
            }
        }
        "LoadBalancer" => {
            let addresses = load_balancers(object);
            let all: Vec<&str> = addresses.iter().map(String::as_str).chain(external_ips).collect();
            if all.is_empty() { "<pending>".to_owned() } else { all.join(",") }
        }
        "ExternalName" => text(object, &["spec", "externalName"]).to_owned(),
        _ => UNKNOWN.to_owned(),
    }
}

/// Returns the addresses or names of the load balancers, sorted and without duplicates.
fn load_balancers(object: &Value) -> Vec<String> {
    let ingress = items(object, &["status", "loadBalancer", "ingress"]).iter();
    let mut all: Vec<String> = ingress
        .map(|ingress| match text(ingress, &["ip"]) {
            "" => text(ingress, &["hostname"]),
            ip => ip,
        })
        .filter(|address| !address.is_empty())
        .map(str::to_owned)
        .collect();
    all.sort();
    all.dedup();
    all
}

/// Prints the row of Endpoints with the first ready addresses.
fn endpoints(object: &Value, now: Timestamp) -> Vec<Value> {
    let mut all = Vec::new();
    for subset in items(object, &["subsets"]) {
        let ports = items(subset, &["ports"]);
        for address in items(subset, &["addresses"]) {
            let ip = text(address, &["ip"]);
            if ports.is_empty() {
                all.push(ip.to_owned());
            }
            all.extend(ports.iter().map(|port| format!("{ip}:{}", count(port, &["port"]))));
        }
    }
    row_with_age(object, now, [join_first(all, MAX_ITEMS, NONE).into()])
}

/// Prints the row of an EndpointSlice with its first ports and addresses.
fn endpoint_slice(object: &Value, now: Timestamp) -> Vec<Value> {
    let ports = items(object, &["ports"]).iter();
    let ports = ports.map(|port| number(port, &["port"]).map_or_else(|| "*".to_owned(), |port| port.to_string()));
    let ports = join_first(ports.collect(), MAX_ITEMS, UNSET);
    let addresses = items(object, &["endpoints"]).iter().flat_map(|endpoint| items(endpoint, &["addresses"]));
    let addresses = addresses.filter_map(Value::as_str).map(str::to_owned).collect();
    let addresses = join_first(addresses, MAX_ITEMS, UNSET);
    row_with_age(object, now, [text(object, &["addressType"]).into(), ports.into(), addresses.into()])
}

/// Prints the row of an Ingress.
fn ingress(object: &Value, now: Timestamp) -> Vec<Value> {
    let hosts = items(object, &["spec", "rules"]).iter().map(|rule| text(rule, &["host"]).to_owned());
    let hosts = join_first(hosts.filter(|host| !host.is_empty()).collect(), MAX_ITEMS, "*");
    let ports = if items(object, &["spec", "tls"]).is_empty() { "80" } else { "80, 443" };
    let class = text_or(object, &["spec", "ingressClassName"], NONE);
    row_with_age(object, now, [class, hosts.into(), load_balancers(object).join(",").into(), ports.into()])
}

/// Prints the row of an IngressClass with the reference to its parameters.
fn ingress_class(object: &Value, now: Timestamp) -> Vec<Value> {
    let parameters = at(object, &["spec", "parameters"]).map_or_else(
        || NONE.to_owned(),
        |parameters| {
            let group = text(parameters, &["apiGroup"]);
            let dot = if group.is_empty() { "" } else { "." };
            format!("{}{dot}{group}/{}", text(parameters, &["kind"]), text(parameters, &["name"]))
        },
    );
    row_with_age(object, now, [text(object, &["spec", "controller"]).into(), parameters.into()])
}

/// Prints the row of a NetworkPolicy.
fn network_policy(object: &Value, now: Timestamp) -> Vec<Value> {
    row_with_age(object, now, [selector(object, &["spec", "podSelector"]).into()])
}

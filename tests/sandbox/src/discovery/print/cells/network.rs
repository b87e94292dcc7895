//! Prints the table cells of Services, Endpoints, Ingresses and NetworkPolicies.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    format::{Cells, NONE, UNKNOWN, UNSET, aged, count, items, labels, or, selector, some_of},
    workloads::only_age,
};
use crate::object::{at, number, text};

/// The maximum number of list items in a cell.
const SHOWN: usize = 3;

pub(super) fn of(group: &str, plural: &str) -> Option<Cells> {
    Some(match (group, plural) {
        ("", "services") => service,
        ("", "endpoints") => endpoints,
        ("discovery.k8s.io", "endpointslices") => endpoint_slice,
        ("networking.k8s.io", "ingresses") => ingress,
        ("networking.k8s.io", "ingressclasses") => ingress_class,
        ("networking.k8s.io", "networkpolicies") => network_policy,
        ("networking.k8s.io", "servicecidrs") => |object, now| {
            let ranges: Vec<&str> = items(object, &["spec", "cidrs"]).iter().filter_map(Value::as_str).collect();
            aged(object, now, [ranges.join(",").into()])
        },
        ("networking.k8s.io", "ipaddresses") => |object, now| {
            let part = |field| text(object, &["spec", "parentRef", field]);
            let parts = [part("group"), part("resource"), part("namespace"), part("name")];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            // The table has no column for the age.
            aged(object, now, [parts.join("/").into()])
        },
        ("", "serviceaccounts") => only_age,
        _ => return None,
    })
}

fn service(object: &Value, now: Timestamp) -> Vec<Value> {
    let own = items(object, &["spec", "clusterIPs"]).first().and_then(Value::as_str);
    let ports = items(object, &["spec", "ports"]).iter().map(|port| {
        let node = count(port, &["nodePort"]);
        let node = if node > 0 { format!(":{node}") } else { String::new() };
        format!("{}{node}/{}", count(port, &["port"]), text(port, &["protocol"]))
    });
    let ports = ports.collect::<Vec<_>>().join(",");
    let ports = if ports.is_empty() { NONE.to_owned() } else { ports };
    let cells = [or(object, &["spec", "type"], ""), own.unwrap_or(NONE).into(), external(object).into(), ports.into()];
    let mut row = aged(object, now, cells);
    row.push(labels(object, &["spec", "selector"]).into());
    row
}

fn external(object: &Value) -> String {
    let own: Vec<&str> = items(object, &["spec", "externalIPs"]).iter().filter_map(Value::as_str).collect();
    match text(object, &["spec", "type"]) {
        "ClusterIP" | "NodePort" => {
            if own.is_empty() {
                NONE.to_owned()
            } else {
                own.join(",")
            }
        }
        "LoadBalancer" => {
            let balanced = balancers(object);
            let all: Vec<&str> = balanced.iter().map(String::as_str).chain(own).collect();
            if all.is_empty() { "<pending>".to_owned() } else { all.join(",") }
        }
        "ExternalName" => text(object, &["spec", "externalName"]).to_owned(),
        _ => UNKNOWN.to_owned(),
    }
}

/// Returns the addresses or names of the load balancers, sorted and without duplicates.
fn balancers(object: &Value) -> Vec<String> {
    let ingress = items(object, &["status", "loadBalancer", "ingress"]).iter();
    let mut all: Vec<String> = ingress
        .map(|one| if text(one, &["ip"]).is_empty() { text(one, &["hostname"]) } else { text(one, &["ip"]) }.to_owned())
        .filter(|one| !one.is_empty())
        .collect();
    all.sort();
    all.dedup();
    all
}

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
    aged(object, now, [some_of(all, SHOWN, NONE).into()])
}

fn endpoint_slice(object: &Value, now: Timestamp) -> Vec<Value> {
    let ports = items(object, &["ports"]).iter();
    let ports = ports.map(|port| number(port, &["port"]).map_or_else(|| "*".to_owned(), |port| port.to_string()));
    let ports = some_of(ports.collect(), SHOWN, UNSET);
    let addresses = items(object, &["endpoints"]).iter().flat_map(|endpoint| items(endpoint, &["addresses"]));
    let addresses = addresses.filter_map(Value::as_str).map(str::to_owned).collect();
    let addresses = some_of(addresses, SHOWN, UNSET);
    aged(object, now, [text(object, &["addressType"]).into(), ports.into(), addresses.into()])
}

fn ingress(object: &Value, now: Timestamp) -> Vec<Value> {
    let hosts = items(object, &["spec", "rules"]).iter().map(|rule| text(rule, &["host"]).to_owned());
    let hosts = some_of(hosts.filter(|host| !host.is_empty()).collect(), SHOWN, "*");
    let ports = if items(object, &["spec", "tls"]).is_empty() { "80" } else { "80, 443" };
    let class = or(object, &["spec", "ingressClassName"], NONE);
    aged(object, now, [class, hosts.into(), balancers(object).join(",").into(), ports.into()])
}

fn ingress_class(object: &Value, now: Timestamp) -> Vec<Value> {
    let parameters = at(object, &["spec", "parameters"]).map_or_else(
        || NONE.to_owned(),
        |parameters| {
            let group = text(parameters, &["apiGroup"]);
            let dot = if group.is_empty() { "" } else { "." };
            format!("{}{dot}{group}/{}", text(parameters, &["kind"]), text(parameters, &["name"]))
        },
    );
    aged(object, now, [text(object, &["spec", "controller"]).into(), parameters.into()])
}

fn network_policy(object: &Value, now: Timestamp) -> Vec<Value> {
    aged(object, now, [selector(object, &["spec", "podSelector"]).into()])
}

/// Returns a Node's address of the given type.
pub(super) fn address<'a>(object: &'a Value, kind: &str) -> Option<&'a str> {
    let found = items(object, &["status", "addresses"]).iter().find(|address| text(address, &["type"]) == kind)?;
    Some(text(found, &["address"]))
}

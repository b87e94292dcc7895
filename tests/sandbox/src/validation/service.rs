//! Validates Services.

use std::{collections::BTreeSet, net::IpAddr};

use serde_json::Value;

use super::{
    at::{At, Causes},
    metadata,
    name::NameRule,
    probe,
};
use crate::{
    failure::Cause,
    object,
    server::Server,
    strategy::{
        service::{is_on_nodes, needs_address},
        service_address::is_taken,
    },
};

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
/// A client stays with its Pod for a day at most.
const LONGEST_AFFINITY: i64 = 86400;

pub(super) fn service(spec: &At<'_>, causes: &mut Causes) {
    let type_ = spec.child("type");
    let headless = spec.child("clusterIP").text() == "None";
    let ports = spec.child("ports");
    if ports.is_empty() && !headless && type_.text() != "ExternalName" {
        ports.required(causes, "");
    }
    if type_.text() == "ExternalName" {
        external_name(spec, causes);
    } else {
        let addresses = spec.child("clusterIPs");
        let first = At { path: format!("{}[0]", addresses.path), value: spec.child("clusterIP").value };
        if is_on_nodes(type_.text()) && headless {
            first.invalid(causes, &format!("may not be set to 'None' for {} services", type_.text()));
        }
    }
    self::ports(&ports, type_.text(), causes);
    metadata::labels(&spec.child("selector"), causes);
    affinity(spec, causes);
    type_.one_of(causes, &TYPES);
    addresses(spec, causes);
    for external in spec.child("externalIPs").items() {
        if external.text().parse::<IpAddr>().is_err() {
            external.invalid(causes, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        }
    }
    let class = spec.child("loadBalancerClass");
    if !class.is_empty() && type_.text() != "LoadBalancer" {
        class.forbidden(causes, "may only be used when `type` is 'LoadBalancer'");
    }
    traffic(spec, causes);
}

fn external_name(spec: &At<'_>, causes: &mut Causes) {
    let (address, named) = (spec.child("clusterIPs"), spec.child("externalName"));
    if !spec.child("clusterIP").is_empty() {
        address.forbidden(causes, "may not be set for ExternalName services");
    }
    if named.is_empty() {
        named.required(causes, "");
    } else if let Some(why) = super::name::fault(NameRule::Subdomain, named.text().trim_end_matches('.')) {
        named.invalid(causes, &why);
    }
}

fn ports(ports: &At<'_>, type_: &str, causes: &mut Causes) {
    let several = ports.items().count() > 1;
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let named = port.child("name");
        if several && named.is_empty() {
            named.required(causes, "");
        } else if !named.is_empty() {
            named.if_named(causes, NameRule::Label);
            if !names.insert(named.text()) {
                named.duplicate(causes);
            }
        }
        let number = port.child("port");
        if !number.number().is_some_and(|number| (1..=65535).contains(&number)) {
            number.invalid(causes, "must be between 1 and 65535, inclusive");
        }
        port.child("protocol").one_of(causes, &["SCTP", "TCP", "UDP"]);
        probe::port(&port.child("targetPort"), causes);
        if !is_on_nodes(type_) && port.child("nodePort").number().is_some_and(|number| number != 0) {
            port.child("nodePort").forbidden(causes, &format!("may not be used when `type` is '{type_}'"));
        }
    }
    duplicates(ports, causes);
}

/// Each number once for each protocol.
fn duplicates(ports: &At<'_>, causes: &mut Causes) {
    let mut seen: Vec<(&Value, &str)> = Vec::new();
    for port in ports.items() {
        let key = (port.child("port").value, port.child("protocol").text());
        if seen.contains(&key) {
            let shown = format!(
                "{{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{},\"TargetPort\":0,\"NodePort\":0}}",
                port.child("protocol").value,
                key.0
            );
            let message = format!("Duplicate value: {shown}");
            causes.push(Cause { reason: "FieldValueDuplicate", message, field: port.path.clone() });
        }
        seen.push(key);
    }
}

fn affinity(spec: &At<'_>, causes: &mut Causes) {
    spec.child("sessionAffinity").one_of(causes, &["ClientIP", "None"]);
    let seconds = spec.at(&["sessionAffinityConfig", "clientIP", "timeoutSeconds"]);
    if seconds.number().is_some_and(|seconds| !(1..=LONGEST_AFFINITY).contains(&seconds)) {
        seconds.invalid(causes, &format!("must be greater than 0 and less than {LONGEST_AFFINITY}"));
    }
}

fn addresses(spec: &At<'_>, causes: &mut Causes) {
    if !needs_address(spec.child("type").text()) {
        return;
    }
    for address in spec.child("clusterIPs").items() {
        if address.text() != "None" && address.text().parse::<IpAddr>().is_err() {
            address.invalid(causes, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        }
    }
    let headless = spec.child("clusterIP").text() == "None";
    for family in spec.child("ipFamilies").items() {
        match family.text() {
            "IPv4" => {}
            "IPv6" if headless && spec.child("selector").is_empty() => {}
            "IPv6" => family.invalid(causes, "not configured on this cluster"),
            _ => family.unsupported(causes, &["IPv4", "IPv6"]),
        }
    }
    spec.child("ipFamilyPolicy").if_one_of(causes, &["SingleStack", "PreferDualStack", "RequireDualStack"]);
}

fn traffic(spec: &At<'_>, causes: &mut Causes) {
    let (external, internal) = (spec.child("externalTrafficPolicy"), spec.child("internalTrafficPolicy"));
    let outside = spec.child("type").text() == "ClusterIP" && !spec.child("externalIPs").is_empty();
    if !is_on_nodes(spec.child("type").text()) && !outside {
        if !external.is_empty() {
            external.invalid(causes, "may only be set for externally-accessible services");
        }
    } else {
        external.if_one_of(causes, &["Cluster", "Local"]);
    }
    internal.if_one_of(causes, &["Cluster", "Local"]);
}

/// A chosen address must be one of the cluster's, and nobody else's.
pub(super) fn new_address(server: &Server, spec: &At<'_>, causes: &mut Causes) {
    let chosen = spec.child("clusterIP").text();
    if !needs_address(spec.child("type").text()) || !chosen.parse::<IpAddr>().is_ok_and(|address| address.is_ipv4()) {
        return;
    }
    let addresses = spec.child("clusterIPs");
    if !chosen.starts_with("10.96.") {
        let why = format!("failed to allocate IP {chosen}: the provided network does not match the current range");
        addresses.invalid(causes, &why);
    } else if is_taken(server, chosen) {
        addresses.invalid(causes, &format!("failed to allocate IP {chosen}: provided IP is already allocated"));
    }
}

/// The first address is kept as long as the type has one.
pub(super) fn update(new: &At<'_>, old: &Value, causes: &mut Causes) {
    let was = object::text(old, &["spec", "clusterIP"]);
    let both = needs_address(new.child("type").text()) && needs_address(object::text(old, &["spec", "type"]));
    let is = new.child("clusterIP");
    if both && !was.is_empty() && is.text() != was {
        let addresses = new.child("clusterIPs");
        let first = At { path: format!("{}[0]", addresses.path), value: addresses.value };
        first.invalid(causes, "may not change once set");
    }
}

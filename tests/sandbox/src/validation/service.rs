//! Validates Services: ports, addresses, session affinity and traffic policies.

use std::{collections::BTreeSet, net::IpAddr};

use serde_json::Value;

use super::{
    field::{Causes, Field},
    metadata,
    name::NameRule,
    probe,
};
use crate::{
    failure::Cause,
    object,
    server::Server,
    strategy::{
        service::{has_cluster_ip, has_node_ports},
        service_address::is_allocated,
    },
};

/// The types of Services, as the message about an unknown type lists them.
const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
/// The maximum timeout of session affinity, in seconds: one day.
const MAX_AFFINITY_SECONDS: i64 = 86400;

/// Validates the spec of a Service (upstream: `ValidateService`).
pub(super) fn validate_service(spec: &Field<'_>, causes: &mut Causes) {
    let type_ = spec.child("type");
    let headless = spec.child("clusterIP").text() == "None";
    let ports = spec.child("ports");
    if ports.is_empty() && !headless && type_.text() != "ExternalName" {
        ports.required(causes, "");
    }
    if type_.text() == "ExternalName" {
        validate_external_name(spec, causes);
    } else {
        let addresses = spec.child("clusterIPs");
        let first_address = Field { path: format!("{}[0]", addresses.path), value: spec.child("clusterIP").value };
        if has_node_ports(type_.text()) && headless {
            first_address.invalid(causes, &format!("may not be set to 'None' for {} services", type_.text()));
        }
    }
    validate_ports(&ports, type_.text(), causes);
    metadata::validate_labels(&spec.child("selector"), causes);
    validate_session_affinity(spec, causes);
    type_.required_enum(causes, &TYPES);
    validate_addresses(spec, causes);
    for external in spec.child("externalIPs").items() {
        if external.text().parse::<IpAddr>().is_err() {
            external.invalid(causes, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        }
    }
    let class = spec.child("loadBalancerClass");
    if !class.is_empty() && type_.text() != "LoadBalancer" {
        class.forbidden(causes, "may only be used when `type` is 'LoadBalancer'");
    }
    validate_traffic_policies(spec, causes);
}

/// Validates a Service of the type `ExternalName`: a domain name and no cluster IP.
fn validate_external_name(spec: &Field<'_>, causes: &mut Causes) {
    let (cluster_ips, name) = (spec.child("clusterIPs"), spec.child("externalName"));
    if !spec.child("clusterIP").is_empty() {
        cluster_ips.forbidden(causes, "may not be set for ExternalName services");
    }
    if name.is_empty() {
        name.required(causes, "");
    } else if let Some(detail) = super::name::violation(NameRule::Subdomain, name.text().trim_end_matches('.')) {
        name.invalid(causes, &detail);
    }
}

/// Validates the ports of a Service: names, numbers, protocols, target ports and node ports.
fn validate_ports(ports: &Field<'_>, type_: &str, causes: &mut Causes) {
    let several = ports.items().count() > 1;
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let name = port.child("name");
        if several && name.is_empty() {
            name.required(causes, "");
        } else if !name.is_empty() {
            name.optional_name(causes, NameRule::Label);
            if !names.insert(name.text()) {
                name.duplicate(causes);
            }
        }
        let number = port.child("port");
        if !number.number().is_some_and(|number| (1..=65535).contains(&number)) {
            number.invalid(causes, "must be between 1 and 65535, inclusive");
        }
        port.child("protocol").required_enum(causes, &["SCTP", "TCP", "UDP"]);
        probe::validate_port(&port.child("targetPort"), causes);
        if !has_node_ports(type_) && port.child("nodePort").number().is_some_and(|number| number != 0) {
            port.child("nodePort").forbidden(causes, &format!("may not be used when `type` is '{type_}'"));
        }
    }
    validate_unique_ports(ports, causes);
}

/// Validates that no two ports of a Service have the same number and protocol.
fn validate_unique_ports(ports: &Field<'_>, causes: &mut Causes) {
    let mut seen: Vec<(&Value, &str)> = Vec::new();
    for port in ports.items() {
        let key = (port.child("port").value, port.child("protocol").text());
        if seen.contains(&key) {
            // The error shows the port as the JSON of the internal Go type.
            let port_json = format!(
                "{{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{},\"TargetPort\":0,\"NodePort\":0}}",
                port.child("protocol").value,
                key.0
            );
            let message = format!("Duplicate value: {port_json}");
            causes.push(Cause { reason: "FieldValueDuplicate", message, field: port.path.clone() });
        }
        seen.push(key);
    }
}

/// Validates the session affinity and its timeout.
fn validate_session_affinity(spec: &Field<'_>, causes: &mut Causes) {
    spec.child("sessionAffinity").required_enum(causes, &["ClientIP", "None"]);
    let seconds = spec.nested(&["sessionAffinityConfig", "clientIP", "timeoutSeconds"]);
    if seconds.number().is_some_and(|seconds| !(1..=MAX_AFFINITY_SECONDS).contains(&seconds)) {
        seconds.invalid(causes, &format!("must be greater than 0 and less than {MAX_AFFINITY_SECONDS}"));
    }
}

/// Validates the cluster IPs and IP families. The cluster has IPv4 only; a headless Service without a selector may also
/// use IPv6.
fn validate_addresses(spec: &Field<'_>, causes: &mut Causes) {
    if !has_cluster_ip(spec.child("type").text()) {
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
    spec.child("ipFamilyPolicy").optional_enum(causes, &["SingleStack", "PreferDualStack", "RequireDualStack"]);
}

/// Validates the external and internal traffic policies. Only a Service that is reachable from outside the cluster, by node ports or
/// external IPs, can have an external traffic policy.
fn validate_traffic_policies(spec: &Field<'_>, causes: &mut Causes) {
    let (external, internal) = (spec.child("externalTrafficPolicy"), spec.child("internalTrafficPolicy"));
    let has_external_ips = spec.child("type").text() == "ClusterIP" && !spec.child("externalIPs").is_empty();
    if !has_node_ports(spec.child("type").text()) && !has_external_ips {
        if !external.is_empty() {
            external.invalid(causes, "may only be set for externally-accessible services");
        }
    } else {
        external.optional_enum(causes, &["Cluster", "Local"]);
    }
    internal.optional_enum(causes, &["Cluster", "Local"]);
}

/// Validates that the cluster IP that a new Service requests is in the range of the cluster, 10.96.0.0/16, and not allocated. Does nothing
/// if the Service has no cluster IP or requests no IPv4 address.
pub(super) fn validate_requested_address(server: &Server, spec: &Field<'_>, causes: &mut Causes) {
    let requested = spec.child("clusterIP").text();
    if !has_cluster_ip(spec.child("type").text()) || !requested.parse::<IpAddr>().is_ok_and(|address| address.is_ipv4())
    {
        return;
    }
    let addresses = spec.child("clusterIPs");
    if !requested.starts_with("10.96.") {
        let detail =
            format!("failed to allocate IP {requested}: the provided network does not match the current range");
        addresses.invalid(causes, &detail);
    } else if is_allocated(server, requested) {
        addresses.invalid(causes, &format!("failed to allocate IP {requested}: provided IP is already allocated"));
    }
}

/// Validates that an update keeps the cluster IP, unless the Service had none, or its old or new type is one without cluster IPs.
pub(super) fn validate_service_update(new: &Field<'_>, old: &Value, causes: &mut Causes) {
    let old_address = object::text(old, &["spec", "clusterIP"]);
    let both_need_address =
        has_cluster_ip(new.child("type").text()) && has_cluster_ip(object::text(old, &["spec", "type"]));
    let new_address = new.child("clusterIP");
    if both_need_address && !old_address.is_empty() && new_address.text() != old_address {
        let addresses = new.child("clusterIPs");
        let first_address = Field { path: format!("{}[0]", addresses.path), value: addresses.value };
        first_address.invalid(causes, "may not change once set");
    }
}

//! Validates NetworkPolicies: selectors, ports, peers and IP blocks.

use std::{net::Ipv4Addr, ops::RangeInclusive};

use super::{
    field::{Causes, Field},
    name::port_name_violations,
    selector,
};

/// Validates the spec of a NetworkPolicy (upstream: `ValidateNetworkPolicySpec`).
pub(super) fn validate_network_policy(spec: &Field<'_>, causes: &mut Causes) {
    selector::validate_label_selector(&spec.child("podSelector"), causes);
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.child(rules).items() {
            for port in rule.child("ports").items() {
                validate_port(&port, causes);
            }
            for peer in rule.child(peers).items() {
                validate_peer(&peer, causes);
            }
        }
    }
    let types = spec.child("policyTypes");
    if types.items().count() > 2 {
        types.invalid(causes, "may not specify more than two policyTypes");
        return;
    }
    for type_ in types.items() {
        type_.optional_enum(causes, &["Ingress", "Egress"]);
    }
}

/// Validates a port of a rule: by name, by number, or a range of numbers.
fn validate_port(port: &Field<'_>, causes: &mut Causes) {
    port.child("protocol").optional_enum(causes, &["SCTP", "TCP", "UDP"]);
    let (number, end) = (port.child("port"), port.child("endPort"));
    if number.value.is_string() {
        for detail in port_name_violations(number.text()) {
            number.invalid(causes, &detail);
        }
        if end.is_set() {
            end.invalid(causes, "may not be specified when `port` is non-numeric");
        }
        return;
    }
    number.in_range(causes, 1, 65535);
    match (number.number(), end.number()) {
        (Some(number), Some(last)) if last < number => {
            end.invalid(causes, "must be greater than or equal to `port`");
        }
        (None, Some(_)) => end.invalid(causes, "may not be specified when `port` is not specified"),
        _ => {}
    }
    if end.number().is_some_and(|end| !(1..=65535).contains(&end)) {
        end.invalid(causes, "must be between 1 and 65535, inclusive");
    }
}

/// Validates a peer of a rule: either an IP block or selectors.
fn validate_peer(peer: &Field<'_>, causes: &mut Causes) {
    let mut peer_types = 0;
    for selector_key in ["podSelector", "namespaceSelector"] {
        if peer.child(selector_key).is_set() {
            peer_types += 1;
            selector::validate_label_selector(&peer.child(selector_key), causes);
        }
    }
    let block = peer.child("ipBlock");
    if block.is_set() {
        validate_ip_block(&block, causes);
        if peer_types > 0 {
            peer.forbidden(causes, "may not specify both ipBlock and another peer");
        }
        peer_types += 1;
    }
    if peer_types == 0 {
        peer.required(causes, "must specify a peer");
    }
}

/// Validates the CIDR of an IP block, and that each exception is a strict subset of it. Accepts IPv6 blocks without further checks.
fn validate_ip_block(block: &Field<'_>, causes: &mut Causes) {
    let cidr = block.child("cidr");
    if cidr.is_empty() {
        cidr.required(causes, "");
        return;
    }
    let Some(block_range) = address_range(cidr.text()) else {
        // A colon means IPv6.
        if !cidr.text().contains(':') {
            cidr.invalid(causes, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
        }
        return;
    };
    for except in block.child("except").items() {
        match address_range(except.text()) {
            None => except.invalid(causes, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
            Some(except_range)
                if !(block_range.start() <= except_range.start()
                    && except_range.end() <= block_range.end()
                    && block_range != except_range) =>
            {
                except.invalid(causes, &format!("must be a strict subset of `{}`", cidr.text()));
            }
            Some(_) => {}
        }
    }
}

/// Returns the addresses of an IPv4 CIDR as numbers; `None` if the text is no IPv4 CIDR.
fn address_range(cidr: &str) -> Option<RangeInclusive<u32>> {
    let (address, length) = cidr.split_once('/')?;
    let address = u32::from(address.parse::<Ipv4Addr>().ok()?);
    let length: u32 = length.parse().ok().filter(|length| *length <= 32)?;
    let host_mask = u32::MAX.checked_shr(length).unwrap_or(0);
    Some(address & !host_mask..=address | host_mask)
}

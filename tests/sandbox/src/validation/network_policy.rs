//! Validates NetworkPolicies.

use std::net::Ipv4Addr;

use super::{
    at::{At, Causes},
    name::port_faults,
    selector,
};

pub(super) fn policy(spec: &At<'_>, causes: &mut Causes) {
    selector::selector(&spec.child("podSelector"), causes);
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.child(rules).items() {
            for port in rule.child("ports").items() {
                self::port(&port, causes);
            }
            for peer in rule.child(peers).items() {
                self::peer(&peer, causes);
            }
        }
    }
    let types = spec.child("policyTypes");
    if types.items().count() > 2 {
        types.invalid(causes, "may not specify more than two policyTypes");
        return;
    }
    for type_ in types.items() {
        type_.if_one_of(causes, &["Ingress", "Egress"]);
    }
}

fn port(port: &At<'_>, causes: &mut Causes) {
    port.child("protocol").if_one_of(causes, &["SCTP", "TCP", "UDP"]);
    let (number, end) = (port.child("port"), port.child("endPort"));
    if number.value.is_string() {
        for why in port_faults(number.text()) {
            number.invalid(causes, &why);
        }
        if end.is_set() {
            end.invalid(causes, "may not be specified when `port` is non-numeric");
        }
        return;
    }
    number.within(causes, 1, 65535);
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

fn peer(peer: &At<'_>, causes: &mut Causes) {
    let mut found = 0;
    for kind in ["podSelector", "namespaceSelector"] {
        if peer.child(kind).is_set() {
            found += 1;
            selector::selector(&peer.child(kind), causes);
        }
    }
    let block = peer.child("ipBlock");
    if block.is_set() {
        self::block(&block, causes);
        if found > 0 {
            peer.forbidden(causes, "may not specify both ipBlock and another peer");
        }
        found += 1;
    }
    if found == 0 {
        peer.required(causes, "must specify a peer");
    }
}

fn block(block: &At<'_>, causes: &mut Causes) {
    let cidr = block.child("cidr");
    if cidr.is_empty() {
        cidr.required(causes, "");
        return;
    }
    let Some(whole) = range(cidr.text()) else {
        if !cidr.text().contains(':') {
            cidr.invalid(causes, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
        }
        return;
    };
    for except in block.child("except").items() {
        match range(except.text()) {
            None => except.invalid(causes, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
            Some(part) if !(whole.0 <= part.0 && part.1 <= whole.1 && whole != part) => {
                except.invalid(causes, &format!("must be a strict subset of `{}`", cidr.text()));
            }
            Some(_) => {}
        }
    }
}

/// The first and the last address of a block of IPv4.
fn range(cidr: &str) -> Option<(u32, u32)> {
    let (address, length) = cidr.split_once('/')?;
    let address = u32::from(address.parse::<Ipv4Addr>().ok()?);
    let length: u32 = length.parse().ok().filter(|length| *length <= 32)?;
    let hosts = u32::MAX.checked_shr(length).unwrap_or(0);
    Some((address & !hosts, address | hosts))
}

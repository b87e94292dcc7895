//! Validates Endpoints and EndpointSlices.

use super::at::{At, Causes};

pub(super) fn endpoints(endpoints: &At<'_>, causes: &mut Causes) {
    for subset in endpoints.child("subsets").items() {
        for addresses in ["addresses", "notReadyAddresses"] {
            for address in subset.child(addresses).items() {
                let ip = address.child("ip");
                if ip.text().parse::<std::net::IpAddr>().is_err() {
                    // It is looked at as an address, and as one that others can reach.
                    ip.invalid(causes, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
                    ip.invalid(causes, "must be a valid IP address");
                }
            }
        }
        for port in subset.child("ports").items() {
            let number = port.child("port");
            if !number.number().is_some_and(|number| (1..=65535).contains(&number)) {
                number.invalid(causes, "must be between 1 and 65535, inclusive");
            }
        }
    }
}

pub(super) fn slice(slice: &At<'_>, causes: &mut Causes) {
    slice.child("addressType").one_of(causes, &["FQDN", "IPv4", "IPv6"]);
}

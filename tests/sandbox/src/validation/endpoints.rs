//! Validates the addresses and ports of Endpoints, and the address type of EndpointSlices.

use super::field::{Causes, Field};

/// Validates the addresses and ports of Endpoints (upstream: `ValidateEndpoints`).
pub(super) fn validate_endpoints(endpoints: &Field<'_>, causes: &mut Causes) {
    for subset in endpoints.child("subsets").items() {
        for addresses in ["addresses", "notReadyAddresses"] {
            for address in subset.child(addresses).items() {
                let ip = address.child("ip");
                if ip.text().parse::<std::net::IpAddr>().is_err() {
                    // The server validates it twice: as an IP address, and as an address that is not special.
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

/// Validates the address type of an EndpointSlice.
pub(super) fn validate_endpoint_slice(slice: &Field<'_>, causes: &mut Causes) {
    slice.child("addressType").required_enum(causes, &["FQDN", "IPv4", "IPv6"]);
}

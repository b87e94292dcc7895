//! Decides whether an allocation is in use.

use std::net::IpAddr;

use crate::{
    Options,
    pod::{Phase, PodFacts},
};

/// The state of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// The Pod has the address, or may have it.
    Held,
    /// The Pod has not started yet.
    Pending,
    /// No Pod uses it.
    Orphaned,
}

/// Splits the reference to a Pod in allocations and reservations at the first slash. `None` if a part is empty.
pub(crate) fn pod_of(podref: &str) -> Option<(&str, &str)> {
    podref.split_once('/').filter(|(namespace, name)| !namespace.is_empty() && !name.is_empty())
}

/// Whether a Pod can have this name. A name with a slash would be read as a subresource of another Pod.
pub(crate) fn is_name(name: &str) -> bool {
    !name.contains('/')
}

/// Whether the addresses of an existing Pod are free.
pub(crate) fn is_left_by(pod: &PodFacts, options: &Options) -> bool {
    options.cleanup_disrupted && pod.is_disrupted
        || options.cleanup_terminating && pod.is_terminating
        || pod.phase == Phase::Over
}

/// The state of an allocation with this address, if it is known, and interface, by its Pod.
pub(crate) fn judge(pod: Option<&PodFacts>, ip: Option<IpAddr>, interface: &str, options: &Options) -> Use {
    let Some(pod) = pod else { return Use::Orphaned };
    if is_left_by(pod, options) {
        return Use::Orphaned;
    }
    if pod.phase == Phase::Pending {
        return Use::Pending;
    }
    match ip {
        Some(ip) if options.verify_network_status && !pod.network.may_have(ip, interface) => Use::Orphaned,
        _ => Use::Held,
    }
}

#[cfg(test)]
mod tests;

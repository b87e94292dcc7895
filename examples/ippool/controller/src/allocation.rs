//! Whether an allocation is in use.

use std::net::IpAddr;

use crate::{
    Options,
    pod::{Phase, PodFacts},
};

/// What an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Its Pod has the address, or may have it.
    Held,
    /// Its Pod has yet to start.
    Pending,
    /// Nobody uses it.
    Orphaned,
}

/// A Pod as allocations and reservations name it: what is before the first slash, and the rest. `None` if one is empty.
pub(crate) fn pod_of(podref: &str) -> Option<(&str, &str)> {
    podref.split_once('/').filter(|(namespace, name)| !namespace.is_empty() && !name.is_empty())
}

/// Whether a Pod can have this name. One with a slash would be asked for as a part of another Pod.
pub(crate) fn is_name(name: &str) -> bool {
    !name.contains('/')
}

/// Whether what a Pod holds is free although the Pod is there.
pub(crate) fn is_left_by(pod: &PodFacts, options: &Options) -> bool {
    options.cleanup_disrupted && pod.is_disrupted
        || options.cleanup_terminating && pod.is_terminating
        || pod.phase == Phase::Over
}

/// What an allocation of this address, if it can be told, and interface is, given its Pod.
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

//! Reads the addresses of a Pod from the annotation of Multus.

use std::net::IpAddr;

use serde::Deserialize;

use crate::range::canonical;

/// The annotation that Multus writes.
pub(crate) const ANNOTATION: &str = "k8s.v1.cni.cncf.io/network-status";

/// The content of the annotation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NetworkStatus {
    /// The annotation is missing or invalid, so all allocations are accepted.
    Unknown,
    /// The addresses, except for those of the default network.
    Known(Vec<(Option<Box<str>>, IpAddr)>),
}

#[derive(Deserialize)]
struct Network {
    #[serde(default)]
    interface: Option<String>,
    #[serde(default)]
    ips: Vec<String>,
    #[serde(default)]
    default: bool,
}

impl NetworkStatus {
    /// Reads the annotation. An empty annotation means no addresses. An invalid one means that the addresses are unknown, so that
    /// it frees no address.
    pub(crate) fn read(annotation: Option<&str>) -> Self {
        let Some(text) = annotation else { return Self::Unknown };
        if text.trim().is_empty() {
            return Self::Known(Vec::new());
        }
        let Ok(networks) = serde_json::from_str::<Vec<Network>>(text) else { return Self::Unknown };
        let others = networks.into_iter().filter(|network| !network.default);
        let addresses = others.flat_map(|network| {
            let interface = network.interface.filter(|name| !name.is_empty()).map(String::into_boxed_str);
            let parsed = network.ips.into_iter().filter_map(|ip| ip.parse().ok());
            parsed.map(move |ip| (interface.clone(), canonical(ip)))
        });
        Self::Known(addresses.collect())
    }

    /// Whether the Pod may have this address on this interface. A missing interface matches all interfaces.
    pub(crate) fn may_have(&self, ip: IpAddr, interface: &str) -> bool {
        let Self::Known(addresses) = self else { return true };
        let fits =
            |name: &Option<Box<str>>| interface.is_empty() || name.as_deref().is_none_or(|name| name == interface);
        addresses.iter().any(|(name, address)| *address == canonical(ip) && fits(name))
    }
}

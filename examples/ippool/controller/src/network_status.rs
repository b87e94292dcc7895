//! Which addresses a Pod has, as Multus wrote them down.

use std::net::IpAddr;

use serde::Deserialize;

use crate::range::canonical;

/// The annotation that Multus writes.
pub(crate) const ANNOTATION: &str = "k8s.v1.cni.cncf.io/network-status";

/// What the annotation says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NetworkStatus {
    /// Nothing that could be held against an allocation: the annotation is missing, or can't be read.
    Unknown,
    /// These addresses, besides those of the default network.
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
    /// Reads the annotation. An empty one says that there are no addresses; one that is no JSON says nothing, so that a mistake
    /// in it frees nobody's address.
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

    /// Whether the Pod may have this address on this interface; where one of the two names no interface, any will do.
    pub(crate) fn may_have(&self, ip: IpAddr, interface: &str) -> bool {
        let Self::Known(addresses) = self else { return true };
        let fits =
            |name: &Option<Box<str>>| interface.is_empty() || name.as_deref().is_none_or(|name| name == interface);
        addresses.iter().any(|(name, address)| *address == canonical(ip) && fits(name))
    }
}

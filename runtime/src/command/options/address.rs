//! `BindAddress`: parses the address on which a server of the operator listens, or `0` for no server.

use serde::{Deserialize, Deserializer};
use std::{
    net::{Ipv6Addr, SocketAddr},
    str::FromStr,
};

/// The address at which a server listens; `None` for no server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BindAddress(pub(super) Option<SocketAddr>);

impl FromStr for BindAddress {
    type Err = String;

    /// Parses an address. The host may be absent, as in `:8443`, which stands for all addresses of the machine. `0` and an empty
    /// text stand for no server.
    fn from_str(text: &str) -> Result<Self, String> {
        if matches!(text, "" | "0") {
            return Ok(Self(None));
        }
        let any_host = text.strip_prefix(':').and_then(|port| port.parse().ok());
        let address = any_host.map(|port: u16| SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)));
        let address = address.or_else(|| text.parse().ok());
        address
            .map(|address| Self(Some(address)))
            .ok_or_else(|| format!("{text:?} is no address; use one such as :8443 or 127.0.0.1:8081, or 0 for none"))
    }
}

impl BindAddress {
    /// Deserializes an optional address of the configuration file. The value may be a text, or `0` as a number.
    pub(super) fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected an address such as \":8443\", or 0 for none")]
        enum AddressValue {
            Text(String),
            Number(u64),
        }
        let text = match Option::<AddressValue>::deserialize(deserializer)? {
            None => return Ok(None),
            Some(AddressValue::Text(text)) => text,
            Some(AddressValue::Number(number)) => number.to_string(),
        };
        text.parse().map(Some).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manager_m7_zero_and_an_empty_text_are_no_server() {
        assert_eq!(["0", ""].map(str::parse), [Ok(BindAddress(None)), Ok(BindAddress(None))]);
        let any = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 8443));
        assert_eq!(":8443".parse(), Ok(BindAddress(Some(any))));
        let local = SocketAddr::from(([127, 0, 0, 1], 80));
        assert_eq!("127.0.0.1:80".parse(), Ok(BindAddress(Some(local))));
        for wrong in ["8443", "localhost:80", ":x"] {
            assert!(wrong.parse::<BindAddress>().is_err(), "{wrong}");
        }
    }
}

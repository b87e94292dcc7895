//! Arithmetic on ranges of addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range in CIDR notation. Host bits of the address are dropped, as in Go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    network: u128,
    prefix: u32,
    is_v6: bool,
    /// Whether the text has no host bits.
    pub(crate) is_exact: bool,
}

/// The reason why a text is not a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRange;

impl Range {
    /// Parses `10.0.0.0/24` or `fd00::/64`.
    pub(crate) fn parse(text: &str) -> Result<Self, NoRange> {
        let (address, prefix) = text.split_once('/').ok_or(NoRange)?;
        let address: IpAddr = address.parse().map_err(|_| NoRange)?;
        let digits = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_digit());
        let prefix: u32 = prefix.parse().ok().filter(|_| digits).ok_or(NoRange)?;
        let (number, is_v6) = number(address);
        if prefix > width(is_v6) {
            return Err(NoRange);
        }
        let network = number & !mask(width(is_v6) - prefix);
        Ok(Self { network, prefix, is_v6, is_exact: network == number })
    }

    /// The number of bits of an address.
    pub(crate) fn width(&self) -> u32 {
        width(self.is_v6)
    }

    /// The length of the network prefix.
    pub(crate) fn prefix(&self) -> u32 {
        self.prefix
    }

    /// The address at an offset from the network address; `None` beyond the end of the family. As in whereabouts, it may be
    /// outside the range.
    pub(crate) fn at(&self, distance: u128) -> Option<IpAddr> {
        let number = self.network.checked_add(distance)?;
        if self.is_v6 {
            return Some(Ipv6Addr::from_bits(number).into());
        }
        u32::try_from(number).ok().map(|number| Ipv4Addr::from_bits(number).into())
    }

    /// The first and the last usable address: without the network address and the broadcast address if the range has more
    /// than two addresses.
    pub(crate) fn usable(&self) -> (Option<IpAddr>, Option<IpAddr>) {
        let last = mask(self.width() - self.prefix);
        let (first, last) = if last > 1 { (1, last - 1) } else { (0, last) };
        (self.at(first), self.at(last))
    }

    /// The number of usable addresses, limited to the maximum of the field.
    pub(crate) fn total(&self) -> i32 {
        let last = mask(self.width() - self.prefix);
        let total = if last > 1 { last - 1 } else { last + 1 };
        i32::try_from(total).unwrap_or(i32::MAX)
    }

    /// The slice with this number and prefix length.
    pub(crate) fn slice(&self, number: u32, prefix: u32) -> Option<String> {
        let shift = self.width().checked_sub(prefix)?;
        let distance = u128::from(number).checked_shl(shift)?;
        self.at(distance).map(|address| format!("{address}/{prefix}"))
    }
}

/// Parses the key of an allocation, a decimal offset from the network address without a sign or spaces.
pub(crate) fn distance(key: &str) -> Option<u128> {
    let digits = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
    key.parse().ok().filter(|_| digits)
}

/// The address in the name of a reservation: plain, or with dashes for colons, perhaps after the name of a network and a
/// dash.
pub(crate) fn address_in_name(name: &str) -> Option<IpAddr> {
    let mut rest = name;
    loop {
        let found = rest.parse().ok().or_else(|| rest.replace('-', ":").parse().ok());
        if found.is_some() {
            return found.map(canonical);
        }
        rest = rest.split_once('-')?.1;
    }
}

/// Converts an IPv4-mapped IPv6 address to the IPv4 address.
pub(crate) fn canonical(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

fn number(address: IpAddr) -> (u128, bool) {
    match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), false),
        IpAddr::V6(address) => (address.to_bits(), true),
    }
}

fn width(is_v6: bool) -> u32 {
    if is_v6 { 128 } else { 32 }
}

/// A number whose lowest bits are ones.
fn mask(bits: u32) -> u128 {
    1u128.checked_shl(bits).map_or(u128::MAX, |one| one - 1)
}

#[cfg(test)]
mod tests;

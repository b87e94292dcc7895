//! Classifies the allocations of a pool.

use std::net::IpAddr;

use ippool_api::{IPPool, IpAllocation};
use opgen::lister::ListedObjects;

use crate::{
    Options,
    allocation::{Use, judge, pod_of},
    pod::PodFacts,
    range::{Range, canonical, distance},
    reservation::ReservationFacts,
};

/// An allocation of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holding<'p> {
    /// Its key: an offset from the network address, or an invalid text.
    pub(crate) key: &'p str,
    distance: Option<u128>,
    pub(crate) ip: Option<IpAddr>,
    pub(crate) allocation: &'p IpAllocation,
}

impl Holding<'_> {
    pub(crate) fn judge(&self, pod: Option<&PodFacts>, options: &Options) -> Use {
        judge(pod, self.ip, &self.allocation.ifname, options)
    }
}

/// The classified allocations of a pool.
#[derive(Debug)]
pub(crate) struct Survey<'p> {
    /// All allocations by address.
    pub(crate) holdings: Vec<Holding<'p>>,
    /// The presumed orphans.
    pub(crate) suspects: Vec<Holding<'p>>,
    /// The number of allocations with pending Pods.
    pub(crate) pending: usize,
}

impl<'p> Survey<'p> {
    pub(crate) fn of(
        pool: &'p IPPool,
        range: Option<&Range>,
        pods: &ListedObjects<PodFacts>,
        options: &Options,
    ) -> Self {
        let mut survey = Self { holdings: holdings(pool, range), suspects: Vec::new(), pending: 0 };
        for holding in &survey.holdings {
            let pod = pod_of(&holding.allocation.podref).and_then(|(namespace, name)| pods.get(namespace, name));
            match holding.judge(pod, options) {
                Use::Held => {}
                Use::Pending => survey.pending += 1,
                Use::Orphaned => survey.suspects.push(*holding),
            }
        }
        survey
    }
}

/// The allocations by address; those without an address are last.
pub(crate) fn holdings<'p>(pool: &'p IPPool, range: Option<&Range>) -> Vec<Holding<'p>> {
    let holding = |(key, allocation): (&'p String, &'p IpAllocation)| {
        let distance = distance(key);
        Holding { key, distance, ip: distance.and_then(|distance| range?.at(distance)), allocation }
    };
    let mut holdings: Vec<_> = pool.spec.allocations.iter().map(holding).collect();
    holdings.sort_unstable_by_key(|holding| (holding.distance.unwrap_or(u128::MAX), holding.key));
    holdings
}

/// The number of reservations of a namespace for these allocations.
pub(crate) fn reserved(
    holdings: &[Holding<'_>],
    namespace: &str,
    reservations: &ListedObjects<ReservationFacts, IpAddr>,
) -> usize {
    let ips = holdings.iter().filter_map(|holding| holding.ip.map(canonical));
    ips.map(|ip| reservations.find(&ip).filter(|(place, ..)| *place == namespace).count()).sum()
}

//! What the controllers know beside the object of a pass.

use std::net::IpAddr;

use ippool_api::NodeSlicePool;
use opgen::Lister;

use crate::{
    Options, holders::Holders, metrics::Metrics, pod::PodFacts, pool::Owed, reservation::ReservationFacts,
    slice::Network,
};

/// What the three controllers share. Clones are of the same one; it belongs to one running operator.
#[derive(Clone, Debug)]
pub struct World {
    /// What the user has decided.
    pub options: Options,
    /// What is counted.
    pub metrics: Metrics,
    pub(crate) pods: Lister<PodFacts>,
    /// By address, for a pool knows no names.
    pub(crate) reservations: Lister<ReservationFacts, IpAddr>,
    pub(crate) nodes: Lister<()>,
    /// By the name of the pool of slices.
    pub(crate) networks: Lister<Network, String>,
    pub(crate) slices: Lister<NodeSlicePool>,
    pub(crate) holders: Holders,
    pub(crate) owed: Owed,
}

impl World {
    /// Nothing known as yet.
    pub fn new(options: Options) -> Self {
        let slices = Lister::default();
        Self {
            options,
            metrics: Metrics::new(slices.clone()),
            pods: Lister::default(),
            reservations: Lister::indexed(|reservation: &ReservationFacts| reservation.ip),
            nodes: Lister::default(),
            networks: Lister::indexed(|network: &Network| network.pool_name()),
            slices,
            holders: Holders::default(),
            owed: Owed::default(),
        }
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new(Options::default())
    }
}

//! What the controllers know beside the object of a pass.

use std::net::IpAddr;

use ippool_api::NodeSlicePool;
use opgen::View;

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
    pub(crate) pods: View<PodFacts>,
    /// By address, for a pool knows no names.
    pub(crate) reservations: View<ReservationFacts, IpAddr>,
    pub(crate) nodes: View<()>,
    /// By the name of the pool of slices.
    pub(crate) networks: View<Network, String>,
    pub(crate) slices: View<NodeSlicePool>,
    pub(crate) holders: Holders,
    pub(crate) owed: Owed,
}

impl World {
    /// Nothing known as yet.
    pub fn new(options: Options) -> Self {
        let slices = View::default();
        Self {
            options,
            metrics: Metrics::new(slices.clone()),
            pods: View::default(),
            reservations: View::indexed(|reservation: &ReservationFacts| reservation.ip),
            nodes: View::default(),
            networks: View::indexed(|network: &Network| network.pool_name()),
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

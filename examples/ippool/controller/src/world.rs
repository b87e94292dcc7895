//! The state that the controllers share: options, metrics and listers.

use std::net::IpAddr;

use ippool_api::NodeSlicePool;
use opgen::Lister;

use crate::{
    Options, holders::Holders, metrics::Metrics, pod::PodFacts, pool::Owed, reservation::ReservationFacts,
    slice::Network,
};

/// The state that the three controllers of one running operator share. Clones share the same state.
#[derive(Clone, Debug)]
pub struct World {
    /// The options of the operator.
    pub options: Options,
    /// The metrics of the operator.
    pub metrics: Metrics,
    pub(crate) pods: Lister<PodFacts>,
    /// Indexed by address, since a pool does not contain names of reservations.
    pub(crate) reservations: Lister<ReservationFacts, IpAddr>,
    pub(crate) nodes: Lister<()>,
    /// Indexed by the name of the NodeSlicePool.
    pub(crate) networks: Lister<Network, String>,
    pub(crate) slices: Lister<NodeSlicePool>,
    pub(crate) holders: Holders,
    pub(crate) owed: Owed,
}

impl World {
    /// Creates an empty state.
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

//! `ShardedLead` makes a replica a member of the replicas that share the objects by shards, takes and hands over shards, and updates the
//! metrics.

use crate::{
    lease::{elector::LeadLoss, leads::Leads},
    metrics::Metrics,
    shard::{
        claim::OnShardOpen,
        coordinator::{MemberFacts, ShardCoordinator},
        gate::Shards,
    },
};

/// The shards of a run.
pub(super) struct ShardedLead {
    shards: Shards,
    /// The facts until this replica joins the members.
    facts: Option<MemberFacts>,
    coordinator: Option<ShardCoordinator>,
    /// The name of the Leases, for the metrics.
    lease: String,
    metrics: Metrics,
}

impl ShardedLead {
    /// Prepares the membership of this replica, and registers its shards in the metrics. It takes no Lease yet.
    pub(super) fn new(facts: MemberFacts, shards: Shards, metrics: &Metrics) -> Self {
        let lease = facts.lease_name();
        metrics.set_leader(&lease, false);
        metrics.set_shards(shards.clone());
        Self { shards, facts: Some(facts), coordinator: None, lease, metrics: metrics.clone() }
    }

    pub(super) fn shards(&self) -> &Shards {
        &self.shards
    }

    pub(super) fn leads(&self) -> &Leads {
        self.shards.leads()
    }

    /// Joins the members, which are the replicas that share the shards: takes a Lease of its own, and waits until no member with another
    /// number of shards is left. Then this replica may take shards. A second call returns at once.
    ///
    /// # Errors
    /// Fails if the Lease of this replica is lost.
    pub(super) async fn join(&mut self, on_open: OnShardOpen) -> Result<(), LeadLoss> {
        let Some(facts) = self.facts.take() else { return Ok(()) };
        // The coordinator is stored before it has joined, so that a stop meanwhile releases its Lease.
        let coordinator = self.coordinator.insert(ShardCoordinator::start(facts, self.shards.clone(), on_open));
        let joined = coordinator.join().await;
        self.metrics.set_leader(&self.lease, joined.is_ok());
        joined
    }

    /// Takes and hands over shards until a Lease is lost. It never returns if this replica has not joined the members.
    pub(super) async fn hold(&mut self) -> LeadLoss {
        let Some(coordinator) = &mut self.coordinator else { return std::future::pending().await };
        let loss = coordinator.run().await;
        self.metrics.set_leader(&self.lease, false);
        loss
    }

    /// Waits until a Lease is lost, without taking further shards. It never returns if this replica has not joined the members.
    pub(super) async fn wait_until_lost(&mut self) -> LeadLoss {
        let Some(coordinator) = &mut self.coordinator else { return std::future::pending().await };
        let loss = coordinator.wait_until_lost().await;
        self.metrics.set_leader(&self.lease, false);
        loss
    }

    /// Releases the Lease of this member and the Leases of its shards.
    pub(super) async fn release(self) {
        self.metrics.set_leader(&self.lease, false);
        if let Some(coordinator) = self.coordinator {
            coordinator.release().await;
        }
    }
}

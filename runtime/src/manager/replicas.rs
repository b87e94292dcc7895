//! Adds to `Operator` the options for several replicas: `leader_election` (one replica works) and `shards` (each replica works on a part of
//! the objects).

use super::operator::Operator;
use crate::lease::options::LeaderElection;

impl Operator {
    /// Elects one of several replicas, which alone writes; the others wait with warm caches. Default: off, but the generated
    /// Deployment turns it on by the flag `--leader-elect`. The flags of the binary take precedence over these options.
    ///
    /// With leader election, the hooks of factories, the workers and the collection of orphans start when the lead is won. An
    /// operator that loses the lead ends with [`RunError::LeadLost`](crate::RunError::LeadLost).
    #[must_use]
    pub fn leader_election(mut self, options: LeaderElection) -> Self {
        self.leader_election = Some(options);
        self
    }

    /// Spreads the primaries over the replicas: each belongs to one of `count` shards by the hash of its uid, and each shard to one
    /// replica. All replicas write, and each object has one writer. Zero turns shards off, and more than 256 count as 256. Default: off.
    ///
    /// All replicas must have the same number of shards; one with another number waits until the others have ended. Several shards for
    /// each replica distribute the objects evenly. Each shard and each replica has a Lease, with the times, the namespace and the
    /// prefix of the name of [`Operator::leader_election`]; there is no leader. A replica that stops hands its shards over at once. The
    /// shards of one that crashed are taken when the lease duration has passed. The flag `--shards` of the binary takes precedence.
    ///
    /// A replica caches the primaries of its shards and their children. It also caches all objects of the kinds that its controllers
    /// reference, map or list. Upgrade hooks and runnables that need the lead are refused.
    #[must_use]
    pub fn shards(mut self, count: u16) -> Self {
        self.shards = (count > 0).then_some(count);
        self
    }
}

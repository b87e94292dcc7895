//! Shards: divide the primary objects of an operator among its replicas, so that each object has one writer.
//!
//! # Flow
//! 1. The [hash](hash) of its uid assigns each primary to one of a fixed number of shards.
//! 2. Each replica is a member: it holds a Lease of its own, and [watches](membership) those of the others. The live
//!    [members](members) decide by [rendezvous hashing](assignment) which of them should hold which shard.
//! 3. Each shard has a Lease. A member is a candidate for the shards that it should hold, by the rules of
//!    [leader election](crate::lease). A [claim](claim) takes the shard when it is free.
//! 4. The objects of a taken shard are listed after that, so that the caches have all writes of the earlier holder. Then
//!    [passes](gate) over them begin. Each write of a pass checks the deadline of its shard's Lease.
//! 5. A member that should not hold a shard any more waits for the running passes, removes the objects from the caches, and
//!    releases the Lease.
//!
//! Lists and watches of primaries have the parameter `shardSelector` (KEP-5866), so that the API server sends only the objects of
//! held shards. If it does not know the parameter, and for children, whose shard is that of their owner, the replica drops the
//! objects of other shards before it caches them.
//!
//! # Guarantees
//! Those of leader election, for each object: two replicas don't write at the same time. A lost Lease ends the run. Replicas
//! with different numbers of shards never work at the same time: a new one waits until those with another number have ended.

pub(crate) mod assignment;
pub(crate) mod claim;
pub(crate) mod coordinator;
pub(crate) mod gate;
pub(crate) mod hash;
pub(crate) mod members;
pub(crate) mod membership;
pub(crate) mod set;
#[cfg(test)]
mod tests;
pub(crate) mod watch;

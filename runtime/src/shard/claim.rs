//! `ShardClaim`: takes the Lease of a shard, holds it, and releases it after the running passes over objects of the shard.

use super::gate::Shards;
use crate::lease::{election::Election, elector::LeadLoss, lead::Lead};
use std::sync::Arc;
use tokio::sync::oneshot;

/// The callback for a shard whose objects are cached, so that passes over them can begin.
pub(crate) type OnShardOpen = Arc<dyn Fn(u16) + Send + Sync>;

/// A shard that this member should hold.
pub(super) struct ShardClaim {
    pub(super) shard: u16,
    pub(super) shards: Shards,
    pub(super) lead: Lead,
    pub(super) election: Election,
    pub(super) on_open: OnShardOpen,
}

impl ShardClaim {
    /// Takes the shard when its Lease is free, and holds it until `stop` is dropped. Then it waits for the running passes, and
    /// releases the Lease. Returns the shard.
    ///
    /// # Errors
    /// Fails if the Lease is lost.
    pub(super) async fn run(self, stop: oneshot::Receiver<()>) -> Result<u16, LeadLoss> {
        let Self { shard, shards, lead, mut election, on_open } = self;
        let mut stop = std::pin::pin!(stop);
        let is_taken = tokio::select! {
            biased;
            _ = stop.as_mut() => false,
            taken = election.wait_until_leading() => taken.map(|()| true)?,
        };
        if is_taken {
            let additions = shards.add(shard, &lead);
            let serve = async {
                shards.wait_until_cached(additions).await;
                shards.open(shard);
                tracing::info!(shard, "reconciling the objects of the shard");
                on_open(shard);
                std::future::pending::<()>().await
            };
            tokio::select! {
                biased;
                loss = election.wait_until_lost() => return Err(loss),
                _ = stop => {}
                () = serve => {}
            }
            tokio::select! {
                biased;
                loss = election.wait_until_lost() => return Err(loss),
                () = shards.drain(shard) => {}
            }
            // Nothing writes any more.
            shards.remove(shard);
        }
        // A Lease that was taken just now is released as well.
        election.release().await;
        Ok(shard)
    }
}

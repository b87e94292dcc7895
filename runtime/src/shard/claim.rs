//! `ShardClaim`: takes the Lease of a shard, holds it, and releases it after the running passes over objects of the shard.

use super::gate::Shards;
use crate::lease::{election::Election, elector::LeadLoss, lead::Lead};
use std::sync::Arc;
use tokio::sync::oneshot;

/// The callback for a shard whose objects are cached, so that passes over them can begin.
pub(crate) type OnShardOpen = Arc<dyn Fn(u16) + Send + Sync>;

/// The task of a shard that this member (this replica) should hold: a candidate for the Lease of the shard.
pub(super) struct ShardClaim {
    pub(super) shard: u16,
    pub(super) shards: Shards,
    pub(super) lead: Lead,
    pub(super) election: Election,
    pub(super) on_open: OnShardOpen,
}

impl ShardClaim {
    /// Acquires the Lease of the shard, loads the objects of the shard into the caches, and lets reconciles of them begin. Holds the shard
    /// until `stop` fires or its sender is dropped; then it waits for the running reconciles and releases the Lease. Returns the number of
    /// the shard.
    ///
    /// # Errors
    /// Fails if the Lease is lost, because another replica has taken it or it was not renewed in time.
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
            // No reconcile of an object of the shard runs, so nothing writes to these objects any more.
            shards.remove(shard);
        }
        // Also releases a Lease that was acquired in the moment in which `stop` fired.
        election.release().await;
        Ok(shard)
    }
}

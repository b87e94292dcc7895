//! `ShardedWatch`: the state of one watch of the API server whose cache has only objects of the shards that this replica holds.

use super::{hash::ShardCount, set::ShardSet};
use crate::informer::watch::Health;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tokio::sync::watch;

/// The shards whose objects belong into the caches.
#[derive(Clone, Debug, Default)]
pub(crate) struct CachedShards {
    pub(crate) set: ShardSet,
    /// The number of shards that were added so far. A watch has the objects of a shard if its list began after that.
    pub(crate) additions: u64,
    /// The number of additions and removals so far.
    pub(crate) changes: u64,
}

/// One watch with only the objects of the held shards.
#[derive(Debug)]
pub(crate) struct ShardedWatch {
    count: ShardCount,
    cached: watch::Receiver<CachedShards>,
    /// The value of [`CachedShards::additions`] at the start of the last complete list; `None` before it.
    listed: watch::Sender<Option<u64>>,
    health: Health,
    /// Whether requests have the parameter `shardSelector`.
    selects: AtomicBool,
}

impl ShardedWatch {
    /// Creates the state of a watch. `selects` is true if an object is in the shard of its own uid, so that the API server can select it; a
    /// child is in the shard of its owner.
    pub(super) fn new(
        count: ShardCount,
        cached: watch::Receiver<CachedShards>,
        health: Health,
        selects: bool,
    ) -> Arc<Self> {
        let (listed, selects) = (watch::Sender::new(None), AtomicBool::new(selects));
        Arc::new(Self { count, cached, listed, health, selects })
    }

    pub(crate) fn count(&self) -> ShardCount {
        self.count
    }

    /// Returns the shards whose objects the cache should have.
    pub(crate) fn cached(&self) -> CachedShards {
        self.cached.borrow().clone()
    }

    /// Waits until a shard is added or removed after `known` was read, and returns the current shards. Never returns once the run of the
    /// operator has ended.
    pub(crate) async fn wait_for_change(&self, known: &CachedShards) -> CachedShards {
        let mut cached = self.cached.clone();
        let changed = cached.wait_for(|cached| cached.changes != known.changes).await.map(|changed| changed.clone());
        match changed {
            Ok(changed) => changed,
            // The sender is dropped at the end of the run.
            Err(_) => std::future::pending().await,
        }
    }

    /// Returns the value of `shardSelector` for requests; `None` if the server does not select.
    pub(crate) fn selector(&self, shards: &ShardSet) -> Option<String> {
        self.selects().then(|| shards.selector(self.count))
    }

    /// Returns whether the API server selects the objects of the held shards by `shardSelector`.
    pub(crate) fn selects(&self) -> bool {
        self.selects.load(Ordering::Relaxed)
    }

    /// Stops sending `shardSelector`, because the API server does not know it. The replica then drops the objects of other shards when they
    /// arrive.
    pub(crate) fn stop_selecting(&self, reason: &str) {
        if self.selects.swap(false, Ordering::Relaxed) {
            tracing::info!(kind = %self.health.kind(), reason, "the API server does not select by shard; filtering instead");
        }
    }

    /// Records that a list is complete. `shards` are the held shards at the start of the list.
    pub(crate) fn note_listed(&self, shards: &CachedShards) {
        self.listed.send_replace(Some(shards.additions));
    }

    /// Waits until a list is complete that began after this number of additions of shards, so that the cache has the objects of these
    /// shards. Also returns when the watch is blocked, because its kind is missing or forbidden.
    pub(super) async fn wait_until_listed(&self, additions: u64) {
        let (mut listed, mut health) = (self.listed.subscribe(), self.health.subscribe());
        let is_listed = |listed: &Option<u64>| listed.is_some_and(|listed| listed >= additions);
        let blocked = async {
            while !self.health.is_blocked() {
                if health.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        };
        tokio::select! {
            biased;
            _ = listed.wait_for(is_listed) => {}
            () = blocked => {}
        }
    }
}

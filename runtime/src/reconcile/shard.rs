//! Limits the passes of a controller to the objects of the shards that this replica holds.

use crate::{
    cache::{Header, ObjectKey, Uid},
    informer::source::UncachedObject,
    reconcile::control_loop::Loop,
    shard::gate::ShardPass,
};

impl Loop {
    /// Begins a pass over an object, if this replica holds the shard of the object, which follows from its uid. `None` if another replica
    /// holds the shard, or if the uid is unknown. The key of such an object can be in the queue: an event handler maps another object to
    /// it, or the object left the cache when this replica lost its shard.
    pub(crate) async fn begin_shard_pass(&self, key: &ObjectKey) -> Option<ShardPass> {
        let Some(shards) = &self.shared.shards else { return Some(ShardPass::without_shards()) };
        let cached = self.source.objects().store().get(key).map(|entry| entry.header.uid.clone());
        // The state of a deleted object has its uid.
        let uid = match cached.or_else(|| self.states.uid_of(key)) {
            Some(uid) => uid,
            None => self.uid_of_deselected(key).await?,
        };
        shards.begin_pass(&uid)
    }

    /// Stores the uid of a primary that left the cache for its last pass, and returns `true`. Returns `false`, and drops the state of the
    /// primary, if it was not deleted but left the cache because another replica holds its shard.
    pub(crate) fn note_deleted(&self, header: &Header) -> bool {
        let Some(shards) = &self.shared.shards else { return true };
        let is_own = shards.contains(&header.uid);
        if is_own {
            self.states.update(&header.key, &header.uid, |state| state.deleted = true);
        } else {
            self.forget_dropped(&header.key);
        }
        is_own
    }

    /// Drops the state of a primary that left the cache because this replica no longer holds its shard. The object still exists, so nothing
    /// is written to the API server.
    pub(crate) fn forget_dropped(&self, key: &ObjectKey) {
        self.forget(key);
        self.settled.forget(key);
        let mut referrers = self.shared.referrers.lock();
        referrers.set_selectors(key, &[]);
        referrers.set(key, Vec::new());
    }

    /// Reads the uid of an object that exists outside the controller's label and field selection, from the API server. `None` for any other
    /// object, and after an error, which is logged.
    async fn uid_of_deselected(&self, key: &ObjectKey) -> Option<Uid> {
        if !self.source.has_selector() {
            return None;
        }
        match self.source.read_uncached(key).await {
            Ok(UncachedObject::Deselected(json)) => Header::parse(&json).ok().map(|header| header.uid),
            Ok(UncachedObject::Deleted | UncachedObject::Selected) => None,
            Err(error) => {
                tracing::warn!(kind = %self.source.kind(), object = %key, %error, "failed to read an object");
                None
            }
        }
    }
}

//! Reconciles primaries that the cache does not have: deleted objects, and objects outside the selection.
//!
//! Only the API server knows which of the two an object is. One live read decides, and its result holds until the watch delivers
//! the object.

use crate::{
    cache::{Header, ObjectKey},
    error::{Error, Result},
    informer::source::UncachedObject,
    reconcile::{
        control_loop::Loop,
        next::{Next, NextPass},
    },
};

impl Loop {
    /// Records that the watch has delivered a state of an object, so that an earlier live read of it no longer holds.
    pub(crate) fn note_watch_event(&self, header: &Header) {
        if self.source.has_selector() {
            self.settled.forget(&header.key);
        }
        self.note_finalizers(header);
    }

    /// Runs a pass over an object that the cache does not have. If the object exists outside the selection and has the finalizer,
    /// the pass tears it down as if it were deleted.
    pub(crate) async fn reconcile_uncached(&self, key: &ObjectKey) -> Result<NextPass> {
        if !self.source.has_selector() {
            return self.finish_deleted(key).await.map(NextPass::from);
        }
        if !self.settled.begin_read(key) {
            return Ok(Next::AwaitChange.into());
        }
        let json = match self.source.read_uncached(key).await? {
            UncachedObject::Deleted => {
                let next = self.finish_deleted(key).await?;
                self.settled.settle(key);
                return Ok(next.into());
            }
            // The watch will deliver it, which enqueues it.
            UncachedObject::Selected => {
                self.settled.settle(key);
                return Ok(Next::AwaitChange.into());
            }
            UncachedObject::Deselected(json) => json,
        };
        let entry = self.source.objects().separate_entry(&json).map_err(Error::unexpected)?;
        if !entry.header.finalizers.contains(&self.finalizer) {
            // Its references stay: another installation of the operator may control the object and hold them.
            self.forget(key);
            self.settled.settle(key);
            return Ok(Next::AwaitChange.into());
        }
        match self.decode(&entry) {
            Ok(primary) => self.tear_down(&entry, primary.as_ref()).await,
            Err(error) => self.tear_down_undecodable(&entry, error).await.map(NextPass::from),
        }
    }

    /// Forgets a deleted object and releases its references.
    async fn finish_deleted(&self, key: &ObjectKey) -> Result<Next> {
        self.forget(key);
        self.release_all_references(key).await?;
        Ok(Next::AwaitChange)
    }

    /// Lists the objects outside the selection that have the finalizer, for example because they left the selection while no
    /// operator ran. The orphan collector enqueues them.
    pub(crate) async fn list_deselected(&self) -> Result<Vec<ObjectKey>> {
        if !self.source.has_selector() {
            return Ok(Vec::new());
        }
        let keys = self.source.list_deselected(&self.finalizer).await?;
        keys.iter().for_each(|key| self.settled.forget(key));
        Ok(keys)
    }
}

//! Objects that the source does not show: deleted, or outside the controller's selection.
//!
//! Only the API server knows which. It is asked once; the answer holds until the watch shows the object.

use crate::{
    cache::ObjectKey,
    error::{Error, Result},
    informer::source::Stray,
    reconcile::{control_loop::Loop, next::Next},
};

impl Loop {
    /// The watch has shown another state of an object.
    pub(crate) fn was_shown(&self, key: &ObjectKey) {
        if self.source.selects() {
            self.settled.forget(key);
        }
    }

    /// One pass over an object that the cache does not have. One that is there and left the selection is let go as if it were
    /// deleted.
    pub(crate) async fn pass_over_stray(&self, key: &ObjectKey) -> Result<Next> {
        if !self.source.selects() {
            return self.vanished(key).await;
        }
        if !self.settled.ask(key) {
            return Ok(Next::AwaitChange);
        }
        let json = match self.source.stray(key).await? {
            Stray::Gone => {
                let next = self.vanished(key).await?;
                self.settled.settle(key);
                return Ok(next);
            }
            // The watch will show it, and that wakes it.
            Stray::Meant => {
                self.settled.settle(key);
                return Ok(Next::AwaitChange);
            }
            Stray::Left(json) => json,
        };
        let entry = self.source.objects().apart(&json).map_err(Error::unexpected)?;
        if !entry.header.finalizers.contains(&self.finalizer) {
            // Another install may hold references in its name.
            self.forget(key);
            self.settled.settle(key);
            return Ok(Next::AwaitChange);
        }
        match self.open(&entry) {
            Ok(opened) => self.tear_down(&entry, opened.as_ref()).await,
            Err(error) => self.tear_down_unread(&entry, error).await,
        }
    }

    async fn vanished(&self, key: &ObjectKey) -> Result<Next> {
        self.forget(key);
        self.release_vanished(key).await?;
        Ok(Next::AwaitChange)
    }

    /// The objects that left the selection while no operator ran, and still hold the finalizer.
    pub(crate) async fn strays(&self) -> Result<Vec<ObjectKey>> {
        let strays = if self.source.selects() { self.source.strays(&self.finalizer).await? } else { Vec::new() };
        strays.iter().for_each(|key| self.settled.forget(key));
        Ok(strays)
    }
}

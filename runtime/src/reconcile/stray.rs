//! Objects that the source doesn't show: gone, or not meant any more.

use super::{Loop, Next};
use crate::{
    cache::ObjectKey,
    error::{Error, Result},
    source::Stray,
};

impl Loop {
    /// One pass over an object that the cache doesn't have. What is there and only left the selection is let go as if it were
    /// deleted.
    pub(super) async fn pass_over_stray(&self, key: &ObjectKey) -> Result<Next> {
        let json = match self.source.stray(key).await? {
            Stray::Gone => {
                self.forget(key);
                self.release_vanished(key).await?;
                return Ok(Next::AwaitChange);
            }
            Stray::Meant => return Ok(Next::Soon),
            Stray::Left(json) => json,
        };
        let entry = self.source.objects().apart(&json).map_err(Error::unexpected)?;
        if !entry.header.finalizers.contains(&self.finalizer) {
            // Another install may hold references in its name.
            self.forget(key);
            return Ok(Next::AwaitChange);
        }
        match self.reconciler.open(&entry) {
            Ok(opened) => self.tear_down(&entry.header, opened.as_ref()).await,
            Err(error) => self.tear_down_unread(&entry, error).await,
        }
    }

    /// The objects that left the selection while nobody looked, and still hold the finalizer.
    pub(crate) async fn strays(&self) -> Result<Vec<ObjectKey>> {
        if self.source.selects() { self.source.strays(&self.finalizer).await } else { Ok(Vec::new()) }
    }
}

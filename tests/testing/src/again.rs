//! Samples that are deleted by force and created again under their names.

use futures::future::{BoxFuture, FutureExt as _};
use opgen_sandbox::Sandbox;

use crate::{
    course::Propagation,
    install::{self, Refused},
    life::{DEAF, Lived, Trouble, World, setup},
    program::Manifests,
};

impl World<'_> {
    /// Creates the samples again while no watch tells anything, so that the program sees the new ones in place of the old.
    pub(crate) async fn create_again(&mut self, lived: &mut Lived) -> Result<(), Trouble> {
        self.faults.lose_events(DEAF);
        let created = create_again(&self.sandbox, &self.prepared.manifests).await;
        created.map_err(|refused| setup("a sample can't be created again", refused))?;
        self.rest("the samples were created again").await?;
        lived.mended = Some(self.state());
        Ok(())
    }
}

/// The same in the middle of a call; what the server refuses then is judged by the end. A run may need fewer calls than the one
/// that was counted, so that the call comes when the samples are being deleted: those stay deleted.
pub(crate) fn created_again(sandbox: Sandbox, manifests: Manifests) -> BoxFuture<'static, ()> {
    async move {
        for sample in &manifests.samples {
            let now = install::read(&sandbox, &install::place(sample, &manifests.install)).await;
            if now.is_err() || now.is_ok_and(|now| !now["metadata"]["deletionTimestamp"].is_null()) {
                return;
            }
        }
        drop(create_again(&sandbox, &manifests).await);
    }
    .boxed()
}

/// Takes the samples away by force, finalizers and all, and creates others under their names.
async fn create_again(sandbox: &Sandbox, manifests: &Manifests) -> Result<(), Refused> {
    for sample in &manifests.samples {
        install::delete(sandbox, sample, &manifests.install, Propagation::Background).await?;
        install::set_finalizers(sandbox, sample, &manifests.install, &[]).await?;
        install::create(sandbox, sample, &manifests.install).await?;
    }
    Ok(())
}

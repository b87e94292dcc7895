//! Deletes and recreates the sample objects while the operator is idle and its watches miss the events, so that it finds new objects with
//! the old names.

use crate::{
    admin,
    simulation::{Cluster, Failure, Outcome},
};

/// Deletes and recreates the samples while the program is idle and its watches miss the events, and waits until it is idle again. Stores
/// the snapshot then in the outcome.
pub(super) async fn run(cluster: &mut Cluster<'_>, outcome: &mut Outcome) -> Result<(), Failure> {
    let manifests = &cluster.target.manifests;
    cluster.lose_events();
    let created = admin::recreate_all(&cluster.server, &manifests.samples, &manifests.install).await;
    created.map_err(|error| Failure::setup("failed to create a sample again", error))?;
    cluster.rest("the samples were created again").await?;
    outcome.after_recovery = Some(cluster.snapshot());
    Ok(())
}

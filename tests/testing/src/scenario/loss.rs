//! Deletes a child as another client would, and waits until the program has created it again.

use crate::{
    admin,
    schedule::Propagation,
    simulation::{Cluster, Failure, Outcome},
};

const CHILD_DELETED: &str = "another client deleted an object";

/// Deletes the child with an index as another client, and waits until the program is at rest, that is, idle. With `hides_events`, its
/// watches miss the deletion. Stores the snapshot then, and the other children that the program recreated, in the outcome. Does nothing if
/// there is no such child.
pub(super) async fn run(
    cluster: &mut Cluster<'_>,
    index: usize,
    hides_events: bool,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let (name, manifests) = (&cluster.target.name, &cluster.target.manifests);
    let before = cluster.snapshot();
    let Some(child) = before.children(name, &manifests.samples).nth(index) else { return Ok(()) };
    let child = &child.raw;
    if hides_events {
        cluster.lose_events();
    }
    let deleted = admin::delete(&cluster.server_of(child), child, &manifests.install, Propagation::Background).await;
    deleted.map_err(|error| Failure::setup("failed to delete an object", error))?;
    cluster.rest(CHILD_DELETED).await?;
    let recovered = cluster.snapshot();
    cluster.record_recreations((&before, &recovered), Some(child), CHILD_DELETED, outcome).await;
    outcome.after_recovery = Some(recovered);
    Ok(())
}

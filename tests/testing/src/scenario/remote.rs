//! Disturbs the other clusters where an operator has objects, while the operator is idle, and waits until it is idle again.

use crate::{
    cluster_disturbance::ClusterDisturbance,
    simulation::{Cluster, Failure, Outcome},
};

const CLUSTERS_DISTURBED: &str = "the other clusters were disturbed";

/// Disturbs the other clusters, and waits until the program is at rest, that is, idle. Stores the snapshot then in the outcome, and after a
/// disturbance that leaves the objects in the clusters also the children that the program recreated.
pub(super) async fn run(
    cluster: &mut Cluster<'_>,
    disturbance: ClusterDisturbance,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let before = cluster.snapshot();
    if disturbance.needs_restart() {
        cluster.stop().await;
    }
    cluster.remote_clusters.disturb(disturbance).await;
    cluster.rest(CLUSTERS_DISTURBED).await?;
    let recovered = cluster.snapshot();
    if disturbance.leaves_objects() {
        cluster.record_recreations((&before, &recovered), None, CLUSTERS_DISTURBED, outcome).await;
    }
    outcome.after_recovery = Some(recovered);
    Ok(())
}

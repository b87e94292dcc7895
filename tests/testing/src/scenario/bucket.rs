//! Changes the buckets as other clients do while the operator is idle, and puts removed sample objects again.

use crate::{
    simulation::{Cluster, Failure, Outcome},
    store_disturbance::StoreDisturbance,
};

const DISTURBED: &str = "another client changed the buckets";
const RESTORED: &str = "the samples were put into their buckets again";

/// Disturbs the buckets and waits until the program is at rest, if the call is 0; for another number, the disturbance came just before
/// that call. If samples no longer exist, puts them again, and waits once more. Records the states.
///
/// # Errors
/// If the program does not come to rest, or changes an entry of another client.
pub(super) async fn run(
    cluster: &mut Cluster<'_>,
    (call, disturbance): (u64, StoreDisturbance),
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let samples = &cluster.target.manifests.samples;
    let before = cluster.snapshot();
    // The claim of an object, an entry of the operator beside it, keeps its last valid state. Without a claim, a value that is no object is
    // the same as no entry.
    let has_claims = cluster.buckets.has_claims(samples);
    if call == 0 {
        if disturbance == StoreDisturbance::PurgeWhileStopped {
            cluster.stop().await;
        }
        cluster.buckets.disturb(samples, disturbance);
        cluster.rest(DISTURBED).await?;
    }
    // A run may need fewer calls than the undisturbed one, and a later call is one of the deletion.
    if disturbance.removes_samples() && call <= cluster.faults.calls() {
        outcome.undone_removals = cluster.buckets.existing_samples(samples);
    }
    if disturbance.needs_restore() && cluster.buckets.lacks_samples(samples) {
        let disturbed = Some(cluster.snapshot());
        if disturbance.removes_samples() {
            outcome.without_samples = disturbed;
        } else if call == 0 && has_claims {
            outcome.while_invalid = disturbed;
        }
        cluster.buckets.restore(samples);
        cluster.rest(RESTORED).await?;
    }
    let recovered = cluster.snapshot();
    if call == 0 && disturbance.keeps_objects() && (has_claims || disturbance != StoreDisturbance::Invalid) {
        cluster.record_recreations((&before, &recovered), None, DISTURBED, outcome).await;
    }
    outcome.after_recovery = Some(recovered);
    Ok(())
}

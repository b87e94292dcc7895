//! Changes the buckets (key-value stores) as other clients do while the operator is idle, and puts removed sample objects again.

use crate::{
    simulation::{Cluster, Failure, Outcome},
    store_disturbance::StoreDisturbance,
};

const DISTURBED: &str = "another client changed the buckets";
const RESTORED: &str = "the samples were put into their buckets again";

/// Runs the phase of a disturbance of the buckets, the key-value stores with the samples. If `call` is 0, disturbs them now, as another
/// client, and waits until the program is at rest, that is, idle; otherwise the disturbance has come just before the call of that number.
/// If samples no longer exist, puts them into their buckets again, and waits once more. Stores the snapshots and problems in the outcome.
///
/// # Errors
/// If the program does not become idle, or changes an entry of another client.
pub(super) async fn run(
    cluster: &mut Cluster<'_>,
    (call, disturbance): (u64, StoreDisturbance),
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let samples = &cluster.target.manifests.samples;
    let before = cluster.snapshot();
    // The claim of an object is an entry that the operator writes beside the object, with its last valid state. Without a claim, an invalid
    // value is to the program the same as a missing entry.
    let has_claims = cluster.buckets.has_claims(samples);
    if call == 0 {
        if disturbance == StoreDisturbance::PurgeWhileStopped {
            cluster.stop().await;
        }
        cluster.buckets.disturb(samples, disturbance);
        cluster.rest(DISTURBED).await?;
    }
    // A run may need fewer calls than the undisturbed one. Then the call has not come yet: it is one of the deletion of the samples.
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
    // A disturbance that keeps the objects, and an invalid value beside a claim, must not make the program recreate children.
    if call == 0 && disturbance.keeps_objects() && (has_claims || disturbance != StoreDisturbance::Invalid) {
        cluster.record_recreations((&before, &recovered), None, DISTURBED, outcome).await;
    }
    outcome.after_recovery = Some(recovered);
    Ok(())
}

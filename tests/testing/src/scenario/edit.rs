//! Changes the specs of the sample objects of a test, waits until the operator is idle, and changes the specs back.

use serde_json::Value;

use crate::{
    admin::{self, ErrorResponse},
    simulation::{Cluster, Failure, Outcome, WAIT_PAUSES},
};

/// The phase after an edit was undone.
pub(crate) const EDIT_UNDONE: &str = "the samples were changed back";

const EDITED: &str = "the samples were changed";

/// How many calls a program may make in each pause, its longest time between two calls, while it waits for another object.
const MAX_CALLS_PER_PAUSE: u64 = 10;

/// Changes the samples to a variant, which has other specs, waits until the program is at rest, that is, idle, and changes them back.
/// Stores the snapshots after both changes in the outcome. Ends early if the server rejects the edit, or the change back.
///
/// # Errors
/// If the program makes more calls than one that waits for another object, or does not become idle after the change back.
pub(super) async fn run(cluster: &mut Cluster<'_>, index: usize, outcome: &mut Outcome) -> Result<(), Failure> {
    let Some(variant) = cluster.target.variants.get(index) else { return Ok(()) };
    let installed = &cluster.target.manifests.install;
    for sample in variant {
        if let Err(error) = replace_spec(cluster, sample, installed).await {
            outcome.after_edit = Some(Err(error.to_string()));
            return Ok(());
        }
    }
    let (calls, before) = (cluster.faults.calls(), cluster.snapshot());
    let limit = cluster.target.pause * WAIT_PAUSES;
    let is_at_rest = cluster.rests_within(limit, EDITED).await?;
    let edited = cluster.snapshot();
    cluster.record_recreations((&before, &edited), None, EDITED, outcome).await;
    cluster.record_edit_failures(&edited, is_at_rest, outcome);
    if is_at_rest {
        outcome.after_edit = Some(Ok(edited.clone()));
    } else if cluster.faults.calls() - calls > u64::from(WAIT_PAUSES) * MAX_CALLS_PER_PAUSE {
        return Err(Failure::NotAtRest(EDITED));
    }
    // A program with few calls that is not idle waits for an object to which the variant refers; undoing the edit must end this.
    for sample in &cluster.target.manifests.samples {
        if replace_spec(cluster, sample, installed).await.is_err() {
            // The schema may forbid the change back, such as for an immutable field.
            return Ok(());
        }
    }
    cluster.rest(EDIT_UNDONE).await?;
    let recovered = cluster.snapshot();
    cluster.record_recreations((&edited, &recovered), None, EDIT_UNDONE, outcome).await;
    outcome.after_recovery = Some(recovered);
    Ok(())
}

/// Replaces the spec of a sample, and repeats the write if it fails while calls to webhooks have injected faults.
async fn replace_spec(cluster: &Cluster<'_>, sample: &Value, installed: &[Value]) -> Result<(), ErrorResponse> {
    cluster.write(async || admin::replace_spec(&cluster.server, sample, installed).await.map(drop)).await
}

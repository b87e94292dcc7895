//! Changes the specs of the sample objects of a test, waits until the operator is idle, and changes the specs back.

use serde_json::Value;

use crate::{
    admin::{self, ErrorResponse},
    simulation::{Cluster, Failure, Outcome, WAIT_PAUSES},
};

/// The phase after an edit was undone.
pub(crate) const EDIT_UNDONE: &str = "the samples were changed back";

const EDITED: &str = "the samples were changed";

/// How many calls a pause may have while a program waits for another object.
const MAX_CALLS_PER_PAUSE: u64 = 10;

/// Changes the samples to a variant, waits until the program is at rest, and changes them back. Ends early if the server
/// rejects the edit.
///
/// # Errors
/// If the program does not come to rest although it does not wait for another object.
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
    // Else it waits for an object that the variant refers to, and undoing the edit must end the wait.
    for sample in &cluster.target.manifests.samples {
        if replace_spec(cluster, sample, installed).await.is_err() {
            // The schema may forbid the way back.
            return Ok(());
        }
    }
    cluster.rest(EDIT_UNDONE).await?;
    let recovered = cluster.snapshot();
    cluster.record_recreations((&edited, &recovered), None, EDIT_UNDONE, outcome).await;
    outcome.after_recovery = Some(recovered);
    Ok(())
}

/// Replaces the spec of a sample, and repeats this while calls to webhooks have faults.
async fn replace_spec(cluster: &Cluster<'_>, sample: &Value, installed: &[Value]) -> Result<(), ErrorResponse> {
    cluster.write(async || admin::replace_spec(&cluster.server, sample, installed).await.map(drop)).await
}

//! Creates a second object of the kind of a sample object and deletes one of the two, which must not affect the children of the other.

use serde_json::{Value, json};

use crate::{
    admin,
    object::text,
    schedule::Propagation,
    simulation::{Cluster, Failure, Outcome, WAIT_PAUSES},
};

/// The namespace of second objects that have the names of the samples.
const SECOND_NAMESPACE: &str = "another-namespace";

const SECOND_CREATED: &str = "second objects were created";
const SECOND_DELETED: &str = "the second objects were deleted";
const FIRST_DELETED: &str = "the first objects were deleted and the second ones kept";

/// Returns the number of isolation cases, two for each choice of second objects: beside each single sample, and, if a sample is namespaced,
/// beside all of them in another namespace. Of the two cases, one deletes the second objects and the other the samples.
pub(crate) fn count(samples: &[Value]) -> usize {
    let is_namespaced = |sample: &Value| sample["metadata"]["namespace"].is_string();
    (samples.len() + usize::from(samples.iter().any(is_namespaced))) * 2
}

/// Creates the namespace of second objects if the case needs it: the cases after those of the single samples.
pub(super) async fn prepare(cluster: &mut Cluster<'_>, case: usize) -> Result<(), Failure> {
    if case / 2 < cluster.target.manifests.samples.len() {
        return Ok(());
    }
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SECOND_NAMESPACE}});
    let created = admin::create(&cluster.server, &namespace, &[]).await;
    created.map(drop).map_err(|error| Failure::setup("failed to create a second namespace", error))
}

/// Creates second objects beside the samples, then deletes the second objects for an even case, and the samples for an odd one. Waits each
/// time until the program is idle, and stores the snapshots and the recreated children in the outcome. At the end, deletes the second
/// objects. Returns early, without a failure, if the server admits no second object.
pub(super) async fn run(cluster: &mut Cluster<'_>, case: usize, outcome: &mut Outcome) -> Result<(), Failure> {
    let manifests = &cluster.target.manifests;
    let (first, second): (Vec<_>, Vec<_>) = second_objects(&manifests.samples, case / 2).into_iter().unzip();
    let limit = cluster.target.pause * WAIT_PAUSES;
    let before = cluster.snapshot();
    for object in &second {
        if admin::create(&cluster.server, object, &manifests.install).await.is_err() {
            // The server allows one object only.
            return Ok(());
        }
    }
    // A second object may wait for children that the first one owns, so the program need not become idle.
    cluster.rests_within(limit, SECOND_CREATED).await?;
    let with_second = cluster.snapshot();
    cluster.record_recreations((&before, &with_second), None, SECOND_CREATED, outcome).await;
    let (deleted, after) = if case.is_multiple_of(2) { (&second, SECOND_DELETED) } else { (&first, FIRST_DELETED) };
    cluster.delete(deleted, Propagation::Background).await?;
    cluster.rests_within(limit, after).await?;
    let now = cluster.snapshot();
    cluster.record_recreations((&with_second, &now), None, after, outcome).await;
    (outcome.with_second, outcome.after_recovery) = (Some(with_second), Some(now));
    cluster.delete(&second, Propagation::Background).await
}

/// Returns pairs of a sample and a second object of its kind. For the index of a sample, the second object is in its namespace and has its
/// name with a suffix; for a larger index, each namespaced sample has a second object of the same name in another namespace.
fn second_objects(samples: &[Value], index: usize) -> Vec<(Value, Value)> {
    if let Some(sample) = samples.get(index) {
        let mut second = sample.clone();
        second["metadata"]["name"] = json!(format!("{}-2", text(sample, "/metadata/name")));
        return vec![(sample.clone(), second)];
    }
    let namespaced = samples.iter().filter(|sample| sample["metadata"]["namespace"].is_string());
    let moved = namespaced.map(|sample| {
        let mut second = sample.clone();
        second["metadata"]["namespace"] = json!(SECOND_NAMESPACE);
        (sample.clone(), second)
    });
    moved.collect()
}

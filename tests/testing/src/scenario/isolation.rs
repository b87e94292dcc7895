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

/// Returns the number of cases: a second object of each sample, and of all samples in another namespace; in each the second or
/// the first objects are deleted.
pub(crate) fn count(samples: &[Value]) -> usize {
    let is_namespaced = |sample: &Value| sample["metadata"]["namespace"].is_string();
    (samples.len() + usize::from(samples.iter().any(is_namespaced))) * 2
}

/// Creates the namespace of second objects, if the case needs one.
pub(super) async fn prepare(cluster: &mut Cluster<'_>, case: usize) -> Result<(), Failure> {
    if case / 2 < cluster.target.manifests.samples.len() {
        return Ok(());
    }
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SECOND_NAMESPACE}});
    let created = admin::create(&cluster.server, &namespace, &[]).await;
    created.map(drop).map_err(|error| Failure::setup("failed to create a second namespace", error))
}

/// Creates second objects, then deletes them for an even case, and the first ones for an odd case. Records both states, and the
/// children that the program recreates meanwhile. At the end, deletes the second objects in any case. Does nothing if the server
/// admits no second object.
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
    // A second object may wait for the children of the first one.
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

/// Returns pairs of a sample and its second object: of one sample, in its namespace and with its name as prefix, or of all
/// samples in another namespace.
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

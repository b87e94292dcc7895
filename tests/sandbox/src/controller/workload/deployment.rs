//! Implements the Deployment controller: keeps one ReplicaSet for each revision of the template.

use serde_json::{Value, json};

use super::{
    Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult, event, pods,
    replica_set::REPLICA_SETS,
    revision,
    rollout::{self, COMPONENT, DESIRED_REPLICAS, HASH, MAX_REPLICAS, Rollout},
};
use crate::{condition, kind::Kind, object};

const DEPLOYMENTS: &str = "deployments.apps";

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
const PROGRESSING: &str = "Progressing";
const APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Reconciles Deployments.
#[derive(Debug)]
pub(super) struct Deployments;

impl Controller for Deployments {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[DEPLOYMENTS, REPLICA_SETS])
    }

    fn keys_for(&mut self, _: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        if group_resource == DEPLOYMENTS { vec![pods::key(event)] } else { pods::controller_keys(event, "Deployment") }
    }

    /// Reconciles a Deployment: adopts matching ReplicaSets, ensures one for the current template, scales all of them as the strategy
    /// allows, deletes old ones, and writes the status. A terminating Deployment gets only a new status.
    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let (kind, sets) = (client.served_kind(DEPLOYMENTS)?, client.served_kind(REPLICA_SETS)?);
        let Some(mut deployment) = client.get(&kind, namespace, name) else { return Ok(Action::AwaitChange) };
        pods::adopt(client, &sets, &kind, &deployment, |_, _| true).await?;
        let owned_sets = pods::controlled_objects(client, &sets, namespace, object::uid(&deployment));
        if object::is_deleting(&deployment) {
            let rollout = Rollout::new(&deployment, owned_sets, &new_set_name(&deployment));
            return rollout::update_status(client, &kind, deployment, &rollout, None).await;
        }
        let wrote_pause = record_pause(client, &kind, &mut deployment).await?;
        let mut rollout = Rollout::new(&deployment, owned_sets, &new_set_name(&deployment));
        let paused = deployment["spec"]["paused"] == true;
        let created_set =
            if paused { None } else { ensure_new_set(client, &kind, &mut deployment, &mut rollout).await? };
        // kube-controller-manager continues with the version from before this status write. Its next write is therefore
        // refused, and the next reconcile finds the ReplicaSet and does not report it as new.
        let created_set = created_set.filter(|_| !wrote_pause);
        rollout::scale(client, &deployment, &mut rollout).await?;
        for set in &mut rollout.sets {
            annotate_size(client, &sets, &deployment, set, rollout.max_pods).await?;
        }
        delete_old_sets(client, &sets, &deployment, &rollout).await?;
        rollout::update_status(client, &kind, deployment, &rollout, created_set).await
    }
}

/// Writes the `Progressing` condition with the reason `DeploymentPaused` or `DeploymentResumed` when a pause of the Deployment begins or
/// ends. Writes nothing if there is no progress deadline, or if it is already exceeded. Returns whether it wrote anything.
async fn record_pause(client: &ControllerClient, kind: &Kind, deployment: &mut Value) -> Result<bool, ApiError> {
    let deadline = object::number(deployment, &["spec", "progressDeadlineSeconds"]);
    // The maximum value means that there is no deadline, as in kube-controller-manager.
    if deadline.is_none_or(|deadline| deadline >= i64::from(i32::MAX)) {
        return Ok(false);
    }
    let existing = condition::find(&deployment["status"], PROGRESSING).cloned().unwrap_or_default();
    let (reason, message) = match (deployment["spec"]["paused"] == true, object::text(&existing, &["reason"])) {
        (_, "ProgressDeadlineExceeded") | (true, "DeploymentPaused") => return Ok(false),
        (true, _) => ("DeploymentPaused", "Deployment is paused"),
        (false, "DeploymentPaused") => ("DeploymentResumed", "Deployment is resumed"),
        (false, _) => return Ok(false),
    };
    let now = Value::from(client.server.environment.time());
    let transition_time =
        if existing["status"] == "Unknown" { existing["lastTransitionTime"].clone() } else { now.clone() };
    let condition = json!({
        "type": PROGRESSING, "status": "Unknown", "reason": reason, "message": message, "lastUpdateTime": now,
        "lastTransitionTime": transition_time,
    });
    condition::remove(&mut deployment["status"], PROGRESSING);
    match deployment["status"]["conditions"].as_array_mut() {
        Some(conditions) => conditions.push(condition),
        None => deployment["status"]["conditions"] = json!([condition]),
    }
    *deployment = client.replace(kind, "status", deployment).await?;
    Ok(true)
}

/// Returns the name of the ReplicaSet for the current template.
fn new_set_name(deployment: &Value) -> String {
    format!("{}-{}", object::name(deployment), revision::hash(&deployment["spec"]["template"]))
}

/// Ensures that a ReplicaSet for the current template exists and has the highest revision of all ReplicaSets, and copies this revision into
/// an annotation of the Deployment. Returns the name of the ReplicaSet if it was created.
///
/// # Errors
/// If a request is refused, or if an object with the name of the new ReplicaSet already exists.
async fn ensure_new_set(
    client: &ControllerClient,
    kind: &Kind,
    deployment: &mut Value,
    rollout: &mut Rollout,
) -> Result<Option<String>, ApiError> {
    let sets = client.served_kind(REPLICA_SETS)?;
    let newest = rollout.old_sets().filter_map(revision_of).max().unwrap_or(0);
    let mut created_set = None;
    if let Some(index) = rollout.new {
        let set = &mut rollout.sets[index];
        if revision_of(set).is_none_or(|revision| revision <= newest) {
            object::map_at(set, &["metadata", "annotations"]).insert(REVISION.into(), (newest + 1).to_string().into());
            *set = client.replace(&sets, "", set).await?;
        }
    } else {
        let set = build_new_replica_set(kind, deployment, newest + 1);
        let size = rollout.new_set_size(deployment);
        let mut set = set;
        set["spec"]["replicas"] = size.into();
        let set = match client.create(&sets, &set).await {
            Err(refused) if refused.is_already_exists() => return Err(refused),
            set => set?,
        };
        created_set = Some(object::name(&set).to_owned());
        if size > 0 {
            let message = format!("Scaled up replica set {} from 0 to {size}", object::name(&set));
            event::record(client, COMPONENT, deployment, "Normal", "ScalingReplicaSet", &message).await;
        }
        rollout.new = Some(rollout.sets.len());
        rollout.sets.push(set);
    }
    let revision = rollout.new.and_then(|index| revision_of(&rollout.sets[index])).unwrap_or(1).to_string();
    if deployment["metadata"]["annotations"][REVISION] != *revision {
        let patch = json!({"metadata": {"annotations": {REVISION: revision}}});
        let key = (object::namespace(deployment), object::name(deployment));
        // The annotation is written with the status, so that the generation doesn't change.
        *deployment = client.merge_patch(kind, key, "status", &patch).await?;
    }
    Ok(created_set)
}

/// Returns the revision in the annotation of a ReplicaSet; `None` if it has none.
fn revision_of(set: &Value) -> Option<u64> {
    set["metadata"]["annotations"][REVISION].as_str()?.parse().ok()
}

/// Returns a ReplicaSet with zero replicas for the current template of a Deployment: with the hash of the template in
/// its labels and selector, the revision, and the annotations of the Deployment, except those that the controller and
/// kubectl manage.
fn build_new_replica_set(kind: &Kind, deployment: &Value, revision: u64) -> Value {
    let spec = &deployment["spec"];
    let hash = revision::hash(&spec["template"]);
    let (mut template, mut selector) = (spec["template"].clone(), spec["selector"].clone());
    object::map_at(&mut template, &["metadata", "labels"]).insert(HASH.into(), hash.clone().into());
    object::map_at(&mut selector, &["matchLabels"]).insert(HASH.into(), hash.into());
    let mut annotations = json!({REVISION: revision.to_string()});
    for (key, value) in deployment["metadata"]["annotations"].as_object().into_iter().flatten() {
        if ![REVISION, DESIRED_REPLICAS, MAX_REPLICAS, APPLIED].contains(&key.as_str()) {
            annotations[key] = value.clone();
        }
    }
    json!({
        "metadata": {
            "name": new_set_name(deployment), "namespace": object::namespace(deployment),
            "labels": template["metadata"]["labels"], "annotations": annotations,
            "ownerReferences": [pods::controller_reference(kind, deployment)],
        },
        "spec": {
            "replicas": 0, "minReadySeconds": spec["minReadySeconds"].as_i64().unwrap_or(0),
            "selector": selector, "template": template,
        },
    })
}

/// Records the desired and the maximum number of Pods of the Deployment in annotations of a ReplicaSet. A ReplicaSet that is scaled to zero
/// keeps existing annotations with older numbers.
async fn annotate_size(
    client: &ControllerClient,
    sets: &Kind,
    deployment: &Value,
    set: &mut Value,
    max_pods: i64,
) -> Result<(), ApiError> {
    let desired = object::number(deployment, &["spec", "replicas"]).unwrap_or(1);
    if object::number(set, &["spec", "replicas"]).unwrap_or(0) == 0
        && set["metadata"]["annotations"][DESIRED_REPLICAS].is_string()
    {
        return Ok(());
    }
    let sizes = [(DESIRED_REPLICAS, desired.to_string()), (MAX_REPLICAS, max_pods.to_string())];
    let annotations = object::map_at(set, &["metadata", "annotations"]);
    if sizes.iter().all(|(key, value)| annotations.get(*key).is_some_and(|existing| existing == value.as_str())) {
        return Ok(());
    }
    annotations.extend(sizes.map(|(key, value)| (key.to_owned(), value.into())));
    *set = client.replace(sets, "", set).await?;
    Ok(())
}

/// Deletes the oldest ReplicaSets without Pods that exceed the revision history limit, once the rollout is complete.
async fn delete_old_sets(
    client: &ControllerClient,
    sets: &Kind,
    deployment: &Value,
    rollout: &Rollout,
) -> Result<(), ApiError> {
    if !rollout.is_complete() {
        return Ok(());
    }
    let limit = object::number(deployment, &["spec", "revisionHistoryLimit"]).unwrap_or(10);
    let has_no_pods = |set: &&Value| {
        let counts = [&set["spec"]["replicas"], &set["status"]["replicas"]];
        counts.iter().all(|count| count.as_i64().unwrap_or(0) == 0) && !object::is_deleting(set)
    };
    let mut old: Vec<&Value> = rollout.old_sets().filter(has_no_pods).collect();
    old.sort_by_key(|set| revision_of(set));
    let surplus = old.len().saturating_sub(usize::try_from(limit).unwrap_or(0));
    for set in &old[..surplus] {
        match client.delete(sets, (object::namespace(set), object::name(set)), &json!({})).await {
            Err(refused) if !refused.is_not_found() => return Err(refused),
            _ => {}
        }
    }
    Ok(())
}

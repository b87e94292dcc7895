//! Implements the DaemonSet controller: keeps a Pod on each node.

use serde_json::{Value, json};

use super::{
    Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult, event,
    pods::{self, PODS, Tally},
    revision,
};
use crate::{kind::Kind, object};

const SETS: &str = "daemonsets.apps";
const NODES: &str = "nodes";
const COMPONENT: &str = "daemonset-controller";

/// The labels of a Pod that identify the revision of its template.
const REVISION: &str = "controller-revision-hash";
const GENERATION: &str = "pod-template-generation";

/// Reconciles DaemonSets.
#[derive(Debug)]
pub(super) struct DaemonSets;

impl Controller for DaemonSets {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[SETS, PODS, NODES])
    }

    /// Returns the changed DaemonSet, the DaemonSet that controls a changed Pod, or all DaemonSets for a new or deleted node.
    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        match group_resource {
            SETS => vec![pods::key(event)],
            PODS => pods::controller_keys(event, "DaemonSet"),
            _ if event.deleted || event.before.is_none() => {
                let (_, sets) = client.server.store.list(SETS, None);
                sets.iter().map(|set| (set.namespace.to_string(), set.name.to_string())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Reconciles a DaemonSet: stores the revision of its template, keeps one Pod on each matching node, and writes the status.
    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let kind = client.served_kind(SETS)?;
        let Some(set) = client.get(&kind, namespace, name) else { return Ok(Action::AwaitChange) };
        if object::is_deleting(&set) {
            return Ok(Action::AwaitChange);
        }
        let (revision, _) = revision::ensure_current(client, &kind, &set, revision::OF_DAEMON_SET).await?;
        let hash = object::text(&revision, &["metadata", "labels", revision::OF_DAEMON_SET]).to_owned();
        let nodes = matching_nodes(client, &set)?;
        sync_pods(client, &kind, &set, &nodes, &hash).await?;
        update_status(client, &kind, set, &nodes, &hash).await
    }
}

/// Returns the names of the nodes that match the node selector of the template; each of them needs a Pod.
fn matching_nodes(client: &ControllerClient, set: &Value) -> Result<Vec<String>, ApiError> {
    let selector = set["spec"]["template"]["spec"]["nodeSelector"].as_object();
    let nodes = client.list(&*client.served_kind(NODES)?, None);
    let matches = |node: &&Value| {
        selector.into_iter().flatten().all(|(key, value)| node["metadata"]["labels"].get(key) == Some(value))
    };
    Ok(nodes.iter().filter(matches).map(|node| object::name(node).to_owned()).collect())
}

/// Returns the node of a Pod: the node to which it is bound, or else the node that its affinity names; empty if it has neither.
fn node_of(pod: &Value) -> &str {
    let bound = object::text(pod, &["spec", "nodeName"]);
    if !bound.is_empty() {
        return bound;
    }
    // `build_pod` sets this affinity.
    let path = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values/0";
    pod.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// Returns whether a Pod was created from the template revision with this hash.
fn has_current_template(pod: &Value, hash: &str) -> bool {
    object::text(pod, &["metadata", "labels", REVISION]) == hash
}

/// Creates missing Pods, and deletes Pods that have ended or are on no node of the DaemonSet. Then deletes Pods of an old template, so that
/// they are created again, unless the update strategy is `OnDelete`: all unready ones, and as many ready ones as `maxUnavailable` allows,
/// at least one.
async fn sync_pods(
    client: &ControllerClient,
    kind: &Kind,
    set: &Value,
    nodes: &[String],
    hash: &str,
) -> Result<(), ApiError> {
    let owned_pods =
        pods::controlled_objects(client, &*client.served_kind(PODS)?, object::namespace(set), object::uid(set));
    let is_unwanted = |pod: &Value| !nodes.iter().any(|node| node == node_of(pod)) || pods::is_ended(pod);
    for pod in owned_pods.iter().filter(|pod| is_unwanted(pod) && !object::is_deleting(pod)) {
        delete_pod(client, set, pod).await?;
    }
    for node in nodes.iter().filter(|node| !owned_pods.iter().any(|pod| node_of(pod) == node.as_str())) {
        let created = client.create(&*client.served_kind(PODS)?, &build_pod(kind, set, node, hash)).await?;
        let message = format!("Created pod: {}", object::name(&created));
        event::record(client, COMPONENT, set, "Normal", "SuccessfulCreate", &message).await;
    }
    let strategy = &set["spec"]["updateStrategy"];
    let active: Vec<&Value> = owned_pods.iter().filter(|pod| pods::is_active(pod) && !is_unwanted(pod)).collect();
    let outdated: Vec<&Value> = active.iter().copied().filter(|pod| !has_current_template(pod, hash)).collect();
    if strategy["type"] == "OnDelete" || outdated.is_empty() {
        return Ok(());
    }
    let max_unavailable = match &strategy["rollingUpdate"]["maxUnavailable"] {
        Value::String(percentage) => {
            let percent = percentage.trim_end_matches('%').parse::<usize>().unwrap_or(0);
            (nodes.len() * percent).div_ceil(100).max(1)
        }
        number => number.as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or(1).max(1),
    };
    let ready = active.iter().filter(|pod| pods::is_ready(pod)).count();
    // Nodes without a ready Pod count towards `maxUnavailable`.
    let mut deletable_ready = max_unavailable.saturating_sub(nodes.len().saturating_sub(ready));
    for pod in outdated {
        if !pods::is_ready(pod) {
            delete_pod(client, set, pod).await?;
        } else if deletable_ready > 0 {
            deletable_ready -= 1;
            delete_pod(client, set, pod).await?;
        }
    }
    Ok(())
}

/// Returns a Pod of the DaemonSet that can run only on one node, with the node affinity and the tolerations that kube-controller-manager
/// adds.
fn build_pod(kind: &Kind, set: &Value, node: &str, hash: &str) -> Value {
    let mut pod = pods::from_template(&set["spec"]["template"], kind, set);
    let generation = set["metadata"]["annotations"]["deprecated.daemonset.template.generation"].as_str();
    object::map_at(&mut pod, &["metadata", "labels"])
        .extend([(REVISION.to_owned(), Value::from(hash)), (GENERATION.to_owned(), generation.unwrap_or("1").into())]);
    let name_is_node = json!({"key": "metadata.name", "operator": "In", "values": [node]});
    pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
        json!({"nodeSelectorTerms": [{"matchFields": [name_is_node]}]});
    let mut tolerations = pod["spec"]["tolerations"].as_array().cloned().unwrap_or_default();
    for (taint, effect) in [
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    ] {
        tolerations.push(json!({"key": format!("node.kubernetes.io/{taint}"), "operator": "Exists", "effect": effect}));
    }
    pod["spec"]["tolerations"] = tolerations.into();
    pod
}

/// Deletes a Pod and records an Event about it.
async fn delete_pod(client: &ControllerClient, set: &Value, pod: &Value) -> Result<(), ApiError> {
    let key = (object::namespace(pod), object::name(pod));
    match client.delete(&*client.served_kind(PODS)?, key, &json!({"preconditions": {"uid": object::uid(pod)}})).await {
        Err(refused) if !refused.is_not_found() => return Err(refused),
        _ => {}
    }
    let message = format!("Deleted pod: {}", object::name(pod));
    event::record(client, COMPONENT, set, "Normal", "SuccessfulDelete", &message).await;
    Ok(())
}

/// Writes the status of the DaemonSet if it changed. Returns the action that reconciles again when the next Pod becomes
/// available.
async fn update_status(
    client: &ControllerClient,
    kind: &Kind,
    mut set: Value,
    nodes: &[String],
    hash: &str,
) -> ReconcileResult {
    let environment = &client.server.environment;
    let owned_pods =
        pods::controlled_objects(client, &*client.served_kind(PODS)?, object::namespace(&set), object::uid(&set));
    let on_node = |pod: &&Value| !object::is_deleting(pod) && nodes.iter().any(|node| node == node_of(pod));
    let active: Vec<&Value> = owned_pods.iter().filter(on_node).collect();
    let seconds = object::number(&set, &["spec", "minReadySeconds"]).unwrap_or(0);
    let tally = Tally::of(active.iter().copied(), seconds, environment.now());
    let desired = i64::try_from(nodes.len()).unwrap_or(i64::MAX);
    let updated = active.iter().filter(|pod| has_current_template(pod, hash)).count();
    let mut status = json!({
        "currentNumberScheduled": active.len(), "numberMisscheduled": 0, "desiredNumberScheduled": desired,
        "numberReady": tally.ready, "observedGeneration": set["metadata"]["generation"],
    });
    let updated = i64::try_from(updated).unwrap_or(i64::MAX);
    for (name, count) in [
        ("updatedNumberScheduled", updated),
        ("numberAvailable", tally.available),
        ("numberUnavailable", desired - tally.available),
    ] {
        if count > 0 {
            status[name] = count.into();
        }
    }
    if set["status"] != status {
        set["status"] = status;
        match client.replace(kind, "status", &set).await {
            Err(refused) if !refused.is_not_found() => return Err(refused),
            _ => {}
        }
    }
    Ok(tally.next_action(environment))
}

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

#[derive(Debug)]
pub(super) struct DaemonSets;

impl Controller for DaemonSets {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[SETS, PODS, NODES])
    }

    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        match group_resource {
            SETS => vec![pods::key(event)],
            PODS => pods::controller_keys(event, "DaemonSet"),
            // A new or deleted node concerns all DaemonSets.
            _ if event.deleted || event.before.is_none() => {
                let (_, sets) = client.server.store.list(SETS, None);
                sets.iter().map(|set| (set.namespace.to_string(), set.name.to_string())).collect()
            }
            _ => Vec::new(),
        }
    }

    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let kind = client.served_kind(SETS)?;
        let Some(set) = client.get(&kind, namespace, name) else { return Ok(Action::AwaitChange) };
        if object::is_deleting(&set) {
            return Ok(Action::AwaitChange);
        }
        let (revision, _) = revision::of(client, &kind, &set, revision::OF_DAEMON_SET).await?;
        let hash = object::text(&revision, &["metadata", "labels", revision::OF_DAEMON_SET]).to_owned();
        let nodes = nodes(client, &set)?;
        place(client, &kind, &set, &nodes, &hash).await?;
        update_status(client, &kind, set, &nodes, &hash).await
    }
}

/// Returns the nodes that need a Pod.
fn nodes(client: &ControllerClient, set: &Value) -> Result<Vec<String>, ApiError> {
    let wanted = set["spec"]["template"]["spec"]["nodeSelector"].as_object();
    let nodes = client.list(&*client.served_kind(NODES)?, None);
    let suits = |node: &&Value| {
        wanted.into_iter().flatten().all(|(key, value)| node["metadata"]["labels"].get(key) == Some(value))
    };
    Ok(nodes.iter().filter(suits).map(|node| object::name(node).to_owned()).collect())
}

/// Returns the node of a Pod: the one it is bound to, or the one that its affinity names.
fn node_of(pod: &Value) -> &str {
    let bound = object::text(pod, &["spec", "nodeName"]);
    if !bound.is_empty() {
        return bound;
    }
    let path = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values/0";
    pod.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

fn is_new(pod: &Value, hash: &str) -> bool {
    object::text(pod, &["metadata", "labels", REVISION]) == hash
}

/// Creates missing Pods, and deletes unwanted Pods and Pods of an old template.
async fn place(
    client: &ControllerClient,
    kind: &Kind,
    set: &Value,
    nodes: &[String],
    hash: &str,
) -> Result<(), ApiError> {
    let own = pods::controlled_objects(client, &*client.served_kind(PODS)?, object::namespace(set), object::uid(set));
    for pod in &own {
        let unwanted = !nodes.iter().any(|node| node == node_of(pod)) || pods::is_ended(pod);
        if unwanted && !object::is_deleting(pod) {
            delete(client, set, pod).await?;
        }
    }
    for node in nodes.iter().filter(|node| !own.iter().any(|pod| node_of(pod) == node.as_str())) {
        let created = client.create(&*client.served_kind(PODS)?, &pod(kind, set, node, hash)).await?;
        let message = format!("Created pod: {}", object::name(&created));
        event::record(client, COMPONENT, set, "Normal", "SuccessfulCreate", &message).await;
    }
    let strategy = &set["spec"]["updateStrategy"];
    let old: Vec<&Value> = own.iter().filter(|pod| !is_new(pod, hash) && pods::is_active(pod)).collect();
    if strategy["type"] == "OnDelete" || old.is_empty() {
        return Ok(());
    }
    let most = match &strategy["rollingUpdate"]["maxUnavailable"] {
        Value::String(share) => {
            let percent = share.trim_end_matches('%').parse::<usize>().unwrap_or(0);
            (nodes.len() * percent).div_ceil(100).max(1)
        }
        number => number.as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or(1).max(1),
    };
    let ready = own.iter().filter(|pod| pods::is_active(pod) && pods::is_ready(pod)).count();
    let mut spare = most.saturating_sub(nodes.len().saturating_sub(ready));
    for pod in old {
        if !pods::is_ready(pod) {
            delete(client, set, pod).await?;
        } else if spare > 0 {
            spare -= 1;
            delete(client, set, pod).await?;
        }
    }
    Ok(())
}

fn pod(kind: &Kind, set: &Value, node: &str, hash: &str) -> Value {
    let mut pod = pods::from_template(&set["spec"]["template"], kind, set);
    let generation = set["metadata"]["annotations"]["deprecated.daemonset.template.generation"].as_str();
    object::map_at(&mut pod, &["metadata", "labels"])
        .extend([(REVISION.to_owned(), Value::from(hash)), (GENERATION.to_owned(), generation.unwrap_or("1").into())]);
    let field = json!({"key": "metadata.name", "operator": "In", "values": [node]});
    pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
        json!({"nodeSelectorTerms": [{"matchFields": [field]}]});
    let mut tolerations = pod["spec"]["tolerations"].as_array().cloned().unwrap_or_default();
    for (what, effect) in [
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    ] {
        tolerations.push(json!({"key": format!("node.kubernetes.io/{what}"), "operator": "Exists", "effect": effect}));
    }
    pod["spec"]["tolerations"] = tolerations.into();
    pod
}

async fn delete(client: &ControllerClient, set: &Value, pod: &Value) -> Result<(), ApiError> {
    let at = (object::namespace(pod), object::name(pod));
    match client.delete(&*client.served_kind(PODS)?, at, &json!({"preconditions": {"uid": object::uid(pod)}})).await {
        Err(refused) if !refused.is_not_found() => return Err(refused),
        _ => {}
    }
    let message = format!("Deleted pod: {}", object::name(pod));
    event::record(client, COMPONENT, set, "Normal", "SuccessfulDelete", &message).await;
    Ok(())
}

/// Writes the status of the DaemonSet.
async fn update_status(
    client: &ControllerClient,
    kind: &Kind,
    mut set: Value,
    nodes: &[String],
    hash: &str,
) -> ReconcileResult {
    let environment = &client.server.environment;
    let own = pods::controlled_objects(client, &*client.served_kind(PODS)?, object::namespace(&set), object::uid(&set));
    let on_node = |pod: &&Value| !object::is_deleting(pod) && nodes.iter().any(|node| node == node_of(pod));
    let placed: Vec<&Value> = own.iter().filter(on_node).collect();
    let seconds = object::number(&set, &["spec", "minReadySeconds"]).unwrap_or(0);
    let tally = Tally::of(placed.iter().copied(), seconds, environment.now());
    let wanted = i64::try_from(nodes.len()).unwrap_or(i64::MAX);
    let updated = placed.iter().filter(|pod| is_new(pod, hash)).count();
    let mut status = json!({
        "currentNumberScheduled": placed.len(), "numberMisscheduled": 0, "desiredNumberScheduled": wanted,
        "numberReady": tally.ready, "observedGeneration": set["metadata"]["generation"],
    });
    let updated = i64::try_from(updated).unwrap_or(i64::MAX);
    for (name, count) in [
        ("updatedNumberScheduled", updated),
        ("numberAvailable", tally.available),
        ("numberUnavailable", wanted - tally.available),
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

//! Simulates the kubelet of the only node: registers the node, and reports Pods as running once they are bound, unless an annotation sets
//! another sequence of statuses.

use serde_json::{Value, json};

use super::{
    Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult,
    pods::{self, PODS},
};
use crate::{
    object,
    pod_status::{self, NODE},
};

pub(super) const USER: &str = "system:node:plane";
const NODES: &str = "nodes";

/// Reports the statuses of Pods and finishes their deletion.
#[derive(Debug)]
pub(super) struct Kubelet;

impl Controller for Kubelet {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[PODS])
    }

    fn keys_for(&mut self, _: &ControllerClient, _: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        if event.deleted { Vec::new() } else { vec![pods::key(event)] }
    }

    /// Returns the key of the node, which has no namespace.
    fn initial_keys(&self) -> Vec<ObjectKey> {
        vec![(String::new(), NODE.to_owned())]
    }

    /// Writes the next status of a Pod that is bound to the node, or deletes a terminating one without further delay. The key without a
    /// namespace registers the node.
    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        if namespace.is_empty() {
            return register(client).await;
        }
        let kind = client.served_kind(PODS)?;
        let Some(pod) = client.get(&kind, namespace, name) else { return Ok(Action::AwaitChange) };
        if object::text(&pod, &["spec", "nodeName"]).is_empty() {
            return Ok(Action::AwaitChange);
        }
        let key = (namespace.as_str(), name.as_str());
        let response = if object::is_deleting(&pod) {
            // The Pod was already deleted without a grace period, and waits only for its finalizers.
            if object::number(&pod, &["metadata", "deletionGracePeriodSeconds"]) == Some(0) {
                return Ok(Action::AwaitChange);
            }
            let options = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": object::uid(&pod)}});
            client.delete(&kind, key, &options).await
        } else {
            let Some(status) = pod_status::next_status(&pod) else { return Ok(Action::AwaitChange) };
            client.merge_patch(&kind, key, "status", &json!({"status": status})).await
        };
        match response {
            Err(refused) if !refused.is_not_found() => Err(refused),
            _ => Ok(Action::AwaitChange),
        }
    }
}

/// Registers the node: creates it, removes the taint that admission adds to every new node, and reports it as ready.
async fn register(client: &ControllerClient) -> ReconcileResult {
    let kind = client.served_kind(NODES)?;
    let labels = json!({"kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux"});
    let node = json!({"metadata": {"name": NODE, "labels": labels}});
    let created = client.create(&kind, &node).await;
    let allow_existing = |response: Result<Value, ApiError>| match response {
        Err(refused) if !refused.is_already_exists() => Err(refused),
        _ => Ok(()),
    };
    allow_existing(created)?;
    client.merge_patch(&kind, ("", NODE), "", &json!({"spec": {"taints": null}})).await?;
    client.merge_patch(&kind, ("", NODE), "status", &json!({"status": pod_status::node_status()})).await?;
    Ok(Action::AwaitChange)
}

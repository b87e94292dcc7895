//! Implements a scheduler that binds each Pod to the only node of the simulated cluster.

use serde_json::json;

use super::{
    Action, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult,
    pods::{self, PODS},
};
use crate::{object, pod_status::NODE};

/// Binds Pods that name the default scheduler and have no scheduling gates.
#[derive(Debug)]
pub(super) struct Scheduler;

impl Controller for Scheduler {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[PODS])
    }

    fn keys_for(&mut self, _: &ControllerClient, _: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        if event.deleted || event.object.deleting { Vec::new() } else { vec![pods::key(event)] }
    }

    /// Binds a Pod to the only node, unless the Pod is bound, terminating, has scheduling gates, or names another scheduler.
    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let kind = client.served_kind(PODS)?;
        let Some(pod) = client.get(&kind, namespace, name) else { return Ok(Action::AwaitChange) };
        let scheduler = object::text(&pod, &["spec", "schedulerName"]);
        let gated = pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty());
        let bound = !object::text(&pod, &["spec", "nodeName"]).is_empty();
        if bound || gated || object::is_deleting(&pod) || !matches!(scheduler, "" | "default-scheduler") {
            return Ok(Action::AwaitChange);
        }
        let binding = json!({
            "apiVersion": "v1", "kind": "Binding", "target": {"kind": "Node", "name": NODE},
            "metadata": {"namespace": namespace, "name": name, "uid": object::uid(&pod)},
        });
        match client.create_subresource(&kind, "binding", &binding).await {
            // A conflict means that another client has written the Pod, whose event leads to the next reconcile.
            Err(refused) if !refused.is_not_found() && refused.code != 409 => Err(refused),
            _ => Ok(Action::AwaitChange),
        }
    }
}

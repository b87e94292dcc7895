//! Implements the controller of ReplicaSets and ReplicationControllers: keeps a number of Pods.

use serde_json::{Value, json};

use super::{
    Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult, event,
    pods::{self, PODS, Tally},
};
use crate::{
    call::selector::LabelSelector,
    condition::{self, Condition, Style},
    kind::Kind,
    object,
};

pub(super) const REPLICA_SETS: &str = "replicasets.apps";
const REPLICATION_CONTROLLERS: &str = "replicationcontrollers";

/// The maximum number of Pods that one reconcile creates or deletes; the events of these Pods cause the next reconcile.
///
/// Source: `BurstReplicas` of kube-controller-manager's ReplicaSet controller.
const BURST: usize = 500;

/// The controller of ReplicaSets, or that of ReplicationControllers.
#[derive(Debug)]
pub(super) struct ReplicaSets {
    group_resource: &'static str,
    kind: &'static str,
    component: &'static str,
    sources: &'static [&'static str],
}

impl ReplicaSets {
    pub(super) const SETS: Self = Self {
        group_resource: REPLICA_SETS,
        kind: "ReplicaSet",
        component: "replicaset-controller",
        sources: &[REPLICA_SETS, PODS],
    };
    pub(super) const CONTROLLERS: Self = Self {
        group_resource: REPLICATION_CONTROLLERS,
        kind: "ReplicationController",
        component: "replication-controller",
        sources: &[REPLICATION_CONTROLLERS, PODS],
    };

    /// Returns the label selector of a set. The selector of a ReplicationController is a map of labels.
    fn selector(&self, set: &Value) -> LabelSelector {
        let selector = &set["spec"]["selector"];
        if self.group_resource == REPLICA_SETS {
            LabelSelector::of_object(selector)
        } else {
            LabelSelector::of_object(&json!({"matchLabels": selector}))
        }
    }
}

impl Controller for ReplicaSets {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(self.sources)
    }

    /// Returns the changed ReplicaSet (or ReplicationController), the set that controls a changed Pod, or the sets that may adopt a Pod
    /// without owners.
    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        if group_resource == self.group_resource {
            return vec![pods::key(event)];
        }
        if !event.object.owners.is_empty() || event.deleted {
            return pods::controller_keys(event, self.kind);
        }
        let Ok(kind) = client.served_kind(self.group_resource) else { return Vec::new() };
        let sets = client.list(&kind, Some(&event.object.namespace)).into_iter();
        let selects = |set: &Value| self.selector(set).matches(|label| event.object.label(label));
        sets.filter(selects).map(|set| (object::namespace(&set).to_owned(), object::name(&set).to_owned())).collect()
    }

    /// Reconciles a ReplicaSet or ReplicationController: adopts matching Pods, creates or deletes Pods, and writes the status. Returns a
    /// refused creation or deletion as an error after the status was written.
    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let (kind, pods) = (client.served_kind(self.group_resource)?, client.served_kind(PODS)?);
        let Some(set) = client.get(&kind, namespace, name) else { return Ok(Action::AwaitChange) };
        pods::adopt(client, &pods, &kind, &set, |_, pod| !pods::is_ended(pod)).await?;
        let owned_pods = pods::controlled_objects(client, &pods, namespace, object::uid(&set));
        let failure =
            if object::is_deleting(&set) { None } else { self.scale(client, &kind, &set, owned_pods).await.err() };
        let next = update_status(client, &kind, set, failure.as_ref()).await?;
        failure.map_or(Ok(next), Err)
    }
}

impl ReplicaSets {
    /// Creates or deletes Pods until the requested number is active, at most `BURST` in one reconcile, and records an Event for each of
    /// them. Stops without an error if the namespace is terminating.
    async fn scale(
        &self,
        client: &ControllerClient,
        kind: &Kind,
        set: &Value,
        owned_pods: Vec<Value>,
    ) -> Result<(), ApiError> {
        let pods = client.served_kind(PODS)?;
        let mut active: Vec<Value> = owned_pods.into_iter().filter(pods::is_active).collect();
        let desired =
            object::number(set, &["spec", "replicas"]).and_then(|desired| usize::try_from(desired).ok()).unwrap_or(1);
        for _ in active.len()..desired.min(active.len() + BURST) {
            let pod = pods::from_template(&set["spec"]["template"], kind, set);
            match client.create(&pods, &pod).await {
                Ok(created) => {
                    let message = format!("Created pod: {}", object::name(&created));
                    event::record(client, self.component, set, "Normal", "SuccessfulCreate", &message).await;
                }
                // The failure needs no Event, because the set is deleted with its namespace.
                Err(refused) if refused.is_namespace_terminating() => return Ok(()),
                Err(refused) => {
                    let message = format!("Error creating: {}", refused.message);
                    event::record(client, self.component, set, "Warning", "FailedCreate", &message).await;
                    return Err(refused);
                }
            }
        }
        if active.len() > desired {
            pods::sort_for_deletion(&mut active);
            for pod in active[..active.len() - desired].iter().take(BURST) {
                let key = (object::namespace(pod), object::name(pod));
                match client.delete(&pods, key, &json!({"preconditions": {"uid": object::uid(pod)}})).await {
                    Err(refused) if !refused.is_not_found() => return Err(refused),
                    _ => {}
                }
                let message = format!("Deleted pod: {}", object::name(pod));
                event::record(client, self.component, set, "Normal", "SuccessfulDelete", &message).await;
            }
        }
        Ok(())
    }
}

/// Writes the status if it changed: the numbers of Pods, and the condition `ReplicaFailure` if `failure` is given. Returns the action that
/// reconciles again when the next Pod becomes available.
async fn update_status(
    client: &ControllerClient,
    kind: &Kind,
    mut set: Value,
    failure: Option<&ApiError>,
) -> ReconcileResult {
    let environment = &client.server.environment;
    let pods =
        pods::controlled_objects(client, &*client.served_kind(PODS)?, object::namespace(&set), object::uid(&set));
    let (active, others): (Vec<_>, Vec<_>) = pods.into_iter().partition(pods::is_active);
    let labels: Vec<(String, String)> =
        object::labels(&set["spec"]["template"]).map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let has_template_labels = |pod: &&Value| {
        labels.iter().all(|(key, value)| {
            object::labels(pod).any(|(other_key, other_value)| other_key == key && other_value == value)
        })
    };
    let seconds = object::number(&set, &["spec", "minReadySeconds"]).unwrap_or(0);
    let tally = Tally::of(&active, seconds, environment.now());
    let mut status = json!({
        "replicas": active.len(),
        "terminatingReplicas": others.iter().filter(|pod| object::is_deleting(pod) && !pods::is_ended(pod)).count(),
        "observedGeneration": set["metadata"]["generation"],
    });
    let labeled = active.iter().filter(has_template_labels).count();
    let counts = [
        ("fullyLabeledReplicas", i64::try_from(labeled).unwrap_or(i64::MAX)),
        ("readyReplicas", tally.ready),
        ("availableReplicas", tally.available),
    ];
    for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        status[name] = count.into();
    }
    if let Some(existing) = object::at(&set, &["status", "conditions"]) {
        status["conditions"] = existing.clone();
    }
    match failure {
        Some(refused) => {
            let failed = Condition::new("ReplicaFailure", true, "FailedCreate", &*refused.message);
            if !condition::find(&status, failed.type_).is_some_and(|before| failed.matches_reason(before)) {
                condition::set(&mut status, &failed, &environment.time(), Style::REPLICA_SET);
            }
        }
        None => {
            condition::remove(&mut status, "ReplicaFailure");
            if status["conditions"].as_array().is_some_and(Vec::is_empty)
                && let Value::Object(status) = &mut status
            {
                status.remove("conditions");
            }
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

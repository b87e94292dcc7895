//! Implements the disruption controller: computes how many Pods of a PodDisruptionBudget may be evicted.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    Action, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult,
    pods::{self, PODS},
};
use crate::{call::selector::LabelSelector, object, store::Stored};

const BUDGETS: &str = "poddisruptionbudgets.policy";

/// The time after which an evicted Pod that still exists counts as healthy again (`DeletionTimeout`).
const EVICTION_TIMEOUT: SignedDuration = SignedDuration::from_secs(120);

/// Maintains the status of PodDisruptionBudgets.
#[derive(Debug)]
pub(super) struct Budgets;

impl Controller for Budgets {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[BUDGETS, PODS])
    }

    /// Returns the changed PodDisruptionBudget, or the budgets that select a changed Pod before or after its change.
    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        if group_resource == BUDGETS {
            return vec![pods::key(event)];
        }
        let Ok(kind) = client.served_kind(BUDGETS) else { return Vec::new() };
        let states = [Some(&event.object), event.before.as_ref()];
        let budgets = client.list(&kind, Some(&event.object.namespace)).into_iter();
        let affected = budgets.filter(|budget| states.iter().flatten().any(|state| selects(budget, state)));
        affected.map(|budget| (object::namespace(&budget).to_owned(), object::name(&budget).to_owned())).collect()
    }

    /// Computes and writes the status of a PodDisruptionBudget: the number of healthy Pods, and how many more may be evicted. Requeues the
    /// budget at the time at which the next pending eviction expires.
    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let kind = client.served_kind(BUDGETS)?;
        let Some(mut budget) = client.get(&kind, namespace, name) else { return Ok(Action::AwaitChange) };
        let now = client.server.environment.now();
        let (_, all) = client.server.store.list(PODS, Some(namespace));
        let pods = client.served_kind(PODS)?;
        let budget_pods: Vec<Value> = all
            .iter()
            .filter(|pod| selects(&budget, pod))
            .map(|pod| pod.object(&pods))
            .filter(|pod| !pods::is_ended(pod))
            .collect();
        let (disrupted, next) = disrupted_pods(&budget, &budget_pods, now);
        let healthy = |pod: &&Value| {
            !object::is_deleting(pod) && pods::is_ready(pod) && disrupted.get(object::name(pod)).is_none()
        };
        let healthy = i64::try_from(budget_pods.iter().filter(healthy).count()).unwrap_or(i64::MAX);
        let (expected, desired) = expected_and_desired(client, &budget, &budget_pods);
        // A budget without expected Pods allows no disruption.
        let allowed = if expected == 0 { 0 } else { (healthy - desired).max(0) };
        let mut status = json!({
            "observedGeneration": budget["metadata"]["generation"], "disruptionsAllowed": allowed,
            "currentHealthy": healthy, "desiredHealthy": desired, "expectedPods": expected,
            "conditions": [condition(&budget, allowed > 0, &crate::environment::seconds(now))],
        });
        if !disrupted.is_empty() {
            status["disruptedPods"] = disrupted.into();
        }
        if budget["status"] != status {
            budget["status"] = status;
            match client.replace(&kind, "status", &budget).await {
                Err(refused) if !refused.is_not_found() => return Err(refused),
                _ => {}
            }
        }
        Ok(next
            .map_or(Action::AwaitChange, |next| Action::RequeueAt(pods::to_instant(&client.server.environment, next))))
    }
}

/// Returns whether the selector of a budget matches a Pod; an absent selector matches none.
fn selects(budget: &Value, pod: &Stored) -> bool {
    let selector = &budget["spec"]["selector"];
    selector.is_object() && LabelSelector::of_object(selector).matches(|key| pod.label(key))
}

/// Returns the entries of `status.disruptedPods` that are still valid, and the time at which the first of them expires. An entry names a
/// Pod whose eviction was accepted; it is valid until the Pod is terminating or gone, or until `EVICTION_TIMEOUT` is over.
fn disrupted_pods(
    budget: &Value,
    budget_pods: &[Value],
    now: Timestamp,
) -> (serde_json::Map<String, Value>, Option<Timestamp>) {
    let mut in_progress = serde_json::Map::new();
    let mut next: Option<Timestamp> = None;
    for (name, since) in budget["status"]["disruptedPods"].as_object().into_iter().flatten() {
        let exists = budget_pods.iter().any(|pod| object::name(pod) == name && !object::is_deleting(pod));
        let expires_at =
            since.as_str().and_then(|since| since.parse::<Timestamp>().ok()?.checked_add(EVICTION_TIMEOUT).ok());
        if let Some(expires_at) = expires_at.filter(|expires_at| exists && *expires_at > now) {
            in_progress.insert(name.clone(), since.clone());
            next = Some(next.map_or(expires_at, |next| next.min(expires_at)));
        }
    }
    (in_progress, next)
}

/// Returns the expected number of Pods and the desired number of healthy Pods, like `getExpectedPodCount` of
/// kube-controller-manager.
fn expected_and_desired(client: &ControllerClient, budget: &Value, budget_pods: &[Value]) -> (i64, i64) {
    let spec = &budget["spec"];
    let rounded_up_percentage =
        |text: &str, total: i64| (total * text.trim_end_matches('%').parse::<i64>().unwrap_or(0) + 99) / 100;
    let count = i64::try_from(budget_pods.len()).unwrap_or(i64::MAX);
    match (&spec["minAvailable"], &spec["maxUnavailable"]) {
        (Value::Number(min_available), _) => (count, min_available.as_i64().unwrap_or(0)),
        (Value::String(min_available), _) => {
            let expected = expected_scale(client, budget_pods);
            (expected, rounded_up_percentage(min_available, expected))
        }
        (_, Value::Number(max_unavailable)) => {
            let expected = expected_scale(client, budget_pods);
            (expected, (expected - max_unavailable.as_i64().unwrap_or(0)).max(0))
        }
        (_, Value::String(max_unavailable)) => {
            let expected = expected_scale(client, budget_pods);
            (expected, (expected - rounded_up_percentage(max_unavailable, expected)).max(0))
        }
        _ => (count, 1),
    }
}

/// Returns the total number of replicas that the controllers of the Pods request. Follows the owner references from each Pod to the
/// outermost controller, such as the Deployment of a ReplicaSet, and counts each controller once.
fn expected_scale(client: &ControllerClient, budget_pods: &[Value]) -> i64 {
    let mut replicas_by_controller: BTreeMap<String, i64> = BTreeMap::new();
    for pod in budget_pods {
        let mut owner = pod.clone();
        while let Some(owner_reference) =
            object::owners(&owner).into_iter().find(|owner_reference| owner_reference.controller)
        {
            let kind = client.server.kinds.of_kind(&owner_reference.api_version, &owner_reference.kind);
            let found = kind.and_then(|kind| client.get(&kind, object::namespace(pod), &owner_reference.name));
            let Some(found) = found.filter(|found| object::uid(found) == owner_reference.uid) else { break };
            owner = found;
        }
        if let Some(replicas) = object::number(&owner, &["spec", "replicas"]) {
            replicas_by_controller.insert(object::uid(&owner).to_owned(), replicas);
        }
    }
    replicas_by_controller.values().sum()
}

/// Returns the condition `DisruptionAllowed`, which keeps its transition time while its status stays the same.
fn condition(budget: &Value, allowed: bool, now: &str) -> Value {
    let (status, reason) = if allowed { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    let existing = budget["status"]["conditions"].as_array().into_iter().flatten();
    let existing = existing
        .into_iter()
        .find(|condition| condition["type"] == "DisruptionAllowed" && condition["status"] == status);
    let since = existing.map_or_else(|| now.into(), |existing| existing["lastTransitionTime"].clone());
    json!({
        "type": "DisruptionAllowed", "status": status, "observedGeneration": budget["metadata"]["generation"],
        "lastTransitionTime": since, "reason": reason, "message": "",
    })
}

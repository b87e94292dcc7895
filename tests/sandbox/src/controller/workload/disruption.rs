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

/// The time after which an evicted Pod that still exists counts as healthy again.
const EVICTION: SignedDuration = SignedDuration::from_secs(120);

#[derive(Debug)]
pub(super) struct Budgets;

impl Controller for Budgets {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[BUDGETS, PODS])
    }

    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        if group_resource == BUDGETS {
            return vec![pods::key(event)];
        }
        let Ok(kind) = client.served_kind(BUDGETS) else { return Vec::new() };
        let states = [Some(&event.object), event.before.as_ref()];
        let budgets = client.list(&kind, Some(&event.object.namespace)).into_iter();
        let concerned = budgets.filter(|budget| states.iter().flatten().any(|state| selects(budget, state)));
        concerned.map(|budget| (object::namespace(&budget).to_owned(), object::name(&budget).to_owned())).collect()
    }

    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let kind = client.served_kind(BUDGETS)?;
        let Some(mut budget) = client.get(&kind, namespace, name) else { return Ok(Action::AwaitChange) };
        let now = client.server.environment.now();
        let (_, all) = client.server.store.list(PODS, Some(namespace));
        let pods = client.served_kind(PODS)?;
        let own: Vec<Value> = all
            .iter()
            .filter(|pod| selects(&budget, pod))
            .map(|pod| pod.object(&pods))
            .filter(|pod| !pods::is_ended(pod))
            .collect();
        let (disrupted, next) = disrupted(&budget, &own, now);
        let healthy = |pod: &&Value| {
            !object::is_deleting(pod) && pods::is_ready(pod) && disrupted.get(object::name(pod)).is_none()
        };
        let healthy = i64::try_from(own.iter().filter(healthy).count()).unwrap_or(i64::MAX);
        let (expected, desired) = wanted(client, &budget, &own);
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
        Ok(next.map_or(Action::AwaitChange, |next| Action::RequeueAt(pods::instant(&client.server.environment, next))))
    }
}

fn selects(budget: &Value, pod: &Stored) -> bool {
    let selector = &budget["spec"]["selector"];
    selector.is_object() && LabelSelector::of_object(selector).matches(|key| pod.label(key))
}

/// Returns the Pods with an eviction in progress, and the time at which the first of them expires.
fn disrupted(budget: &Value, own: &[Value], now: Timestamp) -> (serde_json::Map<String, Value>, Option<Timestamp>) {
    let mut kept = serde_json::Map::new();
    let mut next: Option<Timestamp> = None;
    for (name, since) in budget["status"]["disruptedPods"].as_object().into_iter().flatten() {
        let lives = own.iter().any(|pod| object::name(pod) == name && !object::is_deleting(pod));
        let until = since.as_str().and_then(|since| since.parse::<Timestamp>().ok()?.checked_add(EVICTION).ok());
        if let Some(until) = until.filter(|until| lives && *until > now) {
            kept.insert(name.clone(), since.clone());
            next = Some(next.map_or(until, |next| next.min(until)));
        }
    }
    (kept, next)
}

/// Returns the expected number of Pods and the required number of healthy Pods.
fn wanted(client: &ControllerClient, budget: &Value, own: &[Value]) -> (i64, i64) {
    let spec = &budget["spec"];
    let share = |text: &str, of: i64| (of * text.trim_end_matches('%').parse::<i64>().unwrap_or(0) + 99) / 100;
    let counted = i64::try_from(own.len()).unwrap_or(i64::MAX);
    match (&spec["minAvailable"], &spec["maxUnavailable"]) {
        (Value::Number(least), _) => (counted, least.as_i64().unwrap_or(0)),
        (Value::String(least), _) => {
            let expected = expected(client, own);
            (expected, share(least, expected))
        }
        (_, Value::Number(most)) => {
            let expected = expected(client, own);
            (expected, (expected - most.as_i64().unwrap_or(0)).max(0))
        }
        (_, Value::String(most)) => {
            let expected = expected(client, own);
            (expected, (expected - share(most, expected)).max(0))
        }
        _ => (counted, 1),
    }
}

/// Returns the total number of replicas that the Pods' controllers request.
fn expected(client: &ControllerClient, own: &[Value]) -> i64 {
    let mut sizes: BTreeMap<String, i64> = BTreeMap::new();
    for pod in own {
        let mut owner = pod.clone();
        while let Some(up) = object::owners(&owner).into_iter().find(|up| up.controller) {
            let kind = client.server.kinds.of_kind(&up.api_version, &up.kind);
            let found = kind.and_then(|kind| client.get(&kind, object::namespace(pod), &up.name));
            let Some(found) = found.filter(|found| object::uid(found) == up.uid) else { break };
            owner = found;
        }
        if let Some(size) = object::number(&owner, &["spec", "replicas"]) {
            sizes.insert(object::uid(&owner).to_owned(), size);
        }
    }
    sizes.values().sum()
}

fn condition(budget: &Value, allowed: bool, now: &str) -> Value {
    let (word, reason) = if allowed { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    let held = budget["status"]["conditions"].as_array().into_iter().flatten();
    let held = held.into_iter().find(|own| own["type"] == "DisruptionAllowed" && own["status"] == word);
    let since = held.map_or_else(|| now.into(), |held| held["lastTransitionTime"].clone());
    json!({
        "type": "DisruptionAllowed", "status": word, "observedGeneration": budget["metadata"]["generation"],
        "lastTransitionTime": since, "reason": reason, "message": "",
    })
}

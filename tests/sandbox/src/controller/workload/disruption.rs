//! Disruption budgets say how many of their Pods may go.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    super::{Controller, Next, Outcome, Watches},
    Actor, Key, Seen,
    pods::{self, PODS},
};
use crate::{call::selector::LabelSelector, object, store::Stored};

const BUDGETS: &str = "poddisruptionbudgets.policy";

/// How long an eviction may take until the Pod counts again.
const EVICTION: SignedDuration = SignedDuration::from_secs(120);

#[derive(Debug)]
pub(super) struct Budgets;

impl Controller for Budgets {
    type Key = Key;

    fn watches(&self) -> Watches {
        Watches::Shelves(&[BUDGETS, PODS])
    }

    fn told(&mut self, actor: &Actor, shelf: &str, seen: &Seen) -> Vec<Key> {
        if shelf == BUDGETS {
            return vec![pods::key(seen)];
        }
        let Ok(kind) = actor.known(BUDGETS) else { return Vec::new() };
        let states = [Some(&seen.object), seen.before.as_ref()];
        let budgets = actor.list(&kind, Some(&seen.object.namespace)).into_iter();
        let concerned = budgets.filter(|budget| states.iter().flatten().any(|state| selects(budget, state)));
        concerned.map(|budget| (object::namespace(&budget).to_owned(), object::name(&budget).to_owned())).collect()
    }

    async fn reconcile(&mut self, actor: &Actor, (namespace, name): &Key) -> Outcome {
        let kind = actor.known(BUDGETS)?;
        let Some(mut budget) = actor.get(&kind, namespace, name) else { return Ok(Next::Rest) };
        let now = actor.server.environment.now();
        let (_, all) = actor.server.store.list(PODS, Some(namespace));
        let pods = actor.known(PODS)?;
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
        let (expected, desired) = wanted(actor, &budget, &own);
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
            match actor.replace(&kind, "status", &budget).await {
                Err(refused) if !refused.is_gone() => return Err(refused),
                _ => {}
            }
        }
        Ok(next.map_or(Next::Rest, |next| Next::At(pods::instant(&actor.server.environment, next))))
    }
}

fn selects(budget: &Value, pod: &Stored) -> bool {
    let selector = &budget["spec"]["selector"];
    selector.is_object() && LabelSelector::of_object(selector).matches(|key| pod.label(key))
}

/// The Pods that are being evicted and don't know it yet, and when the first of them is forgotten.
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

/// How many Pods there should be, and how many of them healthy.
fn wanted(actor: &Actor, budget: &Value, own: &[Value]) -> (i64, i64) {
    let spec = &budget["spec"];
    let share = |text: &str, of: i64| (of * text.trim_end_matches('%').parse::<i64>().unwrap_or(0) + 99) / 100;
    let counted = i64::try_from(own.len()).unwrap_or(i64::MAX);
    match (&spec["minAvailable"], &spec["maxUnavailable"]) {
        (Value::Number(least), _) => (counted, least.as_i64().unwrap_or(0)),
        (Value::String(least), _) => {
            let expected = expected(actor, own);
            (expected, share(least, expected))
        }
        (_, Value::Number(most)) => {
            let expected = expected(actor, own);
            (expected, (expected - most.as_i64().unwrap_or(0)).max(0))
        }
        (_, Value::String(most)) => {
            let expected = expected(actor, own);
            (expected, (expected - share(most, expected)).max(0))
        }
        _ => (counted, 1),
    }
}

/// How many Pods their controllers want together.
fn expected(actor: &Actor, own: &[Value]) -> i64 {
    let mut sizes: BTreeMap<String, i64> = BTreeMap::new();
    for pod in own {
        let mut owner = pod.clone();
        while let Some(up) = object::owners(&owner).into_iter().find(|up| up.controller) {
            let kind = actor.server.kinds.of_kind(&up.api_version, &up.kind);
            let found = kind.and_then(|kind| actor.get(&kind, object::namespace(pod), &up.name));
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

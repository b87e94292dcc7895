//! Implements `pods/eviction`: evicts a Pod if its PodDisruptionBudgets allow it.

use serde_json::{Value, json};

use super::super::delete::{DeleteOptions, delete_one};
use crate::{
    call::{DryRun, selector::LabelSelector},
    failure::Failure,
    kind::Kind,
    object,
    request::ResourceRequest,
    response::ApiResponse,
    store::Expect,
};

/// The group resource of PodDisruptionBudgets.
const BUDGETS: &str = "poddisruptionbudgets.policy";

pub(super) async fn evict(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let eviction = request.parse()?;
    if object::name(&eviction) != request.name {
        return Err(Failure::bad_request("name in URL does not match name in Eviction object"));
    }
    let mut options = DeleteOptions::of_body(&eviction["deleteOptions"])?;
    options.dry_run |= request.call.options.dry_run == DryRun::All;
    let pod = request.stored_object()?.object(request.kind);
    options.check(request, &pod)?;
    if !ignores_budgets(&pod) {
        disrupt(request, &pod, options.dry_run)?;
    }
    if !options.dry_run {
        say_why(request);
    }
    delete_one(request, &options, &mut Vec::new()).await?;
    Ok(ApiResponse::created())
}

/// Whether the eviction ignores budgets: the Pod is pending, finished or terminating.
fn ignores_budgets(pod: &Value) -> bool {
    object::is_deleting(pod) || matches!(object::text(pod, &["status", "phase"]), "Succeeded" | "Failed" | "Pending")
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// Checks the budget of the Pod, and records the disruption in its status.
fn disrupt(request: ResourceRequest<'_>, pod: &Value, dry_run: bool) -> Result<(), Failure> {
    let Some(kind) = request.server.kinds.find("policy", "v1", "poddisruptionbudgets") else { return Ok(()) };
    let (_, budgets) = request.server.store.list(BUDGETS, Some(request.namespace));
    let labels: Vec<_> = object::labels(pod).collect();
    let is_for_it = |budget: &Value| {
        let label = |key: &str| labels.iter().find(|(own, _)| *own == key).map(|(_, value)| *value);
        budget["spec"]["selector"].is_object() && LabelSelector::of_object(&budget["spec"]["selector"]).matches(label)
    };
    let mut own = budgets.iter().filter(|budget| is_for_it(&budget.object(&kind)));
    let Some(mut held) = own.next().cloned() else { return Ok(()) };
    if own.next().is_some() {
        let why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
        let mut failure = Failure::internal(why);
        failure.reason = "";
        return Err(failure);
    }
    loop {
        let mut budget = held.object(&kind);
        if !is_ready(pod) && may_evict_unready(&budget) {
            return Ok(());
        }
        check_budget(&budget)?;
        if dry_run {
            return Ok(());
        }
        let now = request.server.environment.time();
        let status = object::map_at(&mut budget, &["status"]);
        let allowed = status.get("disruptionsAllowed").and_then(Value::as_i64).unwrap_or(0) - 1;
        status.insert("disruptionsAllowed".into(), allowed.into());
        let disrupted = status.entry("disruptedPods").or_insert_with(|| json!({}));
        disrupted[request.name] = now.clone().into();
        if allowed == 0 {
            forbid(status, &now);
        }
        let (at, expected) = ((request.namespace, &*held.name), Expect::Version(held.version));
        match request.server.store.commit(&kind.group_resource, at, expected, Some(budget), &held.api_version) {
            Ok(_) => return Ok(()),
            Err(_) => held = read_again(request, &kind, &held.name)?,
        }
    }
}

fn read_again(
    request: ResourceRequest<'_>,
    kind: &Kind,
    name: &str,
) -> Result<std::sync::Arc<crate::store::Stored>, Failure> {
    request.server.store.get(BUDGETS, request.namespace, name).ok_or_else(|| Failure::not_found(kind, name))
}

fn forbid(status: &mut serde_json::Map<String, Value>, now: &str) {
    let generation = status.get("observedGeneration").cloned().unwrap_or_default();
    let conditions = status.entry("conditions").or_insert_with(|| json!([]));
    if let Some(conditions) = conditions.as_array_mut() {
        conditions.retain(|condition| condition["type"] != "DisruptionAllowed");
        conditions.push(json!({
            "type": "DisruptionAllowed", "status": "False", "observedGeneration": generation,
            "lastTransitionTime": now, "reason": "InsufficientPods", "message": "",
        }));
    }
}

fn status_number(budget: &Value, name: &str) -> i64 {
    object::number(budget, &["status", name]).unwrap_or(0)
}

/// Whether an unready Pod may be evicted: if enough others are healthy, or always if the budget allows it.
fn may_evict_unready(budget: &Value) -> bool {
    let always = budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow";
    let (healthy, wanted) = (status_number(budget, "currentHealthy"), status_number(budget, "desiredHealthy"));
    always || healthy >= wanted && wanted > 0
}

fn check_budget(budget: &Value) -> Result<(), Failure> {
    let name = object::name(budget);
    let refused = |message: String, seconds| {
        let why = "Cannot evict pod as it would violate the pod's disruption budget.";
        let cause = json!({"reason": "DisruptionBudget", "message": message});
        Failure::too_many(why, seconds).with_causes(vec![cause])
    };
    let generation = object::number(budget, &["metadata", "generation"]).unwrap_or(0);
    if status_number(budget, "observedGeneration") < generation {
        return Err(refused(format!("The disruption budget {name} is still being processed by the server."), 10));
    }
    if status_number(budget, "disruptionsAllowed") > 0 {
        return Ok(());
    }
    let (needs, has) = (status_number(budget, "desiredHealthy"), status_number(budget, "currentHealthy"));
    Err(refused(format!("The disruption budget {name} needs {needs} healthy pods and has {has} currently"), 0))
}

/// Adds the condition with the reason of the eviction to the Pod.
fn say_why(request: ResourceRequest<'_>) {
    let Ok(held) = request.stored_object() else { return };
    let mut pod = held.object(request.kind);
    if object::is_deleting(&pod) {
        return;
    }
    let now = request.server.environment.time();
    let conditions = object::map_at(&mut pod, &["status"]).entry("conditions").or_insert_with(|| json!([]));
    if let Some(conditions) = conditions.as_array_mut() {
        conditions.push(json!({
            "type": "DisruptionTarget", "status": "True", "lastProbeTime": null, "lastTransitionTime": now,
            "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting",
        }));
        // On a conflict the Pod goes without the condition, which is not essential.
        let (at, expected) = ((request.namespace, request.name), Expect::Version(held.version));
        let _ = request.server.store.commit(&request.kind.group_resource, at, expected, Some(pod), &held.api_version);
    }
}

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

/// Handles the creation of an eviction: deletes the Pod if its PodDisruptionBudget allows the disruption. Returns a 429
/// error if it does not.
pub(super) async fn evict(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let eviction = request.parse()?;
    if object::name(&eviction) != request.name {
        return Err(Failure::bad_request("name in URL does not match name in Eviction object"));
    }
    let mut options = DeleteOptions::parse_body(&eviction["deleteOptions"])?;
    options.dry_run |= request.call.options.dry_run == DryRun::All;
    let pod = request.stored_object()?.object(request.kind);
    options.check(request, &pod)?;
    if !ignores_budgets(&pod) {
        record_disruption(request, &pod, options.dry_run)?;
    }
    if !options.dry_run {
        add_disruption_condition(request);
    }
    delete_one(request, &options, &mut Vec::new()).await?;
    Ok(ApiResponse::created())
}

/// Returns whether the eviction of a Pod ignores PodDisruptionBudgets: a Pod that is pending, finished or terminating is not available
/// anyway.
fn ignores_budgets(pod: &Value) -> bool {
    object::is_deleting(pod) || matches!(object::text(pod, &["status", "phase"]), "Succeeded" | "Failed" | "Pending")
}

/// Returns whether the condition `Ready` of the Pod is true.
fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// Checks the PodDisruptionBudget that selects the Pod; unless `dry_run` is true, decrements its `disruptionsAllowed` and adds the Pod to
/// its `disruptedPods`. Returns an error if the budget allows no disruption, or if several budgets select the Pod.
fn record_disruption(request: ResourceRequest<'_>, pod: &Value, dry_run: bool) -> Result<(), Failure> {
    let Some(kind) = request.server.kinds.find("policy", "v1", "poddisruptionbudgets") else { return Ok(()) };
    let (_, budgets) = request.server.store.list(BUDGETS, Some(request.namespace));
    let labels: Vec<_> = object::labels(pod).collect();
    let selects_pod = |budget: &Value| {
        let label = |key: &str| labels.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
        budget["spec"]["selector"].is_object() && LabelSelector::of_object(&budget["spec"]["selector"]).matches(label)
    };
    let mut matching = budgets.iter().filter(|budget| selects_pod(&budget.object(&kind)));
    let Some(mut stored) = matching.next().cloned() else { return Ok(()) };
    if matching.next().is_some() {
        let why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
        let mut failure = Failure::internal(why);
        failure.reason = "";
        return Err(failure);
    }
    loop {
        let mut budget = stored.object(&kind);
        // The eviction of a Pod that is not ready does not count as a disruption.
        if !is_ready(pod) && may_evict_unready(&budget) {
            return Ok(());
        }
        check_budget(&budget)?;
        if dry_run {
            return Ok(());
        }
        let now = request.server.environment.time();
        let status = object::map_at(&mut budget, &["status"]);
        let still_allowed = status.get("disruptionsAllowed").and_then(Value::as_i64).unwrap_or(0) - 1;
        status.insert("disruptionsAllowed".into(), still_allowed.into());
        let disrupted_pods = status.entry("disruptedPods").or_insert_with(|| json!({}));
        disrupted_pods[request.name] = now.clone().into();
        if still_allowed == 0 {
            set_disallowed(status, &now);
        }
        let (key, expected) = ((request.namespace, &*stored.name), Expect::Version(stored.version));
        match request.server.store.commit(&kind.group_resource, key, expected, Some(budget), &stored.api_version) {
            Ok(_) => return Ok(()),
            // Another write came in between: repeats the check with the current budget.
            Err(_) => stored = stored_budget(request, &kind, &stored.name)?,
        }
    }
}

/// Returns the current state of a budget. Returns a 404 error if it was deleted.
fn stored_budget(
    request: ResourceRequest<'_>,
    kind: &Kind,
    name: &str,
) -> Result<std::sync::Arc<crate::store::Stored>, Failure> {
    request.server.store.get(BUDGETS, request.namespace, name).ok_or_else(|| Failure::not_found(kind, name))
}

/// Sets the condition `DisruptionAllowed` of a budget to false.
fn set_disallowed(status: &mut serde_json::Map<String, Value>, now: &str) {
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

/// Returns whether a Pod that is not ready may be evicted although the budget allows no disruption: always if `unhealthyPodEvictionPolicy`
/// is `AlwaysAllow`, else if the desired number of Pods is healthy.
fn may_evict_unready(budget: &Value) -> bool {
    let always = budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow";
    let (healthy, desired) = (status_number(budget, "currentHealthy"), status_number(budget, "desiredHealthy"));
    always || healthy >= desired && desired > 0
}

/// Returns a 429 error if the budget allows no further disruption, or if its status was computed for an older generation of its spec.
fn check_budget(budget: &Value) -> Result<(), Failure> {
    let name = object::name(budget);
    let too_many = |message: String, seconds| {
        let why = "Cannot evict pod as it would violate the pod's disruption budget.";
        let cause = json!({"reason": "DisruptionBudget", "message": message});
        Failure::too_many(why, seconds).with_causes(vec![cause])
    };
    let generation = object::number(budget, &["metadata", "generation"]).unwrap_or(0);
    if status_number(budget, "observedGeneration") < generation {
        return Err(too_many(format!("The disruption budget {name} is still being processed by the server."), 10));
    }
    if status_number(budget, "disruptionsAllowed") > 0 {
        return Ok(());
    }
    let (desired, current) = (status_number(budget, "desiredHealthy"), status_number(budget, "currentHealthy"));
    Err(too_many(format!("The disruption budget {name} needs {desired} healthy pods and has {current} currently"), 0))
}

/// Adds the condition `DisruptionTarget` to the Pod, with the reason `EvictionByEvictionAPI`. Does nothing if the Pod is terminating or
/// gone, or was changed by another write meanwhile.
fn add_disruption_condition(request: ResourceRequest<'_>) {
    let Ok(stored) = request.stored_object() else { return };
    let mut pod = stored.object(request.kind);
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
        // Ignores a conflict: the eviction succeeds without the condition.
        let (key, expected) = ((request.namespace, request.name), Expect::Version(stored.version));
        let _ =
            request.server.store.commit(&request.kind.group_resource, key, expected, Some(pod), &stored.api_version);
    }
}

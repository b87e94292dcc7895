//! Implements `ResourceQuota`: rejects objects that exceed the quotas of their namespace.

use std::collections::BTreeSet;

use http::Request;
use serde_json::Value;

use super::{lookup::stored_objects, pod_resources::Amounts, quota_usage};
use crate::{
    admission::{Operation, Review},
    failure::Failure,
    object,
    quantity::Quantity,
    user::User,
};

/// The maximum number of attempts to update the usage when other writes conflict.
const ATTEMPTS: usize = 16;

/// Rejects a create or update that exceeds a ResourceQuota of its namespace, and adds the usage of the object to the status of the quotas.
/// After a failed write of a status, such as a conflict, the quotas that are not written yet are checked again, up to `ATTEMPTS` times.
pub(crate) async fn validate(review: &Review<'_>) -> Result<(), Failure> {
    let request = review.request;
    let is_write = matches!(review.operation, Operation::Create | Operation::Update);
    if !is_write || !request.kind.namespaced || request.subresource.is_some() {
        return Ok(());
    }
    let mut written = BTreeSet::new();
    for _ in 0..ATTEMPTS {
        let mut quotas = stored_objects(request.server, "resourcequotas", Some(request.namespace));
        quotas
            .retain(|quota| !object::is_deleting(quota) && quota_usage::in_scope(quota, request.kind, &review.object));
        // These include the usage of the object since an earlier attempt.
        quotas.retain(|quota| !written.contains(object::name(quota)));
        let mut changes = Vec::new();
        for quota in quotas {
            changes.extend(add_usage(review, quota)?);
        }
        if review.is_dry_run() || write_usage(review, changes, &mut written).await {
            return Ok(());
        }
    }
    Err(Failure::internal("the usage of a quota is written by others all the time; try again later"))
}

/// Returns the quota with a status that includes the additional usage of the object; `None` if the object adds no usage.
///
/// # Errors
/// `Forbidden` if the quota would be exceeded, or if a Pod doesn't specify a limited compute resource.
fn add_usage(review: &Review<'_>, mut quota: Value) -> Result<Option<Value>, Failure> {
    let request = review.request;
    let limits = quota_usage::limits(&quota);
    let relevant =
        |amounts: Amounts| -> Amounts { amounts.into_iter().filter(|(name, _)| limits.contains_key(name)).collect() };
    let mut delta = relevant(quota_usage::of_object(request.kind, &review.object));
    if delta.is_empty() {
        return Ok(None);
    }
    if review.operation == Operation::Create {
        let missing = quota_usage::unspecified_resources(request.kind, &review.object, &limits);
        if !missing.is_empty() {
            let name = object::name(&quota);
            return Err(review.forbidden(&format!("failed quota: {name}: must specify {}", missing.join("; "))));
        }
    }
    // An update counts only by its difference from the old object.
    if let Some(old) = &review.old {
        for (name, before) in relevant(quota_usage::of_object(request.kind, old)) {
            let new_amount = delta.get(&name).copied().unwrap_or(Quantity::ZERO);
            delta.insert(name, new_amount.minus(before));
        }
    }
    delta.retain(|_, amount| amount.is_positive());
    if delta.is_empty() {
        return Ok(None);
    }
    let used = quota_usage::current_usage(request.server, &quota, &limits);
    let after = |name: &str, amount: Quantity| used.get(name).copied().unwrap_or(Quantity::ZERO).plus(amount);
    let exceeded: Vec<&String> = delta
        .iter()
        .filter(|(name, amount)| limits.get(*name).is_some_and(|limit| after(name, **amount) > *limit))
        .map(|(name, _)| name)
        .collect();
    if !exceeded.is_empty() {
        let listed = |amounts: &Amounts| {
            let amount_of =
                |name: &&String| format!("{name}={}", amounts.get(*name).copied().unwrap_or(Quantity::ZERO));
            exceeded.iter().map(amount_of).collect::<Vec<_>>().join(",")
        };
        let name = object::name(&quota);
        let (requested, used, limited) = (listed(&delta), listed(&used), listed(&limits));
        let why = format!("exceeded quota: {name}, requested: {requested}, used: {used}, limited: {limited}");
        return Err(review.forbidden(&why));
    }
    let new_usage: Amounts = limits
        .keys()
        .map(|name| (name.clone(), after(name, delta.get(name).copied().unwrap_or(Quantity::ZERO))))
        .collect();
    quota_usage::set_status(&mut quota, &new_usage);
    Ok(Some(quota))
}

/// Writes the statuses of the quotas as the user of the API server itself, and adds the name of each to `written`. Returns `false` at the
/// first write that fails, for example by a conflict.
async fn write_usage(review: &Review<'_>, quotas: Vec<Value>, written: &mut BTreeSet<String>) -> bool {
    for mut quota in quotas {
        quota["apiVersion"] = "v1".into();
        quota["kind"] = "ResourceQuota".into();
        let path =
            format!("/api/v1/namespaces/{}/resourcequotas/{}/status", review.request.namespace, object::name(&quota));
        let request = Request::put(path)
            .header(http::header::CONTENT_TYPE, "application/json")
            .header(http::header::USER_AGENT, "kube-apiserver/v1.36.3")
            .body(quota.to_string().into());
        let Ok(request) = request else { return false };
        let answer = Box::pin(review.request.server.answer(User::admin("system:apiserver"), request)).await;
        if !answer.code.is_success() {
            return false;
        }
        written.insert(object::name(&quota).to_owned());
    }
    true
}

//! Calls mutating webhooks one after the other; each receives the object that the previous one returned.

use serde_json::Value;

use super::{
    call::{CallError, internal},
    hook::Hook,
    invocation::{hooks, is_exempt},
};
use crate::{
    admission::{match_rules::MatchedKind, reinvocation::Reinvocation, review::Review},
    failure::Failure,
};

const GROUP_RESOURCE: &str = "mutatingwebhookconfigurations.admissionregistration.k8s.io";

pub(crate) async fn mutate(review: &mut Review<'_>, reinvocation: &mut Reinvocation) -> Result<(), Failure> {
    let configurations = hooks(review, GROUP_RESOURCE);
    if configurations.is_empty() || is_exempt(review) {
        return Ok(());
    }
    for hook in configurations.iter().flat_map(|hooks| hooks.iter()) {
        if !reinvocation.wants(&hook.key) {
            continue;
        }
        let Some(hit) = hook.concerns(review)? else { continue };
        let changed = one(review, hook, &hit).await?;
        reinvocation.invoked(hook.key.clone(), hook.again, changed);
    }
    Ok(())
}

/// Calls one webhook; returns whether it changed the object.
async fn one(review: &mut Review<'_>, hook: &Hook, hit: &MatchedKind) -> Result<bool, Failure> {
    let verdict = match hook.call(review, hit, true).await {
        Ok(verdict) => verdict,
        Err(CallError::Failure(failure)) => return Err(failure),
        Err(CallError::Ignorable(_)) if hook.ignores_failure => return Ok(false),
        Err(CallError::Ignorable(why)) => return Err(hook.failed(&why)),
    };
    review.warnings.extend(verdict.warnings);
    if let Some(refusal) = verdict.refusal {
        return Err(refusal);
    }
    let Some(patch) = verdict.patch else { return Ok(false) };
    if review.object.is_null() {
        return Err(internal(&format!(
            "admission webhook {:?} attempted to modify the object, which is not supported for this operation",
            hook.name
        )));
    }
    let own = review.object["apiVersion"].clone();
    let mut object = patched(&hit.in_matched_version(&review.object), &patch).map_err(|why| internal(&why))?;
    object["apiVersion"] = own;
    review.request.complete(&mut object);
    let changed = object != review.object;
    review.object = object;
    review.reshaped = true;
    Ok(changed)
}

fn patched(object: &Value, patch: &Value) -> Result<Value, String> {
    let operations: Vec<json_patch::PatchOperation> =
        serde_json::from_value(patch.clone()).map_err(|error| error.to_string())?;
    let mut new = object.clone();
    for operation in operations {
        let path = operation.path().to_string();
        let name = serde_json::to_value(&operation).unwrap_or_default()["op"].as_str().unwrap_or_default().to_owned();
        json_patch::patch_unsafe(&mut new, std::slice::from_ref(&operation)).map_err(|error| match error.kind {
            json_patch::PatchErrorKind::TestFailed => format!("testing value {path} failed: test failed"),
            _ => format!("{name} operation does not apply: doc is missing path: {path:?}: missing value"),
        })?;
    }
    Ok(new)
}

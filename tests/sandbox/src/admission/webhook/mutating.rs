//! Calls mutating webhooks one after the other; each receives the object that the previous one returned.

use serde_json::Value;

use super::{
    call::CallError,
    error::internal_error,
    hook::Hook,
    invocation::{hooks, is_exempt},
    version::in_version,
};
use crate::{
    admission::{match_rules::MatchedKind, reinvocation::Reinvocation, review::Review},
    failure::Failure,
};

const GROUP_RESOURCE: &str = "mutatingwebhookconfigurations.admissionregistration.k8s.io";

/// Calls the matching mutating webhooks one after the other, each with the object that the previous one returned. Fails with the first
/// denial or failed call.
pub(crate) async fn mutate(review: &mut Review<'_>, reinvocation: &mut Reinvocation) -> Result<(), Failure> {
    let configurations = hooks(review, GROUP_RESOURCE);
    if configurations.is_empty() || is_exempt(review) {
        return Ok(());
    }
    for hook in configurations.iter().flat_map(|hooks| hooks.iter()) {
        if !reinvocation.must_invoke(&hook.key) {
            continue;
        }
        let Some(matched_kind) = hook.matched_kind(review)? else { continue };
        let changed = call_hook(review, hook, &matched_kind).await?;
        reinvocation.record_invocation(hook.key.clone(), hook.reinvoke_if_needed, changed);
    }
    Ok(())
}

/// Calls one webhook, adds its warnings to the review, and applies its patch to the object. Returns whether the patch changed the object.
///
/// # Errors
/// If the webhook denies the write, can't be called (unless its `failurePolicy` is `Ignore`), or returns a patch that can't be applied.
async fn call_hook(review: &mut Review<'_>, hook: &Hook, matched_kind: &MatchedKind) -> Result<bool, Failure> {
    let response = match hook.call(review, matched_kind, true).await {
        Ok(response) => response,
        Err(CallError::Failure(failure)) => return Err(failure),
        Err(CallError::Ignorable(_)) if hook.ignores_failure => return Ok(false),
        Err(CallError::Ignorable(why)) => return Err(hook.call_failure(&why)),
    };
    review.warnings.extend(response.warnings);
    if let Some(denial) = response.denial {
        return Err(denial);
    }
    let Some(patch) = response.patch else { return Ok(false) };
    if review.object.is_null() {
        return Err(internal_error(&format!(
            "admission webhook {:?} attempted to modify the object, which is not supported for this operation",
            hook.name
        )));
    }
    let server = review.request.server;
    // The patch refers to the version that the webhook received.
    let object = in_version(server, &matched_kind.kind, &review.object).await?;
    let object = apply_patch(&object, &patch).map_err(|why| internal_error(&why))?;
    let mut object = in_version(server, review.request.kind, &object).await?;
    review.request.complete(&mut object);
    let changed = object != review.object;
    review.object = object;
    review.reshaped = true;
    Ok(changed)
}

/// Returns the object with the JSON patch of a webhook applied. Returns an error if the patch is invalid or an
/// operation fails.
fn apply_patch(object: &Value, patch: &Value) -> Result<Value, String> {
    let operations: Vec<json_patch::PatchOperation> =
        serde_json::from_value(patch.clone()).map_err(|error| error.to_string())?;
    let mut patched = object.clone();
    for operation in operations {
        let path = operation.path().to_string();
        let name = serde_json::to_value(&operation).unwrap_or_default()["op"].as_str().unwrap_or_default().to_owned();
        json_patch::patch_unsafe(&mut patched, std::slice::from_ref(&operation)).map_err(|error| match error.kind {
            json_patch::PatchErrorKind::TestFailed => format!("testing value {path} failed: test failed"),
            _ => format!("{name} operation does not apply: doc is missing path: {path:?}: missing value"),
        })?;
    }
    Ok(patched)
}

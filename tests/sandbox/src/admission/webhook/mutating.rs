//! `MutatingWebhookConfiguration`: one after the other, each sees what those before it changed.

use serde_json::Value;

use super::{
    Hook,
    ask::{Silence, internal},
    hooks, is_exempt,
};
use crate::{
    admission::{Review, matching::Hit, reinvocation::Reinvocation},
    failure::Failure,
};

const SHELF: &str = "mutatingwebhookconfigurations.admissionregistration.k8s.io";

pub(in crate::admission) async fn mutate(
    review: &mut Review<'_>,
    reinvocation: &mut Reinvocation,
) -> Result<(), Failure> {
    let configurations = hooks(review, SHELF);
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

/// Whether the webhook changed something.
async fn one(review: &mut Review<'_>, hook: &Hook, hit: &Hit) -> Result<bool, Failure> {
    let verdict = match hook.ask(review, hit, true).await {
        Ok(verdict) => verdict,
        Err(Silence::Failure(failure)) => return Err(failure),
        Err(Silence::Ignorable(_)) if hook.ignores_failure => return Ok(false),
        Err(Silence::Ignorable(why)) => return Err(hook.failed(&why)),
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
    let mut object = patched(&hit.shown(&review.object), &patch).map_err(|why| internal(&why))?;
    object["apiVersion"] = own;
    review.asked.complete(&mut object);
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

//! Calls all validating webhooks at the same time.

use futures::future::join_all;

use super::{
    call::CallError,
    hook::Hook,
    invocation::{hooks, is_exempt},
};
use crate::{
    admission::{match_rules::MatchedKind, review::Review},
    failure::Failure,
};

const GROUP_RESOURCE: &str = "validatingwebhookconfigurations.admissionregistration.k8s.io";

/// Calls all matching validating webhooks at the same time. Fails with the denial or failed call of the first webhook, in the order of the
/// configurations, that has either.
pub(crate) async fn validate(review: &mut Review<'_>) -> Result<(), Failure> {
    let configurations = hooks(review, GROUP_RESOURCE);
    if configurations.is_empty() || is_exempt(review) {
        return Ok(());
    }
    let mut matching: Vec<(&Hook, MatchedKind)> = Vec::new();
    for hook in configurations.iter().flat_map(|hooks| hooks.iter()) {
        matching.extend(hook.matched_kind(review)?.map(|matched_kind| (hook, matched_kind)));
    }
    let results = join_all(matching.iter().map(|(hook, matched_kind)| hook.call(review, matched_kind, false))).await;
    let mut first_failure = None;
    for ((hook, _), result) in matching.iter().zip(results) {
        let failure = match result {
            Ok(response) => {
                review.warnings.extend(response.warnings);
                response.denial
            }
            Err(CallError::Failure(failure)) => Some(failure),
            Err(CallError::Ignorable(_)) if hook.ignores_failure => None,
            Err(CallError::Ignorable(why)) => Some(hook.call_failure(&why)),
        };
        first_failure = first_failure.or(failure);
    }
    first_failure.map_or(Ok(()), Err)
}

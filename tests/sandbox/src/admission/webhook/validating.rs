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

pub(crate) async fn validate(review: &mut Review<'_>) -> Result<(), Failure> {
    let configurations = hooks(review, GROUP_RESOURCE);
    if configurations.is_empty() || is_exempt(review) {
        return Ok(());
    }
    let mut concerned: Vec<(&Hook, MatchedKind)> = Vec::new();
    for hook in configurations.iter().flat_map(|hooks| hooks.iter()) {
        concerned.extend(hook.concerns(review)?.map(|hit| (hook, hit)));
    }
    let responses = join_all(concerned.iter().map(|(hook, hit)| hook.call(review, hit, false))).await;
    let mut refused = None;
    for ((hook, _), answer) in concerned.iter().zip(responses) {
        let against = match answer {
            Ok(verdict) => {
                review.warnings.extend(verdict.warnings);
                verdict.refusal
            }
            Err(CallError::Failure(failure)) => Some(failure),
            Err(CallError::Ignorable(_)) if hook.ignores_failure => None,
            Err(CallError::Ignorable(why)) => Some(hook.failed(&why)),
        };
        refused = refused.or(against);
    }
    refused.map_or(Ok(()), Err)
}

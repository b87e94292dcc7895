//! `ValidatingWebhookConfiguration`: all are asked at the same time.

use futures::future::join_all;

use super::{Hook, ask::Silence, hooks, is_exempt};
use crate::{
    admission::{Review, matching::Hit},
    failure::Failure,
};

const SHELF: &str = "validatingwebhookconfigurations.admissionregistration.k8s.io";

pub(in crate::admission) async fn validate(review: &mut Review<'_>) -> Result<(), Failure> {
    let configurations = hooks(review, SHELF);
    if configurations.is_empty() || is_exempt(review) {
        return Ok(());
    }
    let mut concerned: Vec<(&Hook, Hit)> = Vec::new();
    for hook in configurations.iter().flat_map(|hooks| hooks.iter()) {
        concerned.extend(hook.concerns(review)?.map(|hit| (hook, hit)));
    }
    let asked = join_all(concerned.iter().map(|(hook, hit)| hook.ask(review, hit, false))).await;
    let mut refused = None;
    for ((hook, _), answer) in concerned.iter().zip(asked) {
        let against = match answer {
            Ok(verdict) => {
                review.warnings.extend(verdict.warnings);
                verdict.refusal
            }
            Err(Silence::Failure(failure)) => Some(failure),
            Err(Silence::Ignorable(_)) if hook.ignores_failure => None,
            Err(Silence::Ignorable(why)) => Some(hook.failed(&why)),
        };
        refused = refused.or(against);
    }
    refused.map_or(Ok(()), Err)
}

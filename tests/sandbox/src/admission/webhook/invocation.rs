//! Determines the webhooks that a write must be sent to.

use std::sync::Arc;

use serde_json::Value;

use super::hook::Hook;
use crate::{
    admission::{
        expression::Scope,
        match_conditions::conditions_hold,
        match_rules::MatchedKind,
        review::{Operation, Review},
    },
    failure::Failure,
    object,
};

/// Returns the webhooks of all configurations of a type, in call order.
pub(super) fn hooks(review: &Review<'_>, group_resource: &str) -> Vec<Arc<Vec<Hook>>> {
    let server = review.request.server;
    let (_, items) = server.store.list(group_resource, None);
    let read = |configuration: &Value| {
        let name = object::name(configuration);
        let hooks = configuration["webhooks"].as_array().into_iter().flatten();
        hooks.map(|hook| Hook::of(name, hook)).filter(|hook| hook.matching.has_rules()).collect()
    };
    items.iter().map(|item| server.admission.webhooks.get(item, read)).collect()
}

/// Whether the write is exempt: webhooks don't apply to admission configurations, because a webhook could block its own
/// removal.
pub(super) fn is_exempt(review: &Review<'_>) -> bool {
    let kind = review.request.kind;
    kind.group == "admissionregistration.k8s.io" && kind.custom().is_none() || review.operation == Operation::Connect
}

impl Hook {
    /// Returns the matched kind if the webhook must be called; otherwise `None`.
    pub(super) fn concerns(&self, review: &Review<'_>) -> Result<Option<MatchedKind>, Failure> {
        let Some(hit) = self.matching.hit(review) else { return Ok(None) };
        if self.conditions.is_empty() {
            return Ok(Some(hit));
        }
        match conditions_hold(&self.conditions, &Scope::new(review, &hit, None, &[])) {
            Ok(true) => Ok(Some(hit)),
            Ok(false) => Ok(None),
            Err(_) if self.ignores_failure => Ok(None),
            Err(why) => Err(review.forbidden(&why)),
        }
    }
}

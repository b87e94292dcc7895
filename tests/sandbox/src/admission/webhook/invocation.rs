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

/// Returns the webhooks of all configurations of a type (`group_resource`), in the order of the calls. Omits webhooks without rules, which
/// match nothing.
pub(super) fn hooks(review: &Review<'_>, group_resource: &str) -> Vec<Arc<Vec<Hook>>> {
    let server = review.request.server;
    let (_, items) = server.store.list(group_resource, None);
    let parse = |configuration: &Value| {
        let name = object::name(configuration);
        let hooks = configuration["webhooks"].as_array().into_iter().flatten();
        hooks.map(|hook| Hook::parse(name, hook)).filter(|hook| hook.matching.has_rules()).collect()
    };
    items.iter().map(|item| server.admission.webhooks.get(item, parse)).collect()
}

/// Returns whether webhooks are not called for the write: for a `CONNECT`, and for a write to an admission configuration, because a webhook
/// could otherwise block its own removal.
pub(super) fn is_exempt(review: &Review<'_>) -> bool {
    let kind = review.request.kind;
    kind.group == "admissionregistration.k8s.io" && kind.custom().is_none() || review.operation == Operation::Connect
}

impl Hook {
    /// Returns the kind in the version that the rules match if the webhook must be called; `None` if its rules or match conditions do not
    /// match. Returns an error if a match condition fails and `failurePolicy` is not `Ignore`.
    pub(super) fn matched_kind(&self, review: &Review<'_>) -> Result<Option<MatchedKind>, Failure> {
        let Some(matched_kind) = self.matching.matched_kind(review) else { return Ok(None) };
        if self.conditions.is_empty() {
            return Ok(Some(matched_kind));
        }
        match conditions_hold(&self.conditions, &Scope::new(review, &matched_kind, None, &[])) {
            Ok(true) => Ok(Some(matched_kind)),
            Ok(false) => Ok(None),
            Err(_) if self.ignores_failure => Ok(None),
            Err(why) => Err(review.forbidden(&why)),
        }
    }
}

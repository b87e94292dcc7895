//! Determines the policies, bindings and parameters that apply to a write.

use std::sync::Arc;

use serde_json::Value;

use super::{
    definition::{PolicyBinding, PolicyHead},
    params,
};
use crate::admission::{
    expression::Scope, match_conditions::conditions_hold, match_rules::MatchedKind, review::Review,
};

/// A matching binding of a policy with one parameter.
pub(super) struct PolicyInvocation<'a> {
    pub(super) binding: &'a PolicyBinding,
    pub(super) hit: MatchedKind,
    /// The parameter, or the error why it is missing; null for a policy without parameters.
    pub(super) params: Result<Value, String>,
}

/// The bindings of a policy type, by name.
pub(super) fn bindings(review: &Review<'_>, group_resource: &str) -> Vec<Arc<PolicyBinding>> {
    let server = review.request.server;
    let (_, items) = server.store.list(group_resource, None);
    items.iter().map(|item| server.admission.policies.bindings.get(item, PolicyBinding::of)).collect()
}

/// The invocations of a policy for a write, one for each matching binding and parameter.
pub(super) fn matches<'a>(
    head: &PolicyHead,
    bindings: &'a [Arc<PolicyBinding>],
    review: &Review<'_>,
) -> Vec<PolicyInvocation<'a>> {
    let own: Vec<&PolicyBinding> =
        bindings.iter().map(|binding| &**binding).filter(|binding| binding.policy == head.name).collect();
    if own.is_empty() {
        return Vec::new();
    }
    let Some(hit) = head.matching.hit(review) else { return Vec::new() };
    let mut found = Vec::new();
    for binding in own {
        if binding.matching.hit(review).is_none() {
            continue;
        }
        match params::of(head, binding, review) {
            Ok(all) => found.extend(all.into_iter().map(|params| PolicyInvocation {
                binding,
                hit: hit.clone(),
                params: Ok(params),
            })),
            Err(why) => found.push(PolicyInvocation { binding, hit: hit.clone(), params: Err(why) }),
        }
    }
    found
}

/// Whether the write is exempt: policies do not apply to policies and bindings.
pub(super) fn is_exempt(review: &Review<'_>) -> bool {
    let kind = review.request.kind;
    kind.group == "admissionregistration.k8s.io" && kind.custom().is_none()
}

impl PolicyHead {
    /// Whether the match conditions hold: a false condition takes precedence over an error.
    pub(super) fn conditions_hold(&self, scope: &Scope<'_>) -> Result<bool, String> {
        conditions_hold(&self.conditions, scope)
    }
}

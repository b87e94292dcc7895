//! Determines the policies, bindings and parameters that apply to a write.

use std::sync::Arc;

use serde_json::Value;

use super::{
    definition::{PolicyBinding, PolicyCommon},
    params,
};
use crate::admission::{
    expression::Scope, match_conditions::conditions_hold, match_rules::MatchedKind, review::Review,
};

/// A matching binding of a policy with one parameter.
pub(super) struct PolicyInvocation<'a> {
    pub(super) binding: &'a PolicyBinding,
    pub(super) matched_kind: MatchedKind,
    /// The parameter, or the error why it is missing; null for a policy without parameters.
    pub(super) params: Result<Value, String>,
}

/// Returns all bindings of a type of policies (`group_resource`), sorted by name.
pub(super) fn bindings(review: &Review<'_>, group_resource: &str) -> Vec<Arc<PolicyBinding>> {
    let server = review.request.server;
    let (_, items) = server.store.list(group_resource, None);
    items.iter().map(|item| server.admission.policies.bindings.get(item, PolicyBinding::parse)).collect()
}

/// Returns the invocations of a policy for a write, one for each matching binding and parameter. A binding whose parameters cannot be found
/// has one invocation, with an error instead of the parameter.
pub(super) fn invocations<'a>(
    common: &PolicyCommon,
    bindings: &'a [Arc<PolicyBinding>],
    review: &Review<'_>,
) -> Vec<PolicyInvocation<'a>> {
    let policy_bindings: Vec<&PolicyBinding> =
        bindings.iter().map(|binding| &**binding).filter(|binding| binding.policy == common.name).collect();
    if policy_bindings.is_empty() {
        return Vec::new();
    }
    let Some(matched_kind) = common.matching.matched_kind(review) else { return Vec::new() };
    let mut invocations = Vec::new();
    for binding in policy_bindings {
        if binding.matching.matched_kind(review).is_none() {
            continue;
        }
        match params::find(common, binding, review) {
            Ok(params_list) => invocations.extend(params_list.into_iter().map(|params| PolicyInvocation {
                binding,
                matched_kind: matched_kind.clone(),
                params: Ok(params),
            })),
            Err(why) => {
                invocations.push(PolicyInvocation { binding, matched_kind: matched_kind.clone(), params: Err(why) })
            }
        }
    }
    invocations
}

/// Returns whether admission policies skip the write, because it changes an admission policy, a binding or a webhook configuration.
pub(super) fn is_exempt(review: &Review<'_>) -> bool {
    let kind = review.request.kind;
    kind.group == "admissionregistration.k8s.io" && kind.custom().is_none()
}

impl PolicyCommon {
    /// Returns whether the match conditions of the policy hold; see [`conditions_hold`].
    pub(super) fn conditions_hold(&self, scope: &Scope<'_>) -> Result<bool, String> {
        conditions_hold(&self.conditions, scope)
    }
}

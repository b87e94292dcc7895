//! Evaluates `MutatingAdmissionPolicy` and applies its mutations.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    apply,
    definition::{MutatingPolicy, Mutation, PolicyBinding},
    invocation::{PolicyInvocation, bindings, invocations, is_exempt},
    json_patch,
};
use crate::{
    admission::{
        expression::{Scope, value},
        match_conditions::evaluation_error,
        reinvocation::Reinvocation,
        review::{Operation, Review},
    },
    failure::Failure,
};

const POLICIES: &str = "mutatingadmissionpolicies.admissionregistration.k8s.io";
const BINDINGS: &str = "mutatingadmissionpolicybindings.admissionregistration.k8s.io";

impl MutatingPolicy {
    /// Returns the object with all mutations of the policy applied; `None` if the match conditions do not hold. Leaves `review` unchanged.
    fn apply_mutations(
        &self,
        review: &mut Review<'_>,
        invocation: &PolicyInvocation<'_>,
    ) -> Result<Option<Value>, String> {
        let params = invocation.params.as_ref().map_err(Clone::clone)?;
        if !self.common.conditions_hold(&Scope::new(
            review,
            &invocation.matched_kind,
            Some(params),
            &self.common.variables,
        ))? {
            return Ok(None);
        }
        // Each mutation sees the result of the previous one as the object of the review, which is restored afterwards.
        let original = review.object.clone();
        for mutation in &self.mutations {
            let result = mutation
                .apply(&Scope::new(review, &invocation.matched_kind, Some(params), &self.common.variables), review);
            match result {
                Ok(result) => review.object = result,
                Err(why) => {
                    review.object = original;
                    return Err(why);
                }
            }
        }
        Ok(Some(std::mem::replace(&mut review.object, original)))
    }
}

impl Mutation {
    /// Evaluates the expression of the mutation. Returns the object merged with the resulting apply configuration, or patched with the
    /// resulting JSON patch. The error is the message for the client.
    fn apply(&self, scope: &Scope<'_>, review: &Review<'_>) -> Result<Value, String> {
        let (Self::Apply(expression) | Self::Patch(expression)) = self;
        let expression = expression.as_ref().map_err(Clone::clone)?;
        let result = scope.evaluate(expression).map_err(|why| evaluation_error(expression, &why))?;
        let result =
            value::to_json(&result).ok_or_else(|| evaluation_error(expression, "its result has no form in JSON"))?;
        let kind = review.request.kind;
        match self {
            Self::Apply(_) => apply::merge_configuration(kind.schema(), &review.object, &result),
            Self::Patch(_) => json_patch::apply(&review.object, &result),
        }
    }
}

/// Invokes the policies that match a create or update, in the order of their names, and changes the object. Rejects the
/// write if a policy with `failurePolicy: Fail` fails.
pub(crate) fn mutate(review: &mut Review<'_>, reinvocation: &mut Reinvocation) -> Result<(), Failure> {
    if !matches!(review.operation, Operation::Create | Operation::Update) {
        return Ok(());
    }
    let bindings: Vec<Arc<PolicyBinding>> = bindings(review, BINDINGS);
    if bindings.is_empty() || is_exempt(review) {
        return Ok(());
    }
    let server = review.request.server;
    let (_, items) = server.store.list(POLICIES, None);
    let mut errors = Vec::new();
    for item in items {
        let policy = server.admission.policies.mutating.get(&item, MutatingPolicy::parse);
        let name = format!("policy {}", policy.common.name);
        if !reinvocation.must_invoke(&name) {
            continue;
        }
        let mut changed = false;
        let invocations = invocations(&policy.common, &bindings, review);
        for invocation in &invocations {
            match policy.apply_mutations(review, invocation) {
                Ok(Some(mut object)) => {
                    review.request.complete(&mut object);
                    changed |= object != review.object;
                    review.object = object;
                    review.reshaped = true;
                }
                Err(why) if !policy.common.ignores_failure => {
                    let (name, binding) = (&policy.common.name, &invocation.binding.name);
                    errors.push(format!("policy '{name}' with binding '{binding}' denied request: {why}"));
                }
                Ok(None) | Err(_) => {}
            }
        }
        if !invocations.is_empty() {
            reinvocation.record_invocation(name, policy.reinvoke_if_needed, changed);
        }
    }
    // The response has the message of the first error, and all messages as causes.
    let Some(first) = errors.first() else { return Ok(()) };
    let mut failure = review.forbidden("");
    failure.message.clone_from(first);
    failure.reason = "Invalid";
    Err(failure.with_causes(errors.iter().map(|message| json!({"message": message})).collect()))
}

//! Evaluates `MutatingAdmissionPolicy` and applies its mutations.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    apply,
    definition::{MutatingPolicy, Mutation, PolicyBinding},
    invocation::{PolicyInvocation, bindings, is_exempt, matches},
    json_patch,
};
use crate::{
    admission::{
        expression::{Scope, value},
        match_conditions::failed,
        reinvocation::Reinvocation,
        review::{Operation, Review},
    },
    failure::Failure,
};

const POLICIES: &str = "mutatingadmissionpolicies.admissionregistration.k8s.io";
const BINDINGS: &str = "mutatingadmissionpolicybindings.admissionregistration.k8s.io";

impl MutatingPolicy {
    /// Returns the mutated object; `None` if the match conditions do not hold.
    fn mutated(&self, review: &mut Review<'_>, found: &PolicyInvocation<'_>) -> Result<Option<Value>, String> {
        let params = found.params.as_ref().map_err(Clone::clone)?;
        if !self.head.conditions_hold(&Scope::new(review, &found.hit, Some(params), &self.head.variables))? {
            return Ok(None);
        }
        let before = review.object.clone();
        for mutation in &self.mutations {
            let result = mutation.apply(&Scope::new(review, &found.hit, Some(params), &self.head.variables), review);
            match result {
                Ok(result) => review.object = result,
                Err(why) => {
                    review.object = before;
                    return Err(why);
                }
            }
        }
        Ok(Some(std::mem::replace(&mut review.object, before)))
    }
}

impl Mutation {
    /// Returns the object after the mutation.
    fn apply(&self, scope: &Scope<'_>, review: &Review<'_>) -> Result<Value, String> {
        let (Self::Apply(expression) | Self::Patch(expression)) = self;
        let expression = expression.as_ref().map_err(Clone::clone)?;
        let result = scope.evaluate(expression).map_err(|why| failed(expression, &why))?;
        let result = value::to_json(&result).ok_or_else(|| failed(expression, "its result has no form in JSON"))?;
        let kind = review.request.kind;
        match self {
            Self::Apply(_) => apply::applied(kind.schema(), &review.object, &result),
            Self::Patch(_) => json_patch::patched(&review.object, &result),
        }
    }
}

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
    let mut wrong = Vec::new();
    for item in items {
        let policy = server.admission.policies.mutating.get(&item, MutatingPolicy::of);
        let name = format!("policy {}", policy.head.name);
        if !reinvocation.wants(&name) {
            continue;
        }
        let mut changed = false;
        let found = matches(&policy.head, &bindings, review);
        for found in &found {
            match policy.mutated(review, found) {
                Ok(Some(mut object)) => {
                    review.request.complete(&mut object);
                    changed |= object != review.object;
                    review.object = object;
                    review.reshaped = true;
                }
                Err(why) if !policy.head.ignores_failure => {
                    let (name, binding) = (&policy.head.name, &found.binding.name);
                    wrong.push(format!("policy '{name}' with binding '{binding}' denied request: {why}"));
                }
                Ok(None) | Err(_) => {}
            }
        }
        if !found.is_empty() {
            reinvocation.invoked(name, policy.again, changed);
        }
    }
    let Some(first) = wrong.first() else { return Ok(()) };
    let mut failure = review.forbidden("");
    failure.message.clone_from(first);
    failure.reason = "Invalid";
    Err(failure.with_causes(wrong.iter().map(|message| json!({"message": message})).collect()))
}

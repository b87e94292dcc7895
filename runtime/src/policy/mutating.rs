//! `MutatingPolicy`: changes of the objects of a kind, which the API server makes.

use super::constraints::{Constraints, constraint_methods};
use crate::kind::Typed;

/// Changes of the objects of a kind, which the API server makes without a call of the operator: a MutatingAdmissionPolicy with its
/// binding. The manifests contain both. API servers before Kubernetes 1.36 don't know the kind.
///
/// # Example
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use opgen::{policy::MutatingPolicy, prelude::*, webhook::Operation};
///
/// // Labels new ConfigMaps with the user that created them.
/// let policy = MutatingPolicy::new::<ConfigMap>("creator")
///     .operations([Operation::Create])
///     .match_condition("named", "request.userInfo.username.matches('^[a-z]+$')")
///     .apply("Object{metadata: Object.metadata{labels: {'creator': request.userInfo.username}}}");
/// let operator = Operator::new("creators").mutating_policy(policy);
/// # drop(operator);
/// ```
#[derive(Clone, Debug)]
pub struct MutatingPolicy {
    pub(crate) constraints: Constraints,
    /// The expressions of the apply configurations.
    pub(crate) applied: Vec<String>,
    pub(crate) reinvokes: bool,
}

impl MutatingPolicy {
    /// Returns a policy without changes for a kind. The name distinguishes the policies of an operator: a DNS label.
    pub fn new<K: Typed>(name: impl Into<String>) -> Self {
        Self { constraints: Constraints::new(name.into(), K::names()), applied: Vec::new(), reinvokes: false }
    }

    /// Adds a change: a CEL expression of the fields to apply, `Object{spec: Object.spec{…}}`, of the variables `object`, `oldObject`,
    /// `request`, `namespaceObject` and `authorizer`. The API server merges the result into the object by the rules of a server-side
    /// apply. Several changes are made in their order.
    #[must_use]
    pub fn apply(mut self, expression: impl Into<String>) -> Self {
        self.applied.push(expression.into());
        self
    }

    /// Evaluates the policy again if a later webhook or policy changes the object (`reinvocationPolicy: IfNeeded`). Default: once.
    #[must_use]
    pub fn reinvoke_if_needed(mut self) -> Self {
        self.reinvokes = true;
        self
    }

    constraint_methods!();
}

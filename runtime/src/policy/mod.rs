//! Admission policies: rules that the API server evaluates itself, without a call of the operator.
//!
//! | where a rule belongs | because |
//! |---|---|
//! | in the schema of a kind of yours: limits of fields, [`validation`](crate::validation) between fields | clients see it, and it works without anything else |
//! | in a [`ValidatingPolicy`]: a kind of others, metadata, the user, the operation | it works while the operator does not |
//! | in a [`MutatingPolicy`]: defaults from other fields of the object or from the request | the same; needs Kubernetes 1.36 |
//! | in a webhook ([`webhook`](crate::webhook)): code, other objects, other systems | CEL can't say it |
//!
//! [`Operator::validating_policy`](crate::Operator::validating_policy) and
//! [`Operator::mutating_policy`](crate::Operator::mutating_policy) add policies to the generated manifests.

mod constraints;
mod mutating;
mod validating;

pub use mutating::MutatingPolicy;
pub use validating::{PolicyAction, ValidatingPolicy};

pub(crate) use constraints::Constraints;

/// The policies of an operator.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policies {
    pub(crate) validating: Vec<ValidatingPolicy>,
    pub(crate) mutating: Vec<MutatingPolicy>,
}

impl Policies {
    /// Returns the constraints of all policies, each with whether the policy is empty: it has no rule or makes no change. A policy with
    /// problems in its rules does not count as empty.
    pub(crate) fn constraints(&self) -> impl Iterator<Item = (&Constraints, bool)> {
        let validating = self
            .validating
            .iter()
            .map(|policy| (&policy.constraints, policy.rules.is_empty() && policy.problems.is_empty()));
        validating.chain(self.mutating.iter().map(|policy| (&policy.constraints, policy.applied.is_empty())))
    }
}

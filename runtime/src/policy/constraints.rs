//! `Constraints`: the writes for which the API server evaluates an admission policy, and what it does if the evaluation fails.

use crate::{
    dns_name::is_dns_label,
    kind::Kind,
    webhook::{FailurePolicy, Operation},
};
use k8s_openapi::{api::admissionregistration::v1::MatchCondition, apimachinery::pkg::apis::meta::v1::LabelSelector};
use std::collections::BTreeSet;

/// The writes that a policy concerns.
#[derive(Clone, Debug)]
pub(crate) struct Constraints {
    /// The name of the policy within its operator.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) operations: BTreeSet<Operation>,
    pub(crate) match_conditions: Vec<MatchCondition>,
    pub(crate) object_selector: LabelSelector,
    pub(crate) namespace_selector: LabelSelector,
    pub(crate) failure_policy: Option<FailurePolicy>,
}

impl Constraints {
    /// Returns the default constraints of a policy: the API server evaluates it for all creations and updates of objects of a kind.
    pub(super) fn new(name: String, kind: Kind) -> Self {
        Self {
            name,
            kind,
            operations: [Operation::Create, Operation::Update].into(),
            match_conditions: Vec::new(),
            object_selector: LabelSelector::default(),
            namespace_selector: LabelSelector::default(),
            failure_policy: None,
        }
    }

    /// Returns the first problem of the constraints and its fix; `None` if they are valid.
    pub(crate) fn problem(&self) -> Option<(String, &'static str)> {
        if !is_dns_label(&self.name) {
            return Some(("its name is no DNS label".to_owned(), "use `a` to `z`, `0` to `9` and `-`"));
        }
        if self.operations.is_empty() {
            return Some(("it has no operation".to_owned(), "use for example creations and updates"));
        }
        let mut names = BTreeSet::new();
        let duplicate = self.match_conditions.iter().find(|condition| !names.insert(&condition.name))?;
        Some((format!("there are two match conditions `{}`", duplicate.name), "rename one"))
    }
}

/// Adds the methods of a policy that set its constraints.
macro_rules! constraint_methods {
    () => {
        /// Sets the writes that the policy concerns. Default: creations and updates.
        #[must_use]
        pub fn operations(mut self, operations: impl IntoIterator<Item = $crate::webhook::Operation>) -> Self {
            self.constraints.operations = operations.into_iter().collect();
            self
        }

        /// Evaluates the policy only for writes that satisfy this CEL expression, of the variables `object`, `oldObject`, `request` and
        /// `authorizer`. Several conditions must all be satisfied. The name is for messages of the API server. Default: none.
        #[must_use]
        pub fn match_condition(mut self, name: impl Into<String>, expression: impl Into<String>) -> Self {
            let condition = ::k8s_openapi::api::admissionregistration::v1::MatchCondition {
                name: name.into(),
                expression: expression.into(),
            };
            self.constraints.match_conditions.push(condition);
            self
        }

        /// Evaluates the policy only for objects whose labels fit, before or after the write. Users can avoid the policy by another
        /// label. Default: all objects.
        #[must_use]
        pub fn object_selector(
            mut self,
            selector: ::k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector,
        ) -> Self {
            self.constraints.object_selector = selector;
            self
        }

        /// Evaluates the policy only for objects in namespaces whose labels fit. For a kind that the operator doesn't define, the
        /// namespace of the operator is excluded in any case, so that a policy can't prevent the start of the operator. Default: all
        /// namespaces.
        #[must_use]
        pub fn namespace_selector(
            mut self,
            selector: ::k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector,
        ) -> Self {
            self.constraints.namespace_selector = selector;
            self
        }

        /// Sets what the API server does if the evaluation of an expression fails, for example since a field is missing. Default:
        /// [`Fail`](crate::webhook::FailurePolicy::Fail) for kinds that the operator defines, and
        /// [`Ignore`](crate::webhook::FailurePolicy::Ignore) for all others.
        #[must_use]
        pub fn failure_policy(mut self, policy: $crate::webhook::FailurePolicy) -> Self {
            self.constraints.failure_policy = Some(policy);
            self
        }
    };
}

pub(super) use constraint_methods;

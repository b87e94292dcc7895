//! Generates the fields that the configurations of webhooks and the admission policies have in common.

use super::project::Project;
use crate::{kind::Kind, webhook::FailurePolicy};
use k8s_openapi::{
    api::admissionregistration::v1::MatchCondition,
    apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement},
};
use serde_json::{Value, json};

/// The label that every Namespace has, with its name.
pub(super) const NAMESPACE_LABEL: &str = "kubernetes.io/metadata.name";

/// Returns whether the operator defines a kind: it has the definition of the kind, and not only a controller for its objects.
pub(super) fn is_own(project: &Project, kind: &Kind) -> bool {
    project.controllers.iter().any(|controlled| !controlled.is_foreign() && controlled.kind == *kind)
}

/// Returns the failure policy. Without a setting, kinds of the operator fail closed, and all others are ignored.
pub(super) fn failure_policy(project: &Project, kind: &Kind, policy: Option<FailurePolicy>) -> &'static str {
    let default = if is_own(project, kind) { FailurePolicy::Fail } else { FailurePolicy::Ignore };
    policy.unwrap_or(default).as_str()
}

/// Sets `namespaceSelector` and `objectSelector` of a webhook or an admission policy on `kind`, each unless it is empty, and adds a
/// requirement to the namespace selector. On a kind that the operator doesn't define, the requirement excludes the operator's namespace.
/// On a namespaced kind that the operator defines, it selects only the operator's namespace if the operator watches only this namespace.
pub(super) fn set_selectors(
    target: &mut Value,
    (project, kind): (&Project, &Kind),
    namespaces: &LabelSelector,
    objects: &LabelSelector,
) {
    let mut namespaces = namespaces.clone();
    let mut require = |operator: &str| {
        namespaces.match_expressions.get_or_insert_default().push(LabelSelectorRequirement {
            key: NAMESPACE_LABEL.to_owned(),
            operator: operator.to_owned(),
            values: Some(vec![project.namespace.clone()]),
        });
    };
    if !is_own(project, kind) {
        require("NotIn");
    } else if project.namespaced && kind.namespaced {
        require("In");
    }
    for (field, selector) in [("namespaceSelector", &namespaces), ("objectSelector", objects)] {
        if *selector != LabelSelector::default() {
            target[field] = json!(selector);
        }
    }
}

/// Sets `matchConditions` of a webhook or an admission policy to `conditions`, unless the list is empty.
pub(super) fn set_match_conditions(target: &mut Value, conditions: &[MatchCondition]) {
    if !conditions.is_empty() {
        let condition =
            |MatchCondition { expression, name }: &MatchCondition| json!({"expression": expression, "name": name});
        target["matchConditions"] = conditions.iter().map(condition).collect();
    }
}

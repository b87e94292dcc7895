//! Handles SelfSubjectRulesReview.

use serde_json::{Map, Value, json};

use crate::{
    authorization::{rbac, rule::PolicyRule},
    failure::Failure,
    object,
    request::ResourceRequest,
};

/// Returns a SelfSubjectRulesReview with the rules of the user in the namespace. Returns a 400 error if the review has
/// no namespace.
pub(super) fn answer(request: ResourceRequest<'_>, review: &Value) -> Result<Value, Failure> {
    let namespace = object::text(review, &["spec", "namespace"]);
    if namespace.is_empty() {
        return Err(Failure::bad_request("no namespace on request"));
    }
    let policy = request.server.policies.current(&request.server.store);
    let (rules, missing) = policy.rules_of(&request.call.user, namespace);
    // Members of `system:masters` need no exception: a ClusterRoleBinding of this group grants them everything.
    let (resource_rules, path_rules): (Vec<&PolicyRule>, Vec<&PolicyRule>) =
        rules.into_iter().partition(|rule| rule.paths.is_empty());
    let mut status = json!({
        "resourceRules": resource_rules.into_iter().map(resource_rule).collect::<Vec<_>>(),
        "nonResourceRules": path_rules.into_iter().map(non_resource_rule).collect::<Vec<_>>(),
        "incomplete": false,
    });
    if !missing.is_empty() {
        status["evaluationError"] = rbac::join_errors("", &missing, "").into();
    }
    Ok(json!({"spec": {}, "status": status}))
}

/// Returns an RBAC rule as the `ResourceRule` of a SelfSubjectRulesReview; omits empty lists other than `verbs`.
fn resource_rule(rule: &PolicyRule) -> Value {
    let mut fields = Map::new();
    fields.insert("verbs".into(), json!(rule.verbs));
    let lists =
        [("apiGroups", &rule.api_groups), ("resources", &rule.resources), ("resourceNames", &rule.resource_names)];
    for (key, values) in lists {
        if !values.is_empty() {
            fields.insert(key.into(), json!(values));
        }
    }
    Value::Object(fields)
}

/// Returns a rule as a `NonResourceRule`.
fn non_resource_rule(rule: &PolicyRule) -> Value {
    json!({"verbs": rule.verbs, "nonResourceURLs": rule.paths})
}

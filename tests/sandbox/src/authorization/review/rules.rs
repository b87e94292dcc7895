//! Handles SelfSubjectRulesReview.

use serde_json::{Map, Value, json};

use crate::{
    authorization::{rbac, rule::PolicyRule},
    failure::Failure,
    object,
    request::ResourceRequest,
};

pub(super) fn answer(request: ResourceRequest<'_>, review: &Value) -> Result<Value, Failure> {
    let namespace = object::text(review, &["spec", "namespace"]);
    if namespace.is_empty() {
        return Err(Failure::bad_request("no namespace on request"));
    }
    let policy = request.server.policies.current(&request.server.store);
    let (rules, missing) = policy.rules_of(&request.call.user, namespace);
    // The binding of the group grants all rights to `system:masters`, too.
    let (of_resources, of_paths): (Vec<&PolicyRule>, Vec<&PolicyRule>) =
        rules.into_iter().partition(|rule| rule.paths.is_empty());
    let mut status = json!({
        "resourceRules": of_resources.into_iter().map(resources).collect::<Vec<_>>(),
        "nonResourceRules": of_paths.into_iter().map(paths).collect::<Vec<_>>(),
        "incomplete": false,
    });
    if !missing.is_empty() {
        status["evaluationError"] = rbac::errors("", &missing, "").into();
    }
    Ok(json!({"spec": {}, "status": status}))
}

fn resources(rule: &PolicyRule) -> Value {
    let mut written = Map::new();
    written.insert("verbs".into(), json!(rule.verbs));
    let lists =
        [("apiGroups", &rule.api_groups), ("resources", &rule.resources), ("resourceNames", &rule.resource_names)];
    for (key, words) in lists {
        if !words.is_empty() {
            written.insert(key.into(), json!(words));
        }
    }
    Value::Object(written)
}

fn paths(rule: &PolicyRule) -> Value {
    json!({"verbs": rule.verbs, "nonResourceURLs": rule.paths})
}

//! Aggregates the rules of ClusterRoles with an `aggregationRule`.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{object, server::Server, store::Stored, user::User};

const GROUP_RESOURCE: &str = "clusterroles.rbac.authorization.k8s.io";
const PATH: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
/// The user and the field manager that write the aggregated rules.
const USER: &str = "system:serviceaccount:kube-system:clusterrole-aggregation-controller";
const MANAGER: &str = "clusterrole-aggregation-controller";

/// Aggregates rules whenever a ClusterRole changes. The initial ClusterRoles are already aggregated.
pub(crate) fn run(server: Arc<Server>) -> impl Future<Output = ()> + Send {
    let mut subscription = server.store.subscribe(&GROUP_RESOURCE.into());
    async move {
        while subscription.changed().await.is_ok() {
            aggregate_all(&server).await;
        }
    }
}

/// Recomputes the rules of all aggregated ClusterRoles, and writes those that changed.
async fn aggregate_all(server: &Server) {
    let (_, roles) = server.store.list(GROUP_RESOURCE, None);
    // A search in the text spares parsing roles without an `aggregationRule`.
    let may_aggregate = |role: &&Arc<Stored>| role.json.contains_text("aggregationRule");
    for role in roles.iter().filter(may_aggregate) {
        let (rules, Some(selectors)) = rules_and_selectors(role) else { continue };
        let aggregated = aggregated_rules(role, &selectors, &roles);
        if aggregated != rules {
            apply_rules(server, &role.name, aggregated).await;
        }
    }
}

/// Returns the rules of a role and, if it is aggregated, its selectors.
fn rules_and_selectors(role: &Stored) -> (Vec<Value>, Option<Vec<Value>>) {
    let role: Value = serde_json::from_slice(&role.json).unwrap_or_default();
    let list = |path: &[&str]| object::at(&role, path).and_then(Value::as_array).cloned();
    (list(&["rules"]).unwrap_or_default(), list(&["aggregationRule", "clusterRoleSelectors"]))
}

/// Returns the rules of all ClusterRoles, other than `role`, that one of its `selectors` selects. The rules have no duplicates, and are in
/// the order of the selectors, then of `roles`.
fn aggregated_rules(role: &Stored, selectors: &[Value], roles: &[Arc<Stored>]) -> Vec<Value> {
    let mut rules: Vec<Value> = Vec::new();
    for selector in selectors {
        let others = roles.iter().filter(|other| other.name != role.name && selects(selector, other));
        for rule in others.flat_map(|other| rules_and_selectors(other).0) {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    rules
}

/// Returns whether a label selector selects an object.
fn selects(selector: &Value, object: &Stored) -> bool {
    let mut match_labels = selector["matchLabels"].as_object().into_iter().flatten();
    let expressions = selector["matchExpressions"].as_array();
    match_labels.all(|(key, value)| object.label(key) == value.as_str())
        && expressions.into_iter().flatten().all(|expression| {
            let label = expression["key"].as_str().and_then(|key| object.label(key));
            let in_values = |label: &str| {
                expression["values"].as_array().is_some_and(|values| values.iter().any(|listed| listed == label))
            };
            match expression["operator"].as_str() {
                Some("In") => label.is_some_and(in_values),
                Some("NotIn") => !label.is_some_and(in_values),
                Some("Exists") => label.is_some(),
                Some("DoesNotExist") => label.is_none(),
                _ => false,
            }
        })
}

/// Writes the aggregated rules of a ClusterRole by server-side apply.
async fn apply_rules(server: &Server, name: &str, rules: Vec<Value>) {
    let mut role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name},
    });
    if !rules.is_empty() {
        role["rules"] = rules.into();
    }
    let name = percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC);
    let request = http::Request::patch(format!("{PATH}/{name}?fieldManager={MANAGER}&force=true"))
        .header(http::header::CONTENT_TYPE, "application/apply-patch+yaml")
        .body(bytes::Bytes::from(role.to_string()));
    let Ok(request) = request else { return };
    let answer = server.answer(User::admin(USER), request).await;
    // A failed apply is not repeated: if the role was deleted or changed in the meantime, that change causes a new aggregation.
    tracing::debug!(code = answer.code.as_u16(), "applied the gathered rules");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aggregated_rules_are_unique_and_in_the_order_of_selectors_then_roles() {
        let rule = |resource: &str| json!({"resources": [resource]});
        let role = |name: &str, labels: Value, rules: &[Value]| {
            let role = json!({"metadata": {"name": name, "labels": labels}, "rules": rules});
            Arc::new(Stored::new(role, 1, "rbac.authorization.k8s.io/v1"))
        };
        let roles = [
            role("a", json!({"second": ""}), &[rule("z"), rule("y")]),
            role("all", json!({"second": ""}), &[rule("v")]),
            role("b", json!({"first": "yes", "second": ""}), &[rule("x"), rule("y")]),
            role("c", json!({"third": ""}), &[rule("w")]),
        ];
        let selectors = [
            json!({"matchLabels": {"first": "yes"}}),
            json!({"matchExpressions": [{"key": "second", "operator": "Exists"}]}),
        ];
        assert_eq!(aggregated_rules(&roles[1], &selectors, &roles), [rule("x"), rule("y"), rule("z")]);
    }
}

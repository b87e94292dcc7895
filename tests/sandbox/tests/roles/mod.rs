//! Roles and bindings for tests.
#![allow(dead_code)]

use opgen_sandbox::{Sandbox, User};
use serde_json::{Value, json};

use crate::user_client::create;

pub(crate) const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

pub(crate) fn joe() -> User {
    User::named("joe", &[])
}

pub(crate) fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
    json!({"apiGroups": groups, "resources": resources, "verbs": verbs})
}

pub(crate) fn role(name: &str, rules: Value) -> Value {
    json!({"metadata": {"name": name}, "rules": rules})
}

pub(crate) fn binding(name: &str, kind: &str, role: &str, subject: &Value) -> Value {
    json!({"metadata": {"name": name}, "roleRef": {"kind": kind, "name": role}, "subjects": [subject]})
}

pub(crate) fn user(name: &str) -> Value {
    json!({"kind": "User", "name": name})
}

/// A namespace `one` in which `who` has a role with some rules.
pub(crate) async fn with_role(who: &Value, rules: Value) -> Sandbox {
    let sandbox = Sandbox::builder().seed(1).start();
    create(&sandbox, "/api/v1/namespaces", json!({"metadata": {"name": "one"}})).await;
    create(&sandbox, &format!("{RBAC}/namespaces/one/roles"), role("r1", rules)).await;
    create(&sandbox, &format!("{RBAC}/namespaces/one/rolebindings"), binding("b1", "Role", "r1", who)).await;
    sandbox
}

/// A cluster in which joe may write roles and bindings, and get Pods.
pub(crate) async fn with_writer() -> Sandbox {
    let sandbox = Sandbox::builder().seed(1).start();
    create(&sandbox, "/api/v1/namespaces", json!({"metadata": {"name": "one"}})).await;
    let resources = ["roles", "clusterroles", "rolebindings", "clusterrolebindings"];
    let verbs = ["get", "list", "watch", "create", "update", "patch", "delete"];
    let rules = json!([rule(&["rbac.authorization.k8s.io"], &resources, &verbs), rule(&[""], &["pods"], &["get"])]);
    create(&sandbox, &format!("{RBAC}/clusterroles"), role("writer", rules)).await;
    let bound = binding("writer", "ClusterRole", "writer", &user("joe"));
    create(&sandbox, &format!("{RBAC}/clusterrolebindings"), bound).await;
    sandbox
}

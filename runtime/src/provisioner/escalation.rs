//! Limits the RBAC rules in Roles and ClusterRoles that a tree node builds to those that are declared at the field of the node.
//!
//! The API server prevents privilege escalation: a client can create a role only if it holds all rights of the role itself. So
//! the operator's own role gets the declared rights, too. A RoleBinding or ClusterRoleBinding needs nothing more: a client that
//! holds all rights of a role may bind it without the verb `bind`. Source: "Privilege escalation prevention and bootstrapping" in
//! the documentation of Kubernetes.

use crate::{
    access::{Rule, merge},
    error::{Error, Result},
    kind::Typed,
    provisioner::build::{BuildResult, ResourceField, desired_objects},
    shape::Access,
};
use k8s_openapi::api::rbac::v1::{ClusterRole, Role};
use serde_json::Value;

/// A kind that grants rights to others: Role and ClusterRole.
#[diagnostic::on_unimplemented(
    message = "`{Self}` grants no rights",
    label = "`grants` is for `Role` and `ClusterRole`",
    note = "remove `grants(...)`"
)]
pub trait GrantsRights: Typed {}

impl GrantsRights for Role {}
impl GrantsRights for ClusterRole {}

/// Returns the roles that a build function has returned, with their rules. A role without rules gets the rules that `grants(...)` declares
/// at the field of the node. A role with rules of its own keeps them; they may grant less than the declared rules, but not more.
///
/// # Errors
/// A terminal error if a role has a right that is not declared: the API server would refuse the role as an escalation.
pub fn granted_roles<T: ResourceField<M, Kind: GrantsRights>, M>(
    node: &str,
    declared: &'static [Access],
    built: impl BuildResult<T>,
) -> Result<Vec<Value>> {
    let mut roles = desired_objects::<T, M>(built)?;
    for role in &mut roles {
        limit_rules(role, node, declared)?;
    }
    Ok(roles)
}

/// Sets the declared rules in a role that has none. Checks a role with rules of its own: each of its rights must be declared.
///
/// # Errors
/// A terminal error if a rule is not declared, or if the role is aggregated.
fn limit_rules(role: &mut Value, node: &str, declared: &[Access]) -> Result<()> {
    if !role["aggregationRule"].is_null() {
        let message = format!(
            "node {node} builds an aggregated ClusterRole, which requires every right of the operator; \
             remove `aggregation_rule`"
        );
        return Err(Error::terminal("RoleBeyondDeclared", message));
    }
    let declared: Vec<_> = declared.iter().map(Rule::of).collect();
    let role_rules: Vec<Rule> = serde_json::from_value::<Option<_>>(role["rules"].take())?.unwrap_or_default();
    if let Some(undeclared) = first_undeclared(&declared, &role_rules) {
        let message = format!(
            "node {node} builds a role that may {undeclared}, which its field doesn't declare; add it to `grants(...)`, or \
             remove the rules from the object"
        );
        return Err(Error::terminal("RoleBeyondDeclared", message));
    }
    let rules = if role_rules.is_empty() { merge(declared) } else { role_rules };
    role["rules"] = rules.iter().map(Rule::to_value).collect();
    Ok(())
}

/// Splits the rules of a role into single rights, and returns the first one that no declared rule covers; `None` if all are covered.
fn first_undeclared(declared: &[Rule], role_rules: &[Rule]) -> Option<Rule> {
    let is_covered = |single: &Rule| declared.iter().any(|rule| rule.covers(single));
    role_rules.iter().flat_map(Rule::singles).find(|single| !is_covered(single))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{
        kind::kind_of,
        shape::{SourceLocation, Verb},
    };
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use serde_json::json;

    const DECLARED: &[Access] = &[
        Access::to(kind_of::<ConfigMap>, &[Verb::Get, Verb::List], SourceLocation::UNKNOWN),
        Access::to(kind_of::<Secret>, &[Verb::Get], SourceLocation::UNKNOWN).named(&["tls", "ca"]),
        Access::to_url("/healthz/*", &[Verb::Get], SourceLocation::UNKNOWN),
    ];

    /// Returns the role that [`limit_rules`] makes of a role.
    fn granted(mut role: Value) -> Result<Value> {
        limit_rules(&mut role, "role", DECLARED).map(|()| role)
    }

    fn rules(rules: Value) -> Result<Value> {
        granted(json!({"rules": rules})).map(|mut role| role["rules"].take())
    }

    fn refused(own: Value) -> String {
        rules(own).unwrap_err().to_string()
    }

    #[test]
    fn a_role_without_rules_gets_the_declared_ones() {
        let expected = json!([
            {"nonResourceURLs": ["/healthz/*"], "verbs": ["get"]},
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]},
            {"apiGroups": [""], "resourceNames": ["ca", "tls"], "resources": ["secrets"], "verbs": ["get"]},
        ]);
        for role in [json!({}), json!({"rules": null}), json!({"rules": []})] {
            assert_eq!(granted(role).unwrap()["rules"], expected);
        }
    }

    #[test]
    fn a_role_may_have_less_than_is_declared() {
        let less = json!([
            {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a"], "verbs": ["get"]},
            {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["tls"], "verbs": ["get"]},
            {"nonResourceURLs": ["/healthz/etcd"], "verbs": ["get"]},
        ]);
        assert_eq!(rules(less.clone()).unwrap(), less);
    }

    #[test]
    fn a_role_with_an_undeclared_right_is_refused_and_the_error_names_the_right() {
        let verb = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "delete"]}]);
        assert_eq!(
            refused(verb),
            "RoleBeyondDeclared: node role builds a role that may delete configmaps of the core group, which its field \
             doesn't declare; add it to `grants(...)`, or remove the rules from the object"
        );
        let unnamed = json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]);
        assert!(refused(unnamed).contains("may get secrets of the core group,"));
        let another = json!([{"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["x"], "verbs": ["get"]}]);
        assert!(refused(another).contains("may get secrets of the core group named x,"));
        let all = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
        assert!(refused(all).contains("may * * of *,"));
        assert!(refused(json!([{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}])).contains("may get /metrics,"));
    }

    #[test]
    fn an_aggregated_cluster_role_is_refused() {
        let error = granted(json!({"aggregationRule": {"clusterRoleSelectors": []}})).unwrap_err();
        assert!(error.to_string().contains("requires every right of the operator"), "{error}");
    }
}

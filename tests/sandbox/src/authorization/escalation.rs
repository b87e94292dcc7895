//! Prevents privilege escalation by writes of roles and bindings.

use serde_json::Value;

use super::{
    attributes::AccessTarget,
    authorizer::may,
    rbac::RoleRef,
    rule::{PolicyRule, format_rules, quoted, uncovered_parts},
};
use crate::{failure::Failure, object, request::ResourceRequest};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Rejects a write of a role or binding that grants permissions which the user lacks. Members of `system:masters`, and
/// writes that change only owners or finalizers, are exempt.
pub(crate) fn check(request: ResourceRequest<'_>, new: &Value, old: Option<&Value>) -> Result<(), Failure> {
    let kind = request.kind;
    if kind.group != GROUP || request.call.user.is_master() || old.is_some_and(|old| only_ownership_changes(new, old)) {
        return Ok(());
    }
    match kind.plural.as_str() {
        "roles" | "clusterroles" => check_role(request, new, old),
        "rolebindings" | "clusterrolebindings" => check_binding(request, new),
        _ => Ok(()),
    }
}

/// Checks a written Role or ClusterRole: the user must hold its rules, or have the verb `escalate`. An
/// `aggregationRule` requires all permissions.
fn check_role(request: ResourceRequest<'_>, new: &Value, old: Option<&Value>) -> Result<(), Failure> {
    let name = object::name(new);
    // The path of a create has no name, so that rules with `resourceNames` don't allow it.
    let target = AccessTarget::Resource {
        group: GROUP,
        namespace: request.namespace,
        resource: &request.kind.plural,
        subresource: "",
        name: request.name,
    };
    if may(request.server, &request.call.user, "escalate", target) {
        return Ok(());
    }
    let rules: Vec<PolicyRule> =
        new.get("rules").and_then(|rules| serde_json::from_value(rules.clone()).ok()).unwrap_or_default();
    confirm_no_escalation(request, name, &rules)?;
    let aggregates = |role: &Value| object::at(role, &["aggregationRule"]).is_some();
    if (aggregates(new) || old.is_some_and(aggregates))
        && !missing_rules(request, &[PolicyRule::all_resources(), PolicyRule::all_paths()]).0.is_empty()
    {
        let why = "must have cluster-admin privileges to use the aggregationRule";
        return Err(Failure::forbidden(request.kind, name, why));
    }
    Ok(())
}

/// Checks a written RoleBinding or ClusterRoleBinding: the user must hold the rules of its role, or have the verb
/// `bind` on the role. Returns a 404 error if the role does not exist.
fn check_binding(request: ResourceRequest<'_>, new: &Value) -> Result<(), Failure> {
    let role: RoleRef =
        new.get("roleRef").and_then(|role| serde_json::from_value(role.clone()).ok()).unwrap_or_default();
    let resource = match role.kind.as_str() {
        "Role" => "roles",
        "ClusterRole" => "clusterroles",
        other => {
            let mut failure = Failure::internal(format!("unsupported role reference kind: {other:?}"));
            failure.reason = "";
            return Err(failure);
        }
    };
    let target = AccessTarget::Resource {
        group: GROUP,
        namespace: request.namespace,
        resource,
        subresource: "",
        name: &role.name,
    };
    if may(request.server, &request.call.user, "bind", target) {
        return Ok(());
    }
    if resource == "roles" && request.namespace.is_empty() {
        return Err(Failure::bad_request("Namespace parameter required."));
    }
    let policy = request.server.policies.current(&request.server.store);
    let rules = policy.rules_of_role(&role, request.namespace);
    // The message has the name of the role and the kind of the binding, as in Kubernetes.
    let rules = rules.ok_or_else(|| Failure::not_found(request.kind, &role.name))?;
    confirm_no_escalation(request, object::name(new), rules)
}

/// Returns a 403 error with the missing rules if the user does not hold all `rules` (`ConfirmNoEscalation` of kube-apiserver). `name` is
/// the name of the written object, for the message.
fn confirm_no_escalation(request: ResourceRequest<'_>, name: &str, rules: &[PolicyRule]) -> Result<(), Failure> {
    let (missing, errors) = missing_rules(request, rules);
    if missing.is_empty() {
        return Ok(());
    }
    let user = &request.call.user;
    // These messages name the resource of a missing role (`roles.rbac...`), those of a denied request its kind (`role.rbac...`).
    let errors = errors.join(", ").replace("role.rbac", "roles.rbac");
    let errors = if errors.is_empty() { errors } else { format!("; resolution errors: [{errors}]") };
    let why = format!(
        "user {:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}{errors}",
        user.name,
        quoted(&user.groups),
        format_rules(&missing)
    );
    Err(Failure::forbidden(request.kind, name, &why))
}

/// Returns the rules that the user lacks, and the errors for roles bound to the user that don't exist.
fn missing_rules(request: ResourceRequest<'_>, rules: &[PolicyRule]) -> (Vec<PolicyRule>, Vec<String>) {
    let policy = request.server.policies.current(&request.server.store);
    let (held, errors) = policy.rules_of(&request.call.user, request.namespace);
    (uncovered_parts(&held, rules), errors)
}

/// Returns whether a write changes only owner references, finalizers, `managedFields` and the `resourceVersion`. These fields grant no
/// permissions, and the garbage collector has to change them without holding the rules of the role.
fn only_ownership_changes(new: &Value, old: &Value) -> bool {
    let without_ownership = |object: &Value| {
        let mut object = object.clone();
        let metadata = object::metadata_mut(&mut object);
        metadata.retain(|field, _| {
            !["ownerReferences", "finalizers", "managedFields", "resourceVersion"].contains(&field.as_str())
        });
        object
    };
    without_ownership(new) == without_ownership(old)
}

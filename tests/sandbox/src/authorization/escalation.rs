//! Nobody gives rights that he doesn't have: the checks on writes of roles and bindings.

use serde_json::Value;

use super::{
    About, may,
    policy::RoleRef,
    rule::{Rule, quoted, told, uncovered},
};
use crate::{failure::Failure, object, verb::Asked};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Refuses a write of a role or a binding that would give its user's rights away that the user lacks.
pub(crate) fn check(asked: Asked<'_>, new: &Value, old: Option<&Value>) -> Result<(), Failure> {
    let kind = asked.kind;
    if kind.group != GROUP || asked.call.user.is_master() || old.is_some_and(|old| only_ownership_changes(new, old)) {
        return Ok(());
    }
    match kind.plural.as_str() {
        "roles" | "clusterroles" => check_role(asked, new, old),
        "rolebindings" | "clusterrolebindings" => check_binding(asked, new),
        _ => Ok(()),
    }
}

fn check_role(asked: Asked<'_>, new: &Value, old: Option<&Value>) -> Result<(), Failure> {
    let name = object::name(new);
    // As for all requests, the name of what is created doesn't count.
    let about = About::Resource {
        group: GROUP,
        namespace: asked.namespace,
        resource: &asked.kind.plural,
        subresource: "",
        name: asked.name,
    };
    if may(asked.server, &asked.call.user, "escalate", about) {
        return Ok(());
    }
    let rules: Vec<Rule> =
        new.get("rules").and_then(|rules| serde_json::from_value(rules.clone()).ok()).unwrap_or_default();
    confirm(asked, name, &rules)?;
    let aggregates = |role: &Value| object::at(role, &["aggregationRule"]).is_some();
    if (aggregates(new) || old.is_some_and(aggregates))
        && !missing(asked, &[Rule::all_resources(), Rule::all_paths()]).0.is_empty()
    {
        let why = "must have cluster-admin privileges to use the aggregationRule";
        return Err(Failure::forbidden(asked.kind, name, why));
    }
    Ok(())
}

fn check_binding(asked: Asked<'_>, new: &Value) -> Result<(), Failure> {
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
    let about =
        About::Resource { group: GROUP, namespace: asked.namespace, resource, subresource: "", name: &role.name };
    if may(asked.server, &asked.call.user, "bind", about) {
        return Ok(());
    }
    if resource == "roles" && asked.namespace.is_empty() {
        return Err(Failure::bad_request("Namespace parameter required."));
    }
    let policy = asked.server.policies.current(&asked.server.store);
    let rules = policy.rules_of_role(&role, asked.namespace);
    // The name of the role and the kind of the binding: so Kubernetes says it.
    let rules = rules.ok_or_else(|| Failure::not_found(asked.kind, &role.name))?;
    confirm(asked, object::name(new), rules)
}

fn confirm(asked: Asked<'_>, name: &str, rules: &[Rule]) -> Result<(), Failure> {
    let (missing, unknown) = missing(asked, rules);
    if missing.is_empty() {
        return Ok(());
    }
    let user = &asked.call.user;
    let unknown = unknown.join(", ").replace("role.rbac", "roles.rbac");
    let unknown = if unknown.is_empty() { unknown } else { format!("; resolution errors: [{unknown}]") };
    let why = format!(
        "user {:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}{unknown}",
        user.name,
        quoted(&user.groups),
        told(&missing)
    );
    Err(Failure::forbidden(asked.kind, name, &why))
}

/// What the user lacks of some rights, and the roles that are bound to it and don't exist.
fn missing(asked: Asked<'_>, rules: &[Rule]) -> (Vec<Rule>, Vec<String>) {
    let policy = asked.server.policies.current(&asked.server.store);
    let (held, unknown) = policy.rules_of(&asked.call.user, asked.namespace);
    (uncovered(&held, rules), unknown)
}

/// The garbage collector may always work on a role: owners and finalizers give no rights.
fn only_ownership_changes(new: &Value, old: &Value) -> bool {
    let rest = |object: &Value| {
        let mut object = object.clone();
        let metadata = object::metadata_mut(&mut object);
        metadata.retain(|field, _| {
            !["ownerReferences", "finalizers", "managedFields", "resourceVersion"].contains(&field.as_str())
        });
        object
    };
    rest(new) == rest(old)
}

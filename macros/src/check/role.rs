//! Checks a tree node that creates a Role or ClusterRole: it must declare the rights that the role grants.

use super::access;
use crate::{
    attrs::access::AccessTarget,
    diag::Diags,
    model::{
        child::Child,
        type_path::{last_segment, type_arguments},
    },
};
use syn::Type;

/// Checks `resource(grants(...))`. A child of the type `Role` or `ClusterRole` must declare the rights that it grants: the operator needs
/// them itself, since the API server rejects an escalation of privileges. Reports rights that a role can't contain, such as `reference`,
/// `raw(...)` and a namespace.
pub(super) fn check(child: &Child, diags: &mut Diags) {
    let Some(resource) = &child.resource else { return };
    let role = role_kind(&child.ty);
    let Some((word, rights)) = &resource.grants else {
        if let Some(role) = role {
            let problem = format!(
                "a `{role}` grants rights, which the API server rejects as a privilege escalation \
                 unless the operator has them itself"
            );
            let fix = "declare them for the operator's role: `resource(grants(ConfigMap: get, list))`";
            diags.error(&child.ty, problem, fix);
        }
        return;
    };
    if rights.is_empty() && !diags.has_errors() {
        diags.error(word, "`grants` has no rights", "declare the rules of the role: `grants(ConfigMap: get, list)`");
    }
    access::check(rights, diags);
    for right in rights {
        if right.raw {
            diags.error(word, "`raw` has no meaning in a role", "remove `raw` and keep its contents");
        }
        if let Some(namespace) = &right.namespace {
            diags.error(
                namespace,
                "a role applies to its own namespace",
                "remove `in`, and create the role in that namespace",
            );
        }
        if let Some(verb) = right.verb_words.iter().find(|verb| *verb == "reference") {
            diags.error(verb, "`reference` is a verb of opgen, not of RBAC", "use the verbs `list, patch, watch`");
        }
        if let (AccessTarget::Url(path), Some("Role")) = (&right.target, role.as_deref()) {
            diags.error(path, "a `Role` is namespaced and can't grant a path", "grant it with a `ClusterRole`");
        }
    }
}

/// Returns `Role` or `ClusterRole` if this is the name of the type, also inside `Option` or `Vec`; `None` for other types.
fn role_kind(ty: &Type) -> Option<String> {
    let segment = last_segment(ty)?;
    let name = segment.ident.to_string();
    match (name.as_str(), type_arguments(segment).as_slice()) {
        ("Role" | "ClusterRole", _) => Some(name),
        ("Option" | "Vec", [inner]) => role_kind(inner),
        _ => None,
    }
}

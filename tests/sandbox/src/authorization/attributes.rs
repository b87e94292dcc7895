//! Defines the attributes of a request that authorization decides on, and the messages of a denial.

use crate::{
    call::{Call, Target, Verb},
    failure::Failure,
    user::User,
};

/// The attributes of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attributes<'a> {
    pub(crate) user: &'a User,
    /// The verb: `get`, `list`, ...; for a path the method in lower case.
    pub(crate) verb: &'a str,
    pub(crate) target: AccessTarget<'a>,
}

/// The resource or path that a request refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AccessTarget<'a> {
    Resource {
        group: &'a str,
        /// Empty for all namespaces and for cluster-scoped objects.
        namespace: &'a str,
        resource: &'a str,
        /// Empty for the object itself.
        subresource: &'a str,
        /// Empty for collections.
        name: &'a str,
    },
    Path(&'a str),
}

impl<'a> Attributes<'a> {
    /// Returns the attributes of a parsed request. A list or watch of a single object by field selector has the name of this object.
    pub(crate) fn of_call(call: &'a Call) -> Self {
        let target = match &call.target {
            Target::Path(path) => {
                return Self { user: &call.user, verb: http_method(call.verb), target: AccessTarget::Path(path) };
            }
            Target::Resource(target) => AccessTarget::Resource {
                group: &target.group,
                namespace: &target.namespace,
                resource: &target.plural,
                subresource: target.subresource.as_deref().unwrap_or_default(),
                name: target.name.as_deref().unwrap_or_else(|| selected_name(call)),
            },
        };
        Self { user: &call.user, verb: call.verb.as_str(), target }
    }

    /// Returns the namespace whose RoleBindings apply; empty if only ClusterRoleBindings apply.
    pub(crate) fn namespace(&self) -> &'a str {
        match self.target {
            AccessTarget::Resource { namespace, .. } => namespace,
            AccessTarget::Path(_) => "",
        }
    }

    /// Returns the 403 error of a denied request. `why` is appended to the message; empty if there is no further
    /// information.
    pub(crate) fn forbidden(&self, why: &str) -> Failure {
        let (verb, why) = (self.verb, if why.is_empty() { String::new() } else { format!(": {why}") });
        let user = format!("User {:?} cannot {verb}", self.user.name);
        match self.target {
            AccessTarget::Path(path) => Failure::forbidden_path(&format!("{user} path {path:?}{why}")),
            AccessTarget::Resource { group, namespace, resource, subresource, name } => {
                let full_resource =
                    if subresource.is_empty() { resource.to_owned() } else { format!("{resource}/{subresource}") };
                let scope = match namespace {
                    "" => "at the cluster scope".to_owned(),
                    namespace => format!("in the namespace {namespace:?}"),
                };
                let message = format!("{user} resource {full_resource:?} in API group {group:?} {scope}{why}");
                Failure::forbidden_resource(group, resource, name, &message)
            }
        }
    }
}

/// Returns the name in the field selector `metadata.name=NAME` of a list or watch; empty for other requests. As in Kubernetes, a rule with
/// `resourceNames` allows a list or watch with such a selector.
fn selected_name(call: &Call) -> &str {
    if !matches!(call.verb, Verb::List | Verb::Watch) {
        return "";
    }
    let name = call.options.field_selector.split(',').find_map(|term| term.strip_prefix("metadata.name="));
    name.map_or("", |name| name.strip_prefix('=').unwrap_or(name))
}

/// Returns the HTTP method of a verb in lower case, which is the RBAC verb of a non-resource path.
fn http_method(verb: Verb) -> &'static str {
    match verb {
        Verb::Get | Verb::List | Verb::Watch => "get",
        Verb::Create => "post",
        Verb::Update => "put",
        Verb::Patch => "patch",
        Verb::Delete | Verb::DeleteCollection => "delete",
    }
}

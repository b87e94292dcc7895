//! Computes the RBAC permissions that roles grant and that calls use.

use std::collections::BTreeSet;

use opgen_sandbox::fault::{ObservedCall, Timeline};
use serde_json::Value;

/// A verb on a resource of an API group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Permission {
    group: String,
    resource: String,
    verb: String,
}

/// The resources that an operator's process needs whatever it controls: for leader election, and to authorize the clients of its
/// metrics. A trial runs one replica without a metrics server, so it uses none of them. Only an upgrade trims the stored versions in the
/// status of a definition.
const PROCESS_RESOURCES: [(&str, &str); 4] = [
    ("apiextensions.k8s.io", "customresourcedefinitions/status"),
    ("coordination.k8s.io", "leases"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
];

impl Permission {
    /// Returns whether a program needs the permission for its process, such as for leader election, and not for the objects that it
    /// controls.
    fn is_of_process(&self) -> bool {
        PROCESS_RESOURCES.contains(&(self.group.as_str(), self.resource.as_str()))
    }
}

impl std::fmt::Display for Permission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dot = if self.group.is_empty() { "" } else { "." };
        write!(f, "{} {}{dot}{}", self.verb, self.resource, self.group)
    }
}

/// Returns all permissions of the Roles and ClusterRoles among objects: one for each API group, resource and verb of a rule.
pub(crate) fn granted_permissions(objects: &[Value]) -> BTreeSet<Permission> {
    let roles = objects.iter().filter(|object| object["kind"] == "ClusterRole" || object["kind"] == "Role");
    roles.flat_map(|role| role["rules"].as_array().into_iter().flatten()).flat_map(permissions_of).collect()
}

/// Returns the permissions of the roles among objects that a program needs for the objects that it controls, and not only for its
/// process.
pub(crate) fn controller_permissions(objects: &[Value]) -> BTreeSet<Permission> {
    granted_permissions(objects).into_iter().filter(|permission| !permission.is_of_process()).collect()
}

/// The API groups of the CD systems that the sandbox simulates.
const CD_GROUPS: [&str; 3] = ["argoproj.io", "helm.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io"];

/// The group and the resource of the objects by which an operator deploys applications with Helm.
const HELM_DEPLOYMENTS: (&str, &str) = ("cd.opgen.dev", "helmdeployments");

/// Returns whether the roles among objects let a program deploy applications through a CD system or with Helm.
pub(crate) fn deploys_applications(objects: &[Value]) -> bool {
    granted_permissions(objects).iter().any(|Permission { group, resource, .. }| {
        CD_GROUPS.contains(&group.as_str()) || (group.as_str(), resource.as_str()) == HELM_DEPLOYMENTS
    })
}

/// Returns the permissions of a rule: one for each API group, resource and verb.
fn permissions_of(rule: &Value) -> Vec<Permission> {
    let mut permissions = Vec::new();
    for group in strings(&rule["apiGroups"]) {
        for resource in strings(&rule["resources"]) {
            for verb in strings(&rule["verbs"]) {
                permissions.push(Permission { group: group.clone(), resource: resource.clone(), verb });
            }
        }
    }
    permissions
}

/// Returns the strings in a list; empty for another value.
fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// Returns the resources, such as `deployments.apps`, that the roles among objects allow to change or delete.
pub(crate) fn writable_resources(objects: &[Value]) -> BTreeSet<String> {
    let is_write = |permission: &Permission| {
        matches!(permission.verb.as_str(), "delete" | "deletecollection" | "patch" | "update" | "*")
    };
    let permissions = granted_permissions(objects).into_iter().filter(is_write);
    permissions
        .map(|permission| {
            if permission.group.is_empty() {
                permission.resource
            } else {
                format!("{}.{}", permission.resource, permission.group)
            }
        })
        .collect()
}

/// Returns the permissions that the calls in a timeline used, and the ones that they lacked. A used `list` also counts as a used `get`,
/// which gives no more access and which an operator may need only in a race. The deletion of a Namespace also uses the permissions to
/// delete the objects that the calls wrote into it.
pub(crate) fn used_and_lacking(timeline: &Timeline) -> (BTreeSet<Permission>, BTreeSet<Permission>) {
    let (mut used, mut lacking) = (BTreeSet::new(), BTreeSet::new());
    for call in timeline.calls() {
        // An injected 403 does not come from the server, and says nothing about the role.
        let is_injected = call.fault.is_some();
        match call.code {
            Some(403) if !is_injected => lacking.extend(needed_permissions(call)),
            // A 404 or a 409 was authorized, too: authorization comes first.
            Some(code) if code != 401 && code != 403 => {
                let needed = needed_permissions(call);
                let lists = needed.iter().filter(|permission| permission.verb == "list");
                used.extend(lists.map(|permission| Permission { verb: "get".to_owned(), ..permission.clone() }));
                used.extend(needed);
            }
            _ => {}
        }
    }
    used.extend(deletions_with_namespaces(timeline));
    (used, lacking)
}

/// Returns the permissions to delete the objects that the calls in a timeline wrote into a Namespace which another call deleted. Such an
/// object is deleted together with its Namespace; the program calls its deletion only if the Namespace stays, which may not happen in a
/// run.
fn deletions_with_namespaces(timeline: &Timeline) -> BTreeSet<Permission> {
    let succeeded: Vec<_> = timeline.calls().filter(|call| matches!(call.code, Some(200..300))).collect();
    let deletions = succeeded.iter().filter(|call| call.method == "DELETE");
    let deleted: BTreeSet<_> = deletions.filter_map(|call| call.path().strip_prefix(NAMESPACES)).collect();
    let is_inside = |call: &&&ObservedCall| namespace_of(call).is_some_and(|namespace| deleted.contains(namespace));
    let written = succeeded.iter().filter(is_inside).flat_map(|call| needed_permissions(call));
    let is_write = |permission: &Permission| matches!(permission.verb.as_str(), "create" | "patch" | "update");
    let objects = written.filter(|permission| is_write(permission) && !permission.resource.contains('/'));
    objects.map(|permission| Permission { verb: "delete".to_owned(), ..permission }).collect()
}

/// The path of the Namespaces, before the name of one.
const NAMESPACES: &str = "/api/v1/namespaces/";

/// Returns the namespace of the object in the path of a call; `None` for a cluster-scoped object.
fn namespace_of(call: &ObservedCall) -> Option<&str> {
    let (_, path) = call.path().split_once("/namespaces/")?;
    path.split_once('/').map(|(namespace, _)| namespace)
}

/// Returns the RBAC permissions that a call needs, by its path and method: one, or `patch` and `create` for an apply that created the
/// object. Empty for a path that is not one of a resource.
fn needed_permissions(call: &ObservedCall) -> Vec<Permission> {
    let path = call.path();
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let (group, segments) = match segments[..] {
        ["api", _, ref segments @ ..] => ("", segments),
        ["apis", group, _, ref segments @ ..] => (group, segments),
        _ => return Vec::new(),
    };
    // Drops `namespaces/NAME` before the resource, unless the path is that of the Namespace itself or of its subresource.
    let segments = match segments {
        ["namespaces", _, segments @ ..] if !segments.is_empty() && !matches!(segments, ["status" | "finalize"]) => {
            segments
        }
        segments => segments,
    };
    let Some(plural) = segments.first() else { return Vec::new() };
    let has_name = segments.len() > 1;
    let resource = segments.get(2).map_or_else(|| (*plural).to_owned(), |part| format!("{plural}/{part}"));
    let verb = match call.method.as_str() {
        "GET" if call.is_watch() => "watch",
        "GET" if has_name => "get",
        "GET" => "list",
        "POST" => "create",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" if has_name => "delete",
        "DELETE" => "deletecollection",
        _ => return Vec::new(),
    };
    let permission =
        |verb: &str| Permission { group: group.to_owned(), resource: resource.clone(), verb: verb.to_owned() };
    let mut permissions = vec![permission(verb)];
    if verb == "patch" && call.code == Some(201) {
        permissions.push(permission("create"));
    }
    permissions
}

#[cfg(test)]
mod tests {
    use super::*;
    use opgen_sandbox::fault::{TimelineEntry, TimelineEvent};
    use serde_json::json;

    /// Returns a call with the number 1 and without a fault.
    fn observed(method: &str, uri: &str, code: u16) -> ObservedCall {
        ObservedCall { number: 1, method: method.into(), uri: uri.into(), code: Some(code), fault: None }
    }

    /// Returns the permissions that a call needs, as text.
    fn needed(method: &str, uri: &str, code: u16) -> Vec<String> {
        needed_permissions(&observed(method, uri, code)).iter().map(ToString::to_string).collect()
    }

    /// Returns the permissions with the verb `delete` that calls used, as text.
    fn used_deletions(calls: &[(&str, &str, u16)]) -> Vec<String> {
        let mut timeline = Timeline::default();
        for (method, uri, code) in calls {
            let event = TimelineEvent::Call(observed(method, uri, *code));
            timeline.entries.push(TimelineEntry { at: 0, life: 1, event });
        }
        let (used, _) = used_and_lacking(&timeline);
        used.iter().filter(|permission| permission.verb == "delete").map(ToString::to_string).collect()
    }

    #[test]
    fn the_deletion_of_a_namespace_uses_the_permissions_to_delete_the_objects_in_it() {
        let writes = [
            ("POST", "/api/v1/namespaces/a/configmaps?fieldManager=one", 201),
            ("PATCH", "/apis/apps/v1/namespaces/a/deployments/web", 200),
            ("PATCH", "/apis/d.e/v1/namespaces/a/webs/one/status", 200),
            ("POST", "/api/v1/namespaces/a/pods", 409),
            ("POST", "/api/v1/namespaces/b/secrets", 201),
            ("GET", "/api/v1/namespaces/a/services/web", 200),
            ("PATCH", "/api/v1/namespaces/a", 201),
        ];
        let used_with =
            |deletion: (&'static str, &'static str, u16)| used_deletions(&[&writes[..], &[deletion]].concat());
        let all = ["delete configmaps", "delete namespaces", "delete deployments.apps"];
        assert_eq!(used_with(("DELETE", "/api/v1/namespaces/a", 200)), all);
        assert_eq!(used_with(("DELETE", "/api/v1/namespaces/a", 404)), ["delete namespaces"]);
        assert_eq!(used_with(("DELETE", "/api/v1/namespaces/a/configmaps/one", 200)), ["delete configmaps"]);
    }

    #[test]
    fn a_call_needs_the_verb_and_the_resource_of_rbac() {
        assert_eq!(needed("GET", "/api/v1/configmaps?watch=true", 200), ["watch configmaps"]);
        assert_eq!(needed("GET", "/api/v1/namespaces/a", 200), ["get namespaces"]);
        assert_eq!(
            needed("PATCH", "/apis/apps/v1/namespaces/a/deployments/b", 201),
            ["patch deployments.apps", "create deployments.apps"]
        );
        assert_eq!(needed("PATCH", "/apis/d.e/v1/namespaces/a/webs/b/status", 200), ["patch webs/status.d.e"]);
        assert_eq!(needed("DELETE", "/api/v1/namespaces/a/pods", 200), ["deletecollection pods"]);
    }

    #[test]
    fn a_role_grants_each_verb_on_each_resource() {
        let role = json!({"kind": "Role", "rules": [{"apiGroups": ["", "apps"], "resources": ["a"], "verbs": ["get", "list"]}]});
        assert_eq!(granted_permissions(&[role]).len(), 4);
    }
}

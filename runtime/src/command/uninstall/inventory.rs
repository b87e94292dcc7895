//! What an installation consists of, in the order it goes.

use crate::{
    client::Target,
    kind::Kind,
    manifest::{Project, installed},
};
use serde_json::Value;

/// When an object goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// What makes the finalizer policy act; without it the policy does nothing.
    Parameter,
    Policy,
    Workload,
    Definitions,
    Rest,
}

/// An object of the installation.
#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) stage: Stage,
    kind: Kind,
    namespace: Option<String>,
    name: String,
}

impl Installed {
    fn new(object: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let namespace = object["metadata"]["namespace"].as_str().map(str::to_owned);
        let stage = match kind.as_str() {
            "ConfigMap" => Stage::Parameter,
            "MutatingAdmissionPolicy" | "MutatingAdmissionPolicyBinding" => Stage::Policy,
            "Deployment" => Stage::Workload,
            "CustomResourceDefinition" => Stage::Definitions,
            _ => Stage::Rest,
        };
        Self {
            stage,
            kind: Kind {
                group: group.to_owned().into(),
                version: version.to_owned().into(),
                plural: plural(&kind).into(),
                namespaced: namespace.is_some(),
                kind: kind.into(),
            },
            namespace,
            name: text(&object["metadata"]["name"]),
        }
    }

    pub(crate) fn target(&self) -> Target<'_> {
        Target { kind: &self.kind, namespace: self.namespace.as_deref(), name: &self.name }
    }
}

/// The plural of a kind that manifests hold; they are few and regular.
fn plural(kind: &str) -> String {
    let lower = kind.to_lowercase();
    lower.strip_suffix('y').map_or_else(|| format!("{lower}s"), |stem| format!("{stem}ies"))
}

/// Everything that the manifests of a project put into a cluster; the binding of the policy before the policy, and the
/// namespace last.
pub(crate) fn of(project: &Project) -> Vec<Installed> {
    let mut objects: Vec<_> = installed(project).iter().map(Installed::new).collect();
    objects.sort_by_key(|object| match object.kind.kind.as_ref() {
        "MutatingAdmissionPolicyBinding" => 0,
        "Namespace" => 2,
        _ => 1,
    });
    objects
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plurals_are_those_of_the_api() {
        let plurals = ["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "ClusterRole"].map(plural);
        assert_eq!(plurals, ["mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "clusterroles"]);
    }

    #[test]
    fn an_object_is_found_under_its_group_and_scope() {
        let role = Installed::new(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "a", "namespace": "b"}
        }));
        assert_eq!((role.kind.group.as_ref(), role.kind.version.as_ref()), ("rbac.authorization.k8s.io", "v1"));
        assert_eq!((role.target().namespace, role.stage), (Some("b"), Stage::Rest));
        let namespace = Installed::new(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}));
        assert_eq!((namespace.kind.group.as_ref(), namespace.target().namespace), ("", None));
    }
}

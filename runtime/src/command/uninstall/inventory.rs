//! Lists the objects of an installation with the stage in which each is deleted.

use crate::{
    client::Target,
    kind::Kind,
    manifest::{Project, installed_objects},
};
use serde_json::Value;

/// The stage of the uninstallation in which an object is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// The parameter of the finalizer policy, which does nothing without it.
    Parameter,
    Policy,
    Workload,
    Definitions,
    Rest,
}

/// An object of the installation.
#[derive(Debug)]
pub(crate) struct InstalledObject {
    pub(crate) stage: Stage,
    kind: Kind,
    namespace: Option<String>,
    name: String,
}

impl InstalledObject {
    /// Reads the kind and the name of a generated manifest, and chooses the stage in which its object is deleted.
    fn new(object: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let namespace = object["metadata"]["namespace"].as_str().map(str::to_owned);
        let stage = match kind.as_str() {
            "ConfigMap" => Stage::Parameter,
            // Without the operator, its webhooks would refuse the writes of the later stages.
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => Stage::Policy,
            kind if kind.contains("AdmissionPolicy") => Stage::Policy,
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

/// Returns the plural of a kind in the generated manifests; these kinds are few and regular.
fn plural(kind: &str) -> String {
    let lower = kind.to_lowercase();
    lower.strip_suffix('y').map_or_else(|| format!("{lower}s"), |stem| format!("{stem}ies"))
}

/// Returns every object that the manifests of a project create, in the order in which the objects of a stage are deleted: bindings of
/// admission policies first, and the Namespace last.
pub(crate) fn inventory(project: &Project) -> Vec<InstalledObject> {
    let mut objects: Vec<_> = installed_objects(project).iter().map(InstalledObject::new).collect();
    objects.sort_by_key(|object| match object.kind.kind.as_ref() {
        "MutatingAdmissionPolicyBinding" | "ValidatingAdmissionPolicyBinding" => 0,
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
        let role = InstalledObject::new(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "a", "namespace": "b"}
        }));
        assert_eq!((role.kind.group.as_ref(), role.kind.version.as_ref()), ("rbac.authorization.k8s.io", "v1"));
        assert_eq!((role.target().namespace, role.stage), (Some("b"), Stage::Rest));
        let namespace =
            InstalledObject::new(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}));
        assert_eq!((namespace.kind.group.as_ref(), namespace.target().namespace), ("", None));
    }
}

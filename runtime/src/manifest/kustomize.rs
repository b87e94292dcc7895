//! Generates the kustomizations: the base, its optional components, and overlays that combine them.

mod certificate;

use super::{crd::definition::Definition, project::Project};
use serde_json::{Value, json};

pub(crate) use certificate::files as cert_manager_files;

/// The folder of the base, which has no file from outside of it: kustomize reads none.
pub(crate) const BASE: &str = "base";
pub(crate) const CERT_MANAGER: &str = "components/cert-manager";
pub(crate) const MONITORING: &str = "components/monitoring";
pub(crate) const NETWORK_POLICY: &str = "components/network-policy";
const OVERLAYS: &str = "overlays";

/// The files of the operator in the base, in the order of need.
pub(crate) const RBAC: &str = "rbac.yaml";
pub(crate) const ROLES: &str = "roles.yaml";
pub(crate) const OPERATOR: &str = "operator.yaml";
/// The file of the webhook configurations in the base, if there are any.
pub(crate) const WEBHOOKS: &str = "webhooks.yaml";
/// The file of the admission policies in the base, if there are any.
pub(crate) const POLICIES: &str = "policies.yaml";
/// The file of the NetworkPolicy in its component.
pub(crate) const POLICY_FILE: &str = "network-policy.yaml";

/// Returns the path of a file in a folder.
pub(crate) fn path(folder: &str, file: &str) -> String {
    format!("{folder}/{file}")
}

/// Returns the `kustomization.yaml` of each folder, with its path: the base, the optional components, and overlays that combine the base
/// with one component or with two replicas.
pub(crate) fn documents(project: &Project, definitions: &[Definition]) -> Vec<(String, Value)> {
    let crds = definitions.iter().map(Definition::file_path);
    let webhooks = (!project.webhooks.is_empty()).then(|| WEBHOOKS.to_owned());
    let policies = (!super::policies::documents(project).is_empty()).then(|| POLICIES.to_owned());
    let base: Vec<_> = crds.chain([RBAC, ROLES, OPERATOR].map(str::to_owned)).chain(webhooks).chain(policies).collect();
    let overlay_folder = |name: &str| path(OVERLAYS, name);
    let overlay = |fields: Value| {
        let mut document = kustomization(json!({"resources": ["../../base"]}));
        for (key, value) in fields.as_object().into_iter().flatten() {
            document[key] = value.clone();
        }
        document
    };
    let mut folders = vec![
        (BASE.to_owned(), kustomization(json!({"resources": base}))),
        (NETWORK_POLICY.to_owned(), component(&[POLICY_FILE])),
        (overlay_folder("ha"), overlay(json!({"replicas": [{"count": 2, "name": project.name}]}))),
    ];
    if project.serves_metrics() {
        let monitoring = component(&[super::metrics::MONITOR_FILE, super::rules::RULES_FILE]);
        folders.push((MONITORING.to_owned(), monitoring));
        folders.push((overlay_folder("monitoring"), overlay(json!({"components": ["../../components/monitoring"]}))));
    }
    if project.has_webhooks() {
        let mut certificates = component(&[certificate::CERTIFICATES]);
        certificates["patches"] = certificate::patches(project).into();
        folders.push((CERT_MANAGER.to_owned(), certificates));
        let components = json!({"components": ["../../components/cert-manager"]});
        folders.push((overlay_folder("cert-manager"), overlay(components)));
    }
    folders.into_iter().map(|(folder, document)| (path(&folder, "kustomization.yaml"), document)).collect()
}

/// Returns a Kustomization with these fields, which `kustomize build` can build.
fn kustomization(mut fields: Value) -> Value {
    fields["apiVersion"] = json!("kustomize.config.k8s.io/v1beta1");
    fields["kind"] = json!("Kustomization");
    fields
}

/// Returns a Component, which overlays add to the base.
fn component(resources: &[&str]) -> Value {
    json!({"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "resources": resources})
}

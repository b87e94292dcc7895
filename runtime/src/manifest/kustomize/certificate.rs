//! Generates the kustomize component with which cert-manager makes the certificate of the webhooks: Issuers, Certificates, and patches of
//! the base.

use crate::manifest::{cert_manager, project::Project, rbac, webhooks};
use serde_json::{Value, json};

/// The file of the Issuers and the Certificates.
pub(super) const CERTIFICATES: &str = "certificates.yaml";
const ANNOTATIONS: &str = "annotations.yaml";
const VOLUMES: &str = "volumes.yaml";
const ARGUMENTS: &str = "arguments.yaml";

/// Returns the files of the kustomize component `cert-manager` and their documents, without its `kustomization.yaml`; none for an operator
/// without webhooks.
pub(crate) fn files(project: &Project) -> Vec<(&'static str, Vec<Value>)> {
    if !project.has_webhooks() {
        return Vec::new();
    }
    let mut files = vec![
        (CERTIFICATES, cert_manager::documents(project)),
        (ANNOTATIONS, annotations(project)),
        (VOLUMES, vec![volumes(project)]),
        (ARGUMENTS, vec![arguments()]),
    ];
    files.extend(roles(project).into_iter().map(|role| (role.file, vec![Value::Array(role.operations)])));
    files
}

/// Returns the list of patches in the component's `kustomization.yaml`: the file of each patch, and its target if the file doesn't name it.
pub(super) fn patches(project: &Project) -> Vec<Value> {
    let mut patches = vec![json!({"path": ANNOTATIONS}), json!({"path": VOLUMES})];
    let target = json!({"group": "apps", "kind": "Deployment", "name": project.name, "namespace": project.namespace});
    patches.push(json!({"path": ARGUMENTS, "target": target}));
    patches.extend(roles(project).into_iter().map(|role| json!({"path": role.file, "target": role.target})));
    patches
}

/// Returns merge patches that add the annotation by which cert-manager injects its CA bundle, to the webhook configurations and to the
/// CustomResourceDefinitions with a conversion webhook.
fn annotations(project: &Project) -> Vec<Value> {
    let annotated = |api_version: &Value, kind: &Value, name: &Value| {
        let annotations = json!({cert_manager::INJECT_ANNOTATION: cert_manager::injected_from(project)});
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"annotations": annotations, "name": name}})
    };
    let configurations = webhooks::configurations(project);
    let mut documents: Vec<_> = configurations
        .iter()
        .map(|object| annotated(&object["apiVersion"], &object["kind"], &object["metadata"]["name"]))
        .collect();
    let (api_version, kind) = (json!("apiextensions.k8s.io/v1"), json!("CustomResourceDefinition"));
    let definitions = webhooks::converted_definitions(project);
    documents.extend(definitions.into_iter().map(|name| annotated(&api_version, &kind, &json!(name))));
    documents
}

/// Returns the strategic merge patch of the Deployment that mounts the certificate's Secret. It keeps other volumes and mounts, since
/// kustomize merges volumes by name and mounts by path.
fn volumes(project: &Project) -> Value {
    let container = json!({"name": "operator", "volumeMounts": [cert_manager::volume_mount()]});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": project.name, "namespace": project.namespace},
        "spec": {"template": {"spec": {"containers": [container], "volumes": [cert_manager::volume(project)]}}},
    })
}

/// Returns the JSON patch that adds the flag `--webhook-cert-path` to the operator's arguments. It is no merge patch, because a merge
/// replaces a list of arguments as a whole.
fn arguments() -> Value {
    let container = "/spec/template/spec/containers/0";
    json!([
        {"op": "test", "path": format!("{container}/name"), "value": "operator"},
        {
            "op": "add",
            "path": format!("{container}/args/-"),
            "value": format!("--webhook-cert-path={}", cert_manager::MOUNT_PATH),
        },
    ])
}

/// The JSON patch of a role that removes the rules which the operator needs only to make the certificate of its webhooks itself.
struct RolePatch {
    file: &'static str,
    target: Value,
    operations: Vec<Value>,
}

/// Returns the patches of the roles. A patch removes rules from the last to the first, so that their positions stay valid, and tests each
/// rule before it removes the rule, so it fails if the base has other rules.
fn roles(project: &Project) -> Vec<RolePatch> {
    let changes = rbac::changes_without_certificates(project);
    let patch = |change: rbac::RuleChange| {
        let removals = change.removed.iter().rev().flat_map(|(position, rule)| {
            let path = format!("/rules/{position}");
            [json!({"op": "test", "path": path, "value": rule}), json!({"op": "remove", "path": path})]
        });
        let additions = change.added.iter().map(|rule| json!({"op": "add", "path": "/rules/-", "value": rule}));
        let mut target = json!({"group": "rbac.authorization.k8s.io", "kind": change.kind, "name": change.name});
        if let Some(namespace) = &change.namespace {
            target["namespace"] = json!(namespace);
        }
        RolePatch {
            file: if change.namespace.is_some() { "role.yaml" } else { "cluster-role.yaml" },
            target,
            operations: removals.chain(additions).collect(),
        }
    };
    changes.into_iter().map(patch).collect()
}

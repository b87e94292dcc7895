//! Defines the kinds of Argo CD, Flux and the driver of Helm, without schemas.

use serde_json::{Value, json};

use super::{Action, ChangeEvent, Controller, ControllerClient, EventSources, ReconcileResult};

const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// The group, version and kind of a definition, its plural, and whether its status is a subresource.
type Definition = (&'static str, &'static str, &'static str, &'static str, bool);

const KINDS: [Definition; 7] = [
    ("argoproj.io", "v1alpha1", "Application", "applications", false),
    ("source.toolkit.fluxcd.io", "v1", "HelmRepository", "helmrepositories", true),
    ("source.toolkit.fluxcd.io", "v1", "OCIRepository", "ocirepositories", true),
    ("source.toolkit.fluxcd.io", "v1", "GitRepository", "gitrepositories", true),
    ("helm.toolkit.fluxcd.io", "v2", "HelmRelease", "helmreleases", true),
    ("kustomize.toolkit.fluxcd.io", "v1", "Kustomization", "kustomizations", true),
    ("cd.opgen.dev", "v1alpha1", "HelmDeployment", "helmdeployments", true),
];

/// The namespaces in which the systems are installed.
const NAMESPACES: [&str; 2] = ["argocd", "flux-system"];

/// Creates the definitions and the namespaces of the systems when the sandbox starts. No event is of interest to it.
#[derive(Debug)]
pub(super) struct Definitions;

impl Controller for Definitions {
    type Key = ();

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[DEFINITIONS])
    }

    fn initial_keys(&self) -> Vec<()> {
        vec![()]
    }

    fn keys_for(&mut self, _: &ControllerClient, _: &str, _: &ChangeEvent) -> Vec<()> {
        Vec::new()
    }

    /// Creates the namespaces of Argo CD and Flux, and the CustomResourceDefinitions of all simulated CD systems, unless they exist.
    async fn reconcile(&mut self, client: &ControllerClient, (): &()) -> ReconcileResult {
        for name in NAMESPACES {
            create(client, "namespaces", json!({"metadata": {"name": name}})).await?;
        }
        for definition in KINDS {
            create(client, DEFINITIONS, to_object(definition)).await?;
        }
        Ok(Action::AwaitChange)
    }
}

/// Creates an object unless it exists.
async fn create(client: &ControllerClient, group_resource: &str, object: Value) -> Result<(), super::ApiError> {
    let kind = client.served_kind(group_resource)?;
    match client.create(&kind, &object).await {
        Err(refused) if !refused.is_already_exists() => Err(refused),
        _ => Ok(()),
    }
}

/// Returns the CustomResourceDefinition of a kind, with a schema that accepts every `spec`, `status` and `operation`.
fn to_object((group, version, kind, plural, has_status): Definition) -> Value {
    let subresources = if has_status { json!({"status": {}}) } else { json!({}) };
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let schema = json!({"type": "object", "properties": {"spec": any, "status": any, "operation": any}});
    json!({
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group,
            "names": {
                "kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": kind.to_lowercase(),
            },
            "scope": "Namespaced",
            "versions": [{
                "name": version, "served": true, "storage": true, "subresources": subresources,
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}

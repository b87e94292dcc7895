//! Applies manifests to the API server of a test as `kubectl apply --server-side` does, and deletes CustomResourceDefinitions.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition as Definition;
use kube::{
    Api, Client, Resource as _,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, ValidationDirective},
    client::Body,
    core::{GroupVersionKind, Request},
    discovery::Scope,
};

use super::Plane;
use crate::wait;

/// The field manager of the applied objects.
const MANAGER: &str = "kubectl";

impl Plane {
    /// Applies the objects of a YAML text one after the other, with strict field validation by the server. Returns the warnings
    /// of the server, one per line.
    ///
    /// # Panics
    /// With the response of the server, if it refuses an object.
    pub async fn apply(&self, yaml: &str) -> String {
        let client = self.client();
        let mut warnings = String::new();
        for document in yaml.split("\n---\n").filter(|document| !is_empty(document)) {
            let object: DynamicObject =
                serde_saphyr::from_str(document).unwrap_or_else(|error| panic!("{error} in\n{document}"));
            let new = apply(&client, &object).await.unwrap_or_else(|refusal| panic!("{refusal}\n{document}"));
            new.iter().for_each(|warning| warnings.extend([warning, "\n"]));
        }
        warnings
    }

    /// Waits until a CustomResourceDefinition has the condition `Established`, so that its kind can be used.
    pub async fn until_established(&self, definition: &str) {
        let definitions = Api::<Definition>::all(self.client());
        wait::until_object(&definitions, definition, "is established", |definition| {
            let conditions = definition.status.as_ref().and_then(|status| status.conditions.as_deref());
            let conditions = conditions.unwrap_or_default();
            conditions.iter().any(|condition| condition.type_ == "Established" && condition.status == "True")
        })
        .await;
    }

    /// Deletes a CustomResourceDefinition, and waits until it and all its objects are gone.
    pub async fn delete_crd(&self, definition: &str) {
        let definitions = Api::<Definition>::all(self.client());
        definitions.delete(definition, &DeleteParams::default()).await.unwrap();
        wait::until_gone(&definitions, definition).await;
    }
}

/// Returns whether a YAML document has only empty lines, comments and separators.
fn is_empty(document: &str) -> bool {
    document.lines().all(|line| line.trim().is_empty() || line.starts_with(['#', '-']) && !line.starts_with("- "))
}

/// Applies an object by server-side apply with strict field validation, and returns the warnings in the headers of the response. An object
/// of a namespaced kind without a namespace gets the namespace `default`.
///
/// # Errors
/// Fails with the body of the response if the server refuses the object.
async fn apply(client: &Client, object: &DynamicObject) -> Result<Vec<String>, String> {
    let types = object.types.as_ref().ok_or("an object without a kind")?;
    let kind = GroupVersionKind::try_from(types).map_err(|error| error.to_string())?;
    let resource = ApiResource::from_gvk(&kind);
    let namespace = match &object.metadata.namespace {
        Some(namespace) => Some(namespace.as_str()),
        None => is_namespaced(client, &kind).await?.then_some("default"),
    };
    let path = DynamicObject::url_path(&resource, namespace);
    let params = PatchParams { field_validation: Some(ValidationDirective::Strict), ..PatchParams::apply(MANAGER) };
    let name = object.metadata.name.as_deref().ok_or("an object without a name")?;
    let request = Request::new(path).patch(name, &params, &Patch::Apply(object)).map_err(|error| error.to_string())?;
    // `Api::patch` would drop the headers.
    let response = client.send(request.map(Body::from)).await.map_err(|error| error.to_string())?;
    let (head, body) = response.into_parts();
    let warnings = head.headers.get_all("warning").iter();
    let warnings = warnings.map(|warning| String::from_utf8_lossy(warning.as_bytes()).into_owned()).collect();
    if head.status.is_success() {
        return Ok(warnings);
    }
    let body = body.collect_bytes().await.map_err(|error| error.to_string())?;
    Err(String::from_utf8_lossy(&body).into_owned())
}

/// Returns whether a kind is namespaced, by the discovery of the API server.
async fn is_namespaced(client: &Client, kind: &GroupVersionKind) -> Result<bool, String> {
    let (_, capabilities) = kube::discovery::pinned_kind(client, kind).await.map_err(|error| error.to_string())?;
    Ok(capabilities.scope == Scope::Namespaced)
}

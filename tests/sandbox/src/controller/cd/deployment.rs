//! Deploys and removes the ConfigMap that stands for the objects of an application.

use serde_json::{Value, json};

use super::{ApiError, ControllerClient};
use crate::object;

/// The chart that never becomes healthy.
pub(super) const DEGRADED_CHART: &str = "degraded";

const MAPS: &str = "configmaps";
const NAMESPACES: &str = "namespaces";
/// The label with the object of the CD system: `NAMESPACE.NAME`.
const INSTANCE_LABEL: &str = "app.kubernetes.io/instance";

/// The ConfigMap that stands for what an application deploys.
pub(super) struct Deployment<'a> {
    /// The object of the CD system.
    pub(super) application: &'a Value,
    pub(super) namespace: &'a str,
    /// Whether the namespace is created if it does not exist.
    pub(super) creates_namespace: bool,
    /// The name of the release, and of the ConfigMap.
    pub(super) release: &'a str,
    /// The source and the values, for the data of the ConfigMap.
    pub(super) content: Value,
}

/// The state of a deployment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Deployed {
    /// Nothing was written.
    Unchanged,
    /// The ConfigMap was written.
    Changed,
    /// The namespace does not exist, or is being deleted.
    NoNamespace,
}

/// Returns the value of the instance label of an application.
fn instance(application: &Value) -> String {
    format!("{}.{}", object::namespace(application), object::name(application))
}

impl Deployment<'_> {
    /// Returns whether the application has deployed only one ConfigMap, with the wanted namespace, name and content.
    pub(super) fn is_current(&self, client: &ControllerClient) -> Result<bool, ApiError> {
        let (existing, content) = (deployed(client, self.application)?, self.content.to_string());
        let is_wanted = |map: &Value| {
            object::namespace(map) == self.namespace
                && object::name(map) == self.release
                && object::text(map, &["data", "content"]) == content
        };
        Ok(existing.len() == 1 && existing.iter().all(is_wanted))
    }

    /// Writes the ConfigMap that stands for the objects of an application if it differs, and deletes ConfigMaps that the application
    /// deployed with an earlier release name or namespace. Creates a missing namespace if `creates_namespace` is set.
    pub(super) async fn deploy(&self, client: &ControllerClient) -> Result<Deployed, ApiError> {
        let namespaces = client.served_kind(NAMESPACES)?;
        match client.get(&namespaces, "", self.namespace) {
            Some(namespace) if object::is_deleting(&namespace) => return Ok(Deployed::NoNamespace),
            Some(_) => {}
            None if self.creates_namespace => {
                client.create(&namespaces, &json!({"metadata": {"name": self.namespace}})).await?;
            }
            None => return Ok(Deployed::NoNamespace),
        }
        if self.is_current(client)? {
            return Ok(Deployed::Unchanged);
        }
        let maps = client.served_kind(MAPS)?;
        let labels = json!({INSTANCE_LABEL: instance(self.application)});
        let map = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": self.release, "namespace": self.namespace, "labels": labels},
            "data": {"content": self.content.to_string()},
        });
        client.apply(&maps, "", &map).await?;
        for other in deployed(client, self.application)? {
            if (object::namespace(&other), object::name(&other)) != (self.namespace, self.release) {
                delete(client, &other).await?;
            }
        }
        Ok(Deployed::Changed)
    }
}

/// Deletes the ConfigMaps that an application deployed. Also deletes the deployed ConfigMap with the namespace and name in `release`: Helm
/// uninstalls a release by its name, even if another application has upgraded it since. Returns `true` if there was nothing to delete;
/// after `false` the caller tries again, which confirms the deletion.
pub(super) async fn remove(
    client: &ControllerClient,
    application: &Value,
    release: Option<(&str, &str)>,
) -> Result<bool, ApiError> {
    let mut existing = deployed(client, application)?;
    if let Some((namespace, name)) = release {
        let map = client.get(&*client.served_kind(MAPS)?, namespace, name);
        existing.extend(map.filter(|map| object::labels(map).any(|(label, _)| label == INSTANCE_LABEL)));
    }
    for map in &existing {
        delete(client, map).await?;
    }
    Ok(existing.is_empty())
}

/// Returns the ConfigMaps that an application deployed: those whose instance label names the application.
fn deployed(client: &ControllerClient, application: &Value) -> Result<Vec<Value>, ApiError> {
    let (maps, instance) = (client.served_kind(MAPS)?, instance(application));
    let has_label = |map: &Value| object::labels(map).any(|label| label == (INSTANCE_LABEL, instance.as_str()));
    Ok(client.list(&maps, None).into_iter().filter(has_label).collect())
}

/// Deletes a ConfigMap. Succeeds if the ConfigMap does not exist any more.
async fn delete(client: &ControllerClient, map: &Value) -> Result<(), ApiError> {
    let maps = client.served_kind(MAPS)?;
    match client.delete(&maps, (object::namespace(map), object::name(map)), &json!({})).await {
        Err(refused) if !refused.is_not_found() => Err(refused),
        _ => Ok(()),
    }
}

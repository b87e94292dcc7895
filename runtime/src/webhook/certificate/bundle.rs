//! `Configuration`: an own webhook configuration, whose webhooks get the authorities that the API server trusts.

use crate::{
    client::{CallError, Client, Target},
    kind::{Kind, kind_of},
};
use k8s_openapi::{
    ByteString,
    api::admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
};
use kube::api::Patch;
use serde_json::{Value, json};
use std::collections::BTreeSet;

use crate::webhook::Mode;

/// A webhook configuration of the operator, by its name.
#[derive(Clone, Debug)]
pub(super) struct Configuration {
    kind: Kind,
    name: String,
    /// The names of the webhooks in it that belong to the operator.
    webhooks: BTreeSet<String>,
}

impl Configuration {
    pub(super) fn new(mode: Mode, name: &str, webhooks: BTreeSet<String>) -> Self {
        let kind = match mode {
            Mode::Validate => kind_of::<ValidatingWebhookConfiguration>(),
            Mode::Default => kind_of::<MutatingWebhookConfiguration>(),
        };
        Self { kind, name: name.to_owned(), webhooks }
    }

    /// Sets the authorities of the operator's webhooks, where they differ. Nothing else of the configuration changes. Returns whether
    /// all webhooks of the operator have them now: a configuration that is not installed yet, or that lacks a webhook, is logged.
    ///
    /// # Errors
    /// Fails if a call fails, also if another client changed the configuration meanwhile.
    pub(super) async fn trust(&self, client: &Client, bundle: &str, operator: &str) -> Result<bool, CallError> {
        let target = Target { kind: &self.kind, namespace: None, name: &self.name };
        let Some(object) = client.get::<Value>(target).await? else {
            tracing::warn!("{} {} not found; apply the manifests of the operator", self.kind, self.name);
            return Ok(false);
        };
        let present: BTreeSet<_> = object["webhooks"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|webhook| webhook["name"].as_str())
            .collect();
        let missing = self.webhooks.iter().find(|name| !present.contains(name.as_str()));
        if let Some(name) = missing {
            tracing::warn!("{} {} has no webhook {name}; apply the manifests of the operator", self.kind, self.name);
        }
        let Some(operations) = self.operations(&object, bundle) else { return Ok(missing.is_none()) };
        let patch: json_patch::Patch = serde_json::from_value(operations)
            .map_err(|error| target.call_error(crate::shape::Verb::Patch, "", kube::Error::SerdeError(error)))?;
        client.patch(target, &Patch::Json::<()>(patch), operator).await?;
        tracing::info!("set the certificate authorities in {} {}", self.kind, self.name);
        Ok(missing.is_none())
    }

    /// Returns the operations of the JSON patch; `None` if there is nothing to change. The resourceVersion makes the patch fail if the
    /// positions have changed.
    fn operations(&self, object: &Value, bundle: &str) -> Option<Value> {
        let bundle = serde_json::to_value(ByteString(bundle.as_bytes().to_vec())).ok()?;
        let webhooks = object["webhooks"].as_array().into_iter().flatten().enumerate();
        let own = webhooks.filter(|(_, webhook)| {
            webhook["name"].as_str().is_some_and(|name| self.webhooks.contains(name))
                && webhook["clientConfig"]["caBundle"] != bundle
        });
        let set = |(position, _)| json!({"op": "add", "path": format!("/webhooks/{position}/clientConfig/caBundle"), "value": bundle});
        let mut operations: Vec<_> = own.map(set).collect();
        if operations.is_empty() {
            return None;
        }
        let version = &object["metadata"]["resourceVersion"];
        operations.push(json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version}));
        Some(Value::Array(operations))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_webhooks_get_the_bundle_and_only_where_it_differs() {
        let own = BTreeSet::from(["a.example.com".to_owned(), "b.example.com".to_owned()]);
        let configuration = Configuration::new(Mode::Validate, "demo", own);
        let webhook = |name: &str, bundle: &str| json!({"name": name, "clientConfig": {"caBundle": bundle}});
        let object = |webhooks: Value| json!({"metadata": {"resourceVersion": "7"}, "webhooks": webhooks});
        let mixed =
            object(json!([webhook("x.example.com", ""), webhook("a.example.com", "eA=="), {"name": "b.example.com"}]));
        let operations = configuration.operations(&mixed, "x").unwrap_or_default();
        assert_eq!(
            operations,
            json!([
                {"op": "add", "path": "/webhooks/2/clientConfig/caBundle", "value": "eA=="},
                {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
            ])
        );
        assert_eq!(configuration.operations(&object(json!([webhook("a.example.com", "eA==")])), "x"), None);
    }
}

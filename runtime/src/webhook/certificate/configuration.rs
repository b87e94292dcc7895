//! `Configuration`: one of the operator's webhook configurations or CustomResourceDefinitions, in which the CA bundles of its webhooks are
//! set.

use crate::{
    client::{CallError, Client, Target},
    kind::{Kind, kind_of},
};
use k8s_openapi::{
    ByteString,
    api::admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::api::Patch;
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::collections::BTreeSet;

use crate::webhook::Mode;

/// A webhook configuration of the operator, or a definition whose objects it converts, by its name.
#[derive(Clone, Debug)]
pub(super) struct Configuration {
    kind: Kind,
    name: String,
    own: OwnWebhooks,
}

/// The authorities, in PEM, that the API server shall trust.
#[derive(Clone, Debug)]
pub(super) struct Bundle {
    pub(super) authorities: String,
    /// Whether authorities that a webhook has already stay in its `caBundle`, since replicas may still serve certificates of them.
    pub(super) keeps_existing: bool,
}

impl Bundle {
    /// Returns the new `caBundle` of a webhook whose `caBundle` is `existing`, both in base64; `None` if the existing value is right
    /// already. While existing authorities must be kept, the new ones are appended to them.
    fn for_webhook(&self, existing: &Value) -> Option<Value> {
        let current = ByteString::deserialize(existing).ok().and_then(|bundle| String::from_utf8(bundle.0).ok());
        let mut wanted = self.authorities.clone();
        if let Some(current) = current.filter(|current| self.keeps_existing && is_bundle(current)) {
            if current.contains(&self.authorities) {
                return None;
            }
            let end = if current.ends_with('\n') { "" } else { "\n" };
            wanted = format!("{current}{end}{wanted}");
        }
        let wanted = serde_json::to_value(ByteString(wanted.into_bytes())).ok()?;
        (wanted != *existing).then_some(wanted)
    }
}

/// Returns whether a text is a list of PEM certificates, at least one. The API server refuses any other `caBundle`.
fn is_bundle(text: &str) -> bool {
    let mut certificates = CertificateDer::pem_slice_iter(text.as_bytes()).peekable();
    certificates.peek().is_some() && certificates.all(|certificate| certificate.is_ok())
}

/// The webhooks in a configuration that belong to the operator.
#[derive(Clone, Debug)]
enum OwnWebhooks {
    /// The admission webhooks with these names.
    Admission(BTreeSet<String>),
    /// The conversion webhook, if it is the one of this Service.
    Conversion { namespace: String, service: String },
}

impl Configuration {
    /// Creates a reference to the validating or mutating webhook configuration `name`, in which the webhooks with the names `webhooks`
    /// belong to the operator.
    pub(super) fn new(mode: Mode, name: &str, webhooks: BTreeSet<String>) -> Self {
        let kind = match mode {
            Mode::Validate => kind_of::<ValidatingWebhookConfiguration>(),
            Mode::Default => kind_of::<MutatingWebhookConfiguration>(),
        };
        Self { kind, name: name.to_owned(), own: OwnWebhooks::Admission(webhooks) }
    }

    /// Creates a reference to the CustomResourceDefinition `name`, in which the conversion webhook belongs to the operator if it calls the
    /// Service `namespace`/`service`.
    pub(super) fn of_definition(name: &str, namespace: &str, service: &str) -> Self {
        let own = OwnWebhooks::Conversion { namespace: namespace.to_owned(), service: service.to_owned() };
        Self { kind: kind_of::<CustomResourceDefinition>(), name: name.to_owned(), own }
    }

    /// Writes the certificate authorities in `bundle` to the `caBundle` of each of the operator's webhooks in this configuration, where
    /// they differ. Changes no other field. Returns whether all webhooks of the operator have the authorities now. If the configuration
    /// does not exist yet, or lacks a webhook, logs a warning and returns false.
    ///
    /// # Errors
    /// Fails if a call fails, also if another client changed the configuration meanwhile.
    pub(super) async fn trust(&self, client: &Client, bundle: &Bundle, operator: &str) -> Result<bool, CallError> {
        let target = Target { kind: &self.kind, namespace: None, name: &self.name };
        let Some(object) = client.get::<Value>(target).await? else {
            tracing::warn!("{} {} not found; apply the manifests of the operator", self.kind, self.name);
            return Ok(false);
        };
        let missing = self.missing(&object);
        if let Some(missing) = &missing {
            tracing::warn!("{} {} has no {missing}; apply the manifests of the operator", self.kind, self.name);
        }
        let Some(operations) = self.operations(&object, bundle) else { return Ok(missing.is_none()) };
        let patch: json_patch::Patch = serde_json::from_value(operations)
            .map_err(|error| target.call_error(crate::shape::Verb::Patch, "", kube::Error::SerdeError(error)))?;
        client.patch(target, &Patch::Json::<()>(patch), operator).await?;
        tracing::info!("set the certificate authorities in {} {}", self.kind, self.name);
        Ok(missing.is_none())
    }

    /// Returns a description, for the log, of the first webhook of the operator that the configuration `object` lacks; `None` if it has
    /// all.
    fn missing(&self, object: &Value) -> Option<String> {
        match &self.own {
            OwnWebhooks::Admission(names) => {
                let webhooks = object["webhooks"].as_array().into_iter().flatten();
                let present: BTreeSet<_> = webhooks.filter_map(|webhook| webhook["name"].as_str()).collect();
                let missing = names.iter().find(|name| !present.contains(name.as_str()));
                missing.map(|name| format!("webhook {name}"))
            }
            OwnWebhooks::Conversion { namespace, service } => self
                .client_configs(object)
                .is_empty()
                .then(|| format!("conversion webhook of the Service {namespace}/{service}")),
        }
    }

    /// Returns the `clientConfig` of each of the operator's webhooks in the configuration `object`, with its JSON pointer.
    fn client_configs<'a>(&self, object: &'a Value) -> Vec<(String, &'a Value)> {
        match &self.own {
            OwnWebhooks::Admission(names) => {
                let webhooks = object["webhooks"].as_array().into_iter().flatten().enumerate();
                let own =
                    webhooks.filter(|(_, webhook)| webhook["name"].as_str().is_some_and(|name| names.contains(name)));
                own.map(|(position, webhook)| (format!("/webhooks/{position}/clientConfig"), &webhook["clientConfig"]))
                    .collect()
            }
            OwnWebhooks::Conversion { namespace, service } => {
                let conversion = &object["spec"]["conversion"];
                let config = &conversion["webhook"]["clientConfig"];
                let is_own = conversion["strategy"] == "Webhook"
                    && config["service"]["namespace"] == namespace.as_str()
                    && config["service"]["name"] == service.as_str();
                is_own.then(|| ("/spec/conversion/webhook/clientConfig".to_owned(), config)).into_iter().collect()
            }
        }
    }

    /// Returns the operations of a JSON patch that sets the `caBundle` of the operator's webhooks; `None` if all have the right value
    /// already. The patch addresses webhooks by their positions. It contains the resourceVersion of `object`, so that the API server
    /// refuses it if another client has changed the configuration, and thus maybe the positions, since `object` was read.
    fn operations(&self, object: &Value, bundle: &Bundle) -> Option<Value> {
        let configs = self.client_configs(object).into_iter();
        let changed = configs.filter_map(|(pointer, config)| Some((pointer, bundle.for_webhook(&config["caBundle"])?)));
        let set = |(pointer, value)| json!({"op": "add", "path": format!("{pointer}/caBundle"), "value": value});
        let mut operations: Vec<_> = changed.map(set).collect();
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

    fn bundle(text: &str) -> Bundle {
        Bundle { authorities: text.to_owned(), keeps_existing: false }
    }

    #[test]
    fn only_own_webhooks_get_the_bundle_and_only_where_it_differs() {
        let own = BTreeSet::from(["a.example.com".to_owned(), "b.example.com".to_owned()]);
        let configuration = Configuration::new(Mode::Validate, "demo", own);
        let webhook = |name: &str, bundle: &str| json!({"name": name, "clientConfig": {"caBundle": bundle}});
        let object = |webhooks: Value| json!({"metadata": {"resourceVersion": "7"}, "webhooks": webhooks});
        let mixed =
            object(json!([webhook("x.example.com", ""), webhook("a.example.com", "eA=="), {"name": "b.example.com"}]));
        let operations = configuration.operations(&mixed, &bundle("x")).unwrap_or_default();
        assert_eq!(
            operations,
            json!([
                {"op": "add", "path": "/webhooks/2/clientConfig/caBundle", "value": "eA=="},
                {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
            ])
        );
        assert_eq!(configuration.operations(&object(json!([webhook("a.example.com", "eA==")])), &bundle("x")), None);
    }

    #[test]
    fn only_the_conversion_webhook_of_the_own_service_gets_the_bundle() {
        let definition = Configuration::of_definition("shops.example.com", "demo", "demo-webhook");
        let object = |service: &str| {
            let webhook = json!({"clientConfig": {"service": {"namespace": "demo", "name": service}}});
            json!({"metadata": {"resourceVersion": "7"}, "spec": {"conversion": {"strategy": "Webhook", "webhook": webhook}}})
        };
        let operations = definition.operations(&object("demo-webhook"), &bundle("x")).unwrap_or_default();
        assert_eq!(operations[0]["path"], "/spec/conversion/webhook/clientConfig/caBundle");
        assert_eq!(definition.operations(&object("other"), &bundle("x")), None);
        let missing = "conversion webhook of the Service demo/demo-webhook".to_owned();
        assert_eq!(definition.missing(&object("other")), Some(missing.clone()));
        assert_eq!(definition.missing(&json!({"spec": {}})), Some(missing));
    }
}

//! Defines the options of the webhook server: address, certificate, Service and webhook configuration.

use super::{address::BindAddress, merge::overriding};
use crate::webhook::WebhookServer;
use clap::Args;
use schemars::JsonSchema;
use serde::Deserialize;
use std::net::{Ipv6Addr, SocketAddr};

/// The address of the webhooks of an operator that has some, if no option sets one.
const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V6(Ipv6Addr::UNSPECIFIED), 9443);

/// The server of the admission webhooks. An operator without webhooks has none.
#[derive(Args, Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, expecting = "a mapping")]
#[group(skip)]
pub(super) struct WebhookOptions {
    /// Address of the webhooks; `0` disables them [default: :9443 if the operator has webhooks]
    #[arg(long, env = "WEBHOOK_ADDRESS", value_name = "ADDRESS")]
    #[serde(rename = "address", deserialize_with = "BindAddress::optional")]
    #[schemars(with = "Option<String>", extend("type" = ["string", "integer", "null"]))]
    webhook_address: Option<BindAddress>,
    /// Folder of the certificate of the webhooks [default: none, the operator makes the certificate]
    #[arg(long, env = "WEBHOOK_CERT_PATH", value_name = "FOLDER")]
    #[serde(rename = "certPath")]
    webhook_cert_path: Option<String>,
    /// File of the certificate chain in that folder [default: tls.crt]
    #[arg(long, env = "WEBHOOK_CERT_NAME", value_name = "FILE")]
    #[serde(rename = "certName")]
    webhook_cert_name: Option<String>,
    /// File of the private key in that folder [default: tls.key]
    #[arg(long, env = "WEBHOOK_CERT_KEY", value_name = "FILE")]
    #[serde(rename = "certKey")]
    webhook_cert_key: Option<String>,
    /// Name of the Service of the webhooks [default: OPERATOR-webhook]
    #[arg(long, env = "WEBHOOK_SERVICE", value_name = "NAME")]
    #[serde(rename = "service")]
    webhook_service: Option<String>,
    /// Name of the webhook configurations [default: the operator's name, after NAMESPACE- if it is namespaced]
    #[arg(long, env = "WEBHOOK_CONFIGURATION", value_name = "NAME")]
    #[serde(rename = "configuration")]
    webhook_configuration: Option<String>,
}

overriding!(WebhookOptions {
    webhook_address,
    webhook_cert_path,
    webhook_cert_name,
    webhook_cert_key,
    webhook_service,
    webhook_configuration,
});

impl WebhookOptions {
    /// Returns the webhook server of the operator's code, `own`, with these options applied; `None` for no server. An operator that has
    /// webhooks, but no server in its code, gets one at the default address.
    pub(super) fn override_server(&self, own: Option<WebhookServer>, has_webhooks: bool) -> Option<WebhookServer> {
        let mut server = match self.webhook_address {
            None => own.or_else(|| has_webhooks.then(|| WebhookServer::new(DEFAULT_ADDRESS)))?,
            Some(BindAddress(None)) => return None,
            Some(BindAddress(Some(address))) => match own {
                Some(server) => server.at(address),
                None => WebhookServer::new(address),
            },
        };
        if let Some(folder) = self.webhook_cert_path.as_deref().filter(|folder| !folder.is_empty()) {
            let chain = self.webhook_cert_name.as_deref().unwrap_or("tls.crt");
            server = server.certificate(folder, chain, self.webhook_cert_key.as_deref().unwrap_or("tls.key"));
        }
        if let Some(name) = &self.webhook_service {
            server = server.service(name);
        }
        if let Some(name) = &self.webhook_configuration {
            server = server.configuration(name);
        }
        Some(server)
    }
}

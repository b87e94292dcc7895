//! Parses the `clientConfig` of a webhook: the URL or the Service, and the trusted certificate authorities.

use std::time::Duration;

use serde_json::Value;

use crate::object::{number, text};

/// The endpoint that a `clientConfig` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WebhookClientConfig {
    /// The URL as error messages contain it.
    pub(super) display_url: String,
    /// The URL of the request. For a Service it has no port, because the port is part of the address of its Pods.
    pub(super) url: String,
    /// Namespace and name of the Service; `None` for a URL.
    pub(super) service: Option<(String, String)>,
    /// The authorities that may sign its certificate, as PEM.
    pub(super) authorities: Vec<u8>,
}

impl WebhookClientConfig {
    /// Parses a `clientConfig`; the URL of a Service is `https://NAME.NAMESPACE.svc`. Adds the timeout of the call as a query parameter, as
    /// kube-apiserver does.
    pub(super) fn parse(config: &Value, timeout: Duration) -> Self {
        use base64::{Engine as _, engine::general_purpose::STANDARD};
        let authorities = STANDARD.decode(text(config, &["caBundle"])).unwrap_or_default();
        let query = format!("timeout={}s", timeout.as_secs());
        let service = &config["service"];
        if !service.is_object() {
            let url = text(config, &["url"]);
            let separator = if url.contains('?') { '&' } else { '?' };
            let display_url = format!("{url}{separator}{query}");
            return Self { url: display_url.clone(), display_url, service: None, authorities };
        }
        let (namespace, name) = (text(service, &["namespace"]), text(service, &["name"]));
        let port = number(service, &["port"]).unwrap_or(443);
        let path = text(service, &["path"]);
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let host = format!("{name}.{namespace}.svc");
        // The URL of the request has no port: the connection goes to a Pod of the Service, whose address has one.
        Self {
            display_url: format!("https://{host}:{port}{path}?{query}"),
            url: format!("https://{host}{path}?{query}"),
            service: Some((namespace.to_owned(), name.to_owned())),
            authorities,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_service_is_called_by_its_name() {
        let config = json!({"service": {"namespace": "a", "name": "b", "path": "p", "port": 8443}});
        let target = WebhookClientConfig::parse(&config, Duration::from_secs(10));
        assert_eq!(target.display_url, "https://b.a.svc:8443/p?timeout=10s");
        assert_eq!(target.url, "https://b.a.svc/p?timeout=10s");
        let target = WebhookClientConfig::parse(&json!({"url": "https://x/y"}), Duration::from_secs(2));
        assert_eq!(target.display_url, "https://x/y?timeout=2s");
    }
}

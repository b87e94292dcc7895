//! Parses the `clientConfig` of a webhook: its URL or Service, and the certificate authorities that it trusts.

use std::time::Duration;

use serde_json::Value;

use crate::object::{number, text};

/// The endpoint that a `clientConfig` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WebhookClientConfig {
    /// The URL as error messages contain it.
    pub(super) shown: String,
    /// The URL of the request. For a Service it has no port, because the port is part of the address of its Pods.
    pub(super) url: String,
    /// Namespace, name and port of the Service.
    pub(super) service: Option<(String, String, i64)>,
    /// The authorities that may sign its certificate, as PEM.
    pub(super) authorities: Vec<u8>,
}

impl WebhookClientConfig {
    pub(super) fn of(config: &Value, patience: Duration) -> Self {
        use base64::{Engine as _, engine::general_purpose::STANDARD};
        let authorities = STANDARD.decode(text(config, &["caBundle"])).unwrap_or_default();
        let query = format!("timeout={}s", patience.as_secs());
        let service = &config["service"];
        if !service.is_object() {
            let url = text(config, &["url"]);
            let mark = if url.contains('?') { '&' } else { '?' };
            let shown = format!("{url}{mark}{query}");
            return Self { url: shown.clone(), shown, service: None, authorities };
        }
        let (namespace, name) = (text(service, &["namespace"]), text(service, &["name"]));
        let port = number(service, &["port"]).unwrap_or(443);
        let path = text(service, &["path"]);
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let host = format!("{name}.{namespace}.svc");
        Self {
            shown: format!("https://{host}:{port}{path}?{query}"),
            url: format!("https://{host}{path}?{query}"),
            service: Some((namespace.to_owned(), name.to_owned(), port)),
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
        let target = WebhookClientConfig::of(&config, Duration::from_secs(10));
        assert_eq!(target.shown, "https://b.a.svc:8443/p?timeout=10s");
        assert_eq!(target.url, "https://b.a.svc/p?timeout=10s");
        let target = WebhookClientConfig::of(&json!({"url": "https://x/y"}), Duration::from_secs(2));
        assert_eq!(target.shown, "https://x/y?timeout=2s");
    }
}

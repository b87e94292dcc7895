//! Finds the mutating webhooks with the failure policy `Ignore`: when a call to one fails, an object may legitimately have other contents.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::object::text;

/// The port of a webhook whose `clientConfig.service` has no port.
const DEFAULT_PORT: u64 = 443;

/// Returns the URLs, without queries, of the installed mutating webhooks with the failure policy `Ignore`.
pub(super) fn optional_webhooks(installed: &[Value]) -> BTreeSet<String> {
    let configurations = installed.iter().filter(|object| object["kind"] == "MutatingWebhookConfiguration");
    let webhooks = configurations.flat_map(|object| object["webhooks"].as_array().into_iter().flatten());
    webhooks
        .filter(|webhook| webhook["failurePolicy"] == "Ignore")
        .map(|webhook| url(&webhook["clientConfig"]))
        .collect()
}

/// Returns the URL, without its query, of the `clientConfig` of a webhook, which has a URL or names a Service.
fn url(config: &Value) -> String {
    let service = &config["service"];
    if !service.is_object() {
        return without_query(text(config, "/url")).to_owned();
    }
    let [name, namespace, path] = ["/name", "/namespace", "/path"].map(|at| text(service, at));
    let port = service["port"].as_u64().unwrap_or(DEFAULT_PORT);
    format!("https://{name}.{namespace}.svc:{port}/{}", path.trim_start_matches('/'))
}

/// Returns a URL without its query.
pub(super) fn without_query(url: &str) -> &str {
    url.split('?').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_mutating_webhooks_with_ignored_failures_are_optional() {
        let service = |path: &str| json!({"service": {"name": "a", "namespace": "b", "path": path}});
        let webhook = |policy: &str, client: Value| json!({"failurePolicy": policy, "clientConfig": client});
        let configuration = |kind: &str, webhooks: Value| json!({"kind": kind, "webhooks": webhooks});
        let ignored =
            json!([webhook("Ignore", service("/c")), webhook("Ignore", json!({"url": "https://d.io/e?f=g"}))]);
        let installed = [
            configuration("MutatingWebhookConfiguration", ignored.clone()),
            configuration("MutatingWebhookConfiguration", json!([webhook("Fail", service("/h"))])),
            configuration("ValidatingWebhookConfiguration", json!([webhook("Ignore", service("/i"))])),
        ];
        assert_eq!(Vec::from_iter(optional_webhooks(&installed)), ["https://a.b.svc:443/c", "https://d.io/e"]);
    }
}

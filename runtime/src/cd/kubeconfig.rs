//! Writes kubeconfigs with the credentials for a cluster.

use crate::{shape::ClusterCredentials, text_hash::text_hash};
use serde_json::{Map, Value, json};

/// Returns the Secret with the kubeconfig of a cluster. Its name has a hash of the server, so each cluster has a Secret of its own.
pub(super) fn kubeconfig_secret(prefix: &str, namespace: &str, key: &str, credentials: &ClusterCredentials) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": format!("{prefix}-{}", text_hash([&*credentials.server], 8)), "namespace": namespace},
        "stringData": {key: kubeconfig(credentials).to_string()},
    })
}

/// Returns a kubeconfig with these credentials, without those that are not set.
pub(super) fn kubeconfig(credentials: &ClusterCredentials) -> Value {
    let mut cluster = Map::from_iter([("server".to_owned(), credentials.server.as_str().into())]);
    if credentials.insecure_skip_tls_verify {
        cluster.insert("insecure-skip-tls-verify".to_owned(), true.into());
    }
    let user = fields([
        ("token", &credentials.token),
        ("username", &credentials.username),
        ("password", &credentials.password),
        ("client-certificate-data", &credentials.client_certificate_data),
        ("client-key-data", &credentials.client_key_data),
    ]);
    cluster.extend(fields([
        ("tls-server-name", &credentials.tls_server_name),
        ("certificate-authority-data", &credentials.certificate_authority_data),
    ]));
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "cluster", "cluster": cluster}],
        "users": [{"name": "user", "user": user}],
        "contexts": [{"name": "context", "context": {"cluster": "cluster", "user": "user"}}],
        "current-context": "context",
    })
}

/// Returns the fields that have a value as a JSON map.
fn fields<'a>(fields: impl IntoIterator<Item = (&'a str, &'a Option<String>)>) -> Map<String, Value> {
    let set = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.as_deref()?.into())));
    set.collect()
}

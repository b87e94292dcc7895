//! Builds the Secrets that register clusters with Argo CD: the URL of the API server and the credentials.

use super::settings::ArgoCdSettings;
use crate::{
    kind::kind_of,
    shape::{Access, ClusterCredentials, Registration, SourceLocation, Verb},
    text_hash::text_hash,
};
use k8s_openapi::api::core::v1::Secret;
use serde_json::{Map, Value, json};

/// The label by which Argo CD finds the Secrets of clusters.
///
/// Source: the documentation of Argo CD, "Declarative Setup", "Clusters".
const SECRET_TYPE: &str = "argocd.argoproj.io/secret-type";

/// The verbs on the Secrets in the namespace of Argo CD.
const VERBS: &[Verb] = &[Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Patch, Verb::Delete];

/// Provides the permissions of an installation.
struct Permissions<S>(std::marker::PhantomData<fn() -> S>);

impl<S: ArgoCdSettings> Permissions<S> {
    const ACCESS: &'static [Access] =
        &[Access::to(kind_of::<Secret>, VERBS, SourceLocation::UNKNOWN).within(S::NAMESPACE)];
}

/// Returns how clusters are registered with an installation of Argo CD.
pub(super) const fn registration<S: ArgoCdSettings>() -> Registration {
    Registration { access: Permissions::<S>::ACCESS, secret: secret::<S>, kubeconfig_key: None }
}

/// Returns the Secret of a cluster. Argo CD identifies a cluster by the URL of its server, and so does the name.
fn secret<S: ArgoCdSettings>(credentials: &ClusterCredentials, _: Option<&str>) -> Value {
    let name = format!("opgen-cluster-{}", text_hash([&*credentials.server], 8));
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": S::NAMESPACE, "labels": {SECRET_TYPE: "cluster"}},
        "stringData": {"name": name, "server": credentials.server, "config": config(credentials).to_string()},
    })
}

/// Returns the key `config` of the Secret of a cluster: the TLS settings and the credentials of the connection, without those that are not
/// set.
fn config(credentials: &ClusterCredentials) -> Value {
    let mut tls = Map::new();
    tls.insert("insecure".to_owned(), credentials.insecure_skip_tls_verify.into());
    // Argo CD refuses an authority for a server that it does not check.
    let authority = credentials.certificate_authority_data.clone().filter(|_| !credentials.insecure_skip_tls_verify);
    for (field, value) in [
        ("serverName", &credentials.tls_server_name),
        ("caData", &authority),
        ("certData", &credentials.client_certificate_data),
        ("keyData", &credentials.client_key_data),
    ] {
        if let Some(value) = value {
            tls.insert(field.to_owned(), value.as_str().into());
        }
    }
    let mut config = Map::from_iter([("tlsClientConfig".to_owned(), Value::Object(tls))]);
    for (field, value) in
        [("bearerToken", &credentials.token), ("username", &credentials.username), ("password", &credentials.password)]
    {
        if let Some(value) = value {
            config.insert(field.to_owned(), value.as_str().into());
        }
    }
    Value::Object(config)
}

#[cfg(test)]
mod tests {
    use super::{super::settings::DefaultArgoCd, *};

    #[test]
    fn argocd_g11_a_cluster_is_registered_by_its_credentials() {
        let credentials = ClusterCredentials {
            server: "https://blue.example.com:6443".to_owned(),
            certificate_authority_data: Some("Y2E=".to_owned()),
            token: Some("t".to_owned()),
            ..ClusterCredentials::default()
        };
        let secret = secret::<DefaultArgoCd>(&credentials, None);
        let config: Value =
            serde_json::from_str(secret["stringData"]["config"].as_str().unwrap_or_default()).unwrap_or_default();
        assert_eq!(config, json!({"bearerToken": "t", "tlsClientConfig": {"insecure": false, "caData": "Y2E="}}));
        assert_eq!(secret["metadata"]["namespace"], "argocd");
        assert_eq!(secret["stringData"]["server"], "https://blue.example.com:6443");
    }

    #[test]
    fn argocd_g14_the_same_server_is_one_registration_and_another_server_is_another_one() {
        let secret_name = |server: &str, token: &str| {
            let (server, token) = (server.to_owned(), Some(token.to_owned()));
            let secret =
                secret::<DefaultArgoCd>(&ClusterCredentials { server, token, ..ClusterCredentials::default() }, None);
            secret["metadata"]["name"].clone()
        };
        assert_eq!(secret_name("https://a", "one"), secret_name("https://a", "two"));
        assert_ne!(secret_name("https://a", "one"), secret_name("https://b", "one"));
    }
}

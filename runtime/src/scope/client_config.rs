//! Reads the client configuration of another cluster from a Secret, without files and programs of this container.

use super::kubeconfig::{KubeconfigSecret, is_https};
use crate::error::Error;
use k8s_openapi::api::core::v1::Secret;
use kube::config::{AuthInfo, KubeConfigOptions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The configuration of a client for another cluster.
pub(super) struct ClientConfig {
    pub(super) config: kube::Config,
    /// Hash of what identifies the cluster: the URL and the authority of its API server.
    pub(super) identity: u64,
    /// Hash of the whole kubeconfig.
    pub(super) version: u64,
}

/// Why a kubeconfig can't be used. The text has nothing of its content.
#[derive(Debug, thiserror::Error)]
#[error("the kubeconfig in key {key} of {secret} {problem}")]
pub(super) struct UnusableKubeconfig {
    key: String,
    secret: String,
    problem: &'static str,
}

impl UnusableKubeconfig {
    /// Returns a yield: whoever writes the Secret may write another one.
    pub(super) fn into_yield(self) -> Error {
        Error::yielding("InvalidKubeconfig", self.to_string())
    }
}

/// Reads the configuration from a Secret.
///
/// # Errors
/// Fails if the kubeconfig can't be used, without any text of it.
pub(super) async fn read(secret: &KubeconfigSecret, found: &Secret) -> Result<ClientConfig, UnusableKubeconfig> {
    let unusable = |problem| UnusableKubeconfig { key: secret.key.clone(), secret: secret.to_string(), problem };
    let bytes = found.data.as_ref().and_then(|data| data.get(&secret.key)).ok_or_else(|| unusable("is missing"))?;
    let text = std::str::from_utf8(&bytes.0).map_err(|_| unusable("is not text"))?;
    let mut kubeconfig = kube::config::Kubeconfig::from_yaml(text).map_err(|_| unusable("is not a kubeconfig"))?;
    for named in &kubeconfig.auth_infos {
        if let Some(problem) = named.auth_info.as_ref().and_then(problem_of_user) {
            return Err(unusable(problem));
        }
    }
    for named in &mut kubeconfig.clusters {
        let Some(cluster) = &mut named.cluster else { continue };
        if cluster.certificate_authority.is_some() {
            return Err(unusable("names the file of a certificate authority"));
        }
        if cluster.proxy_url.is_some() {
            return Err(unusable("names a proxy"));
        }
        if let Some(server) = &secret.server {
            cluster.server = Some(server.clone());
        }
        if !cluster.server.as_deref().is_some_and(is_https) {
            return Err(unusable("names a server without https"));
        }
    }
    let version = {
        let mut hasher = DefaultHasher::new();
        (&bytes.0, &secret.server).hash(&mut hasher);
        hasher.finish()
    };
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let mut config = config.map_err(|_| unusable("has no complete current context"))?;
    // Not that of the environment either: the deadline of the lead is checked at the socket.
    config.proxy_url = None;
    let identity = {
        let mut hasher = DefaultHasher::new();
        (config.cluster_url.to_string(), &config.root_cert, &config.tls_server_name).hash(&mut hasher);
        hasher.finish()
    };
    Ok(ClientConfig { config, identity, version })
}

/// Returns the yield of a kubeconfig of which no client can be made.
pub(super) fn no_client(secret: &KubeconfigSecret) -> Error {
    let problem = "has a certificate, a key or a URL that can't be used";
    UnusableKubeconfig { key: secret.key.clone(), secret: secret.to_string(), problem }.into_yield()
}

/// Returns why the credentials of a user can't be used: they would be files or programs of the operator's container, and who writes the
/// Secret would get at them.
fn problem_of_user(user: &AuthInfo) -> Option<&'static str> {
    if user.exec.is_some() {
        Some("runs a program for its credentials")
    } else if user.auth_provider.is_some() {
        Some("has an auth provider")
    } else if user.token_file.is_some() || user.client_certificate.is_some() || user.client_key.is_some() {
        Some("names files of credentials")
    } else {
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::scope::Kubeconfig;
    use k8s_openapi::ByteString;
    use serde_json::{Value, json};

    fn secret(user: Value, cluster: Value) -> Secret {
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "a",
            "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": "u", "user": user}],
        });
        Secret {
            data: Some([("value".to_owned(), ByteString(kubeconfig.to_string().into_bytes()))].into()),
            ..Secret::default()
        }
    }

    async fn read_secret(secret: &Secret) -> Result<ClientConfig, String> {
        let source = Kubeconfig::secret("blue").record(Some("teams")).unwrap().secret;
        read(&source, secret).await.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn a_kubeconfig_can_neither_read_files_nor_run_programs_of_the_operator() {
        let server = || json!({"server": "https://127.0.0.1:1"});
        let kubeconfig = "the kubeconfig in key value of Secret teams/blue";
        for (user, cluster, problem) in [
            (json!({"tokenFile": "/var/run/secrets/token"}), server(), "names files of credentials"),
            (json!({"client-key": "/key", "client-certificate": "/cert"}), server(), "names files of credentials"),
            (json!({"exec": {"command": "sh"}}), server(), "runs a program for its credentials"),
            (json!({"auth-provider": {"name": "gcp", "config": {}}}), server(), "has an auth provider"),
            (
                json!({"token": "t"}),
                json!({"server": "https://a", "certificate-authority": "/etc/passwd"}),
                "names the file of a certificate authority",
            ),
            (json!({"token": "t"}), json!({"server": "https://a", "proxy-url": "http://b"}), "names a proxy"),
            (json!({"token": "t"}), json!({"server": "http://a"}), "names a server without https"),
        ] {
            let result = read_secret(&secret(user, cluster)).await.map(drop);
            assert_eq!(result, Err(format!("{kubeconfig} {problem}")));
        }
    }

    #[tokio::test]
    async fn an_error_has_no_text_of_the_kubeconfig() {
        for text in ["token: hunter2: [", "hunter2", "{\"clusters\": \"hunter2\"}"] {
            let secret = Secret {
                data: Some([("value".to_owned(), ByteString(text.as_bytes().to_vec()))].into()),
                ..Secret::default()
            };
            let error = read_secret(&secret).await.map(drop).unwrap_err();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[tokio::test]
    async fn other_credentials_are_the_same_cluster_and_another_server_is_another_one() {
        let of = async |token: &str, server: &str| {
            let config = read_secret(&secret(json!({"token": token}), json!({"server": server}))).await.unwrap();
            (config.identity, config.version)
        };
        let first = of("one", "https://a").await;
        assert_eq!(of("one", "https://a").await, first);
        let rotated = of("two", "https://a").await;
        assert!(rotated.0 == first.0 && rotated.1 != first.1);
        let other = of("one", "https://b").await;
        assert!(other.0 != first.0);
    }
}

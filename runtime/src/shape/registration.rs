//! `Registration`: the Secret in the operator's cluster by which a continuous delivery (CD) system gets access to another cluster.
//! `ClusterCredentials`: the credentials for that cluster.

use crate::shape::permission::Access;
use serde_json::Value;
use std::fmt;

/// How a CD system gets access to the cluster of a remote node: by a Secret in the operator's cluster.
///
/// # Example
///
/// ```
/// use opgen::{Kind, cd::{ClusterCredentials, Registration}, shape::{Access, SourceLocation, Verb}};
/// use serde_json::{Value, json};
///
/// const VERBS: &[Verb] = &[Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Patch, Verb::Delete];
/// const SECRETS: &[Access] = &[Access::to(secrets, VERBS, SourceLocation::UNKNOWN).within("deployer")];
///
/// fn secrets() -> Kind {
///     let (kind, plural) = ("Secret".into(), "secrets".into());
///     Kind { group: "".into(), version: "v1".into(), kind, plural, namespaced: true }
/// }
///
/// fn secret(cluster: &ClusterCredentials, _: Option<&str>) -> Value {
///     // Each server has another name: all characters but letters and digits are numbers between hyphens.
///     let server = cluster.server.bytes().map(|byte| match byte {
///         b'a'..=b'z' | b'0'..=b'9' => char::from(byte).to_string(),
///         other => format!("-{other}-"),
///     });
///     // As JSON, since a cluster has some of the credentials only.
///     let credentials = json!({
///         "server": cluster.server,
///         "serverName": cluster.tls_server_name,
///         "insecure": cluster.insecure_skip_tls_verify,
///         "authority": cluster.certificate_authority_data,
///         "certificate": cluster.client_certificate_data,
///         "key": cluster.client_key_data,
///         "token": cluster.token,
///         "user": cluster.username,
///         "password": cluster.password,
///     });
///     json!({
///         "apiVersion": "v1",
///         "kind": "Secret",
///         "metadata": {"name": format!("cluster-{}-end", server.collect::<String>()), "namespace": "deployer"},
///         "stringData": {"credentials": credentials.to_string()},
///     })
/// }
///
/// // The value of `Driver::REGISTRATION`.
/// const REGISTRATION: Option<Registration> =
///     Some(Registration { access: SECRETS, secret, kubeconfig_key: None });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Registration {
    /// The permissions for the Secret: `get`, `list`, `watch`, `create`, `patch` and `delete`.
    pub access: &'static [Access],
    /// Returns the Secret for a cluster, with its name and namespace. The second argument is the namespace of the owner of the remote
    /// node, if it has one. The same arguments give the same Secret, and clusters with different servers have Secrets with different
    /// names. The namespace does not depend on the credentials: the operator finds it with empty ones. The objects that deploy
    /// applications into the cluster are in the namespace of the Secret.
    pub secret: fn(&ClusterCredentials, Option<&str>) -> Value,
    /// The key of the kubeconfig in the Secret, by which applications name the cluster. `None` if they name it by the name of the
    /// Secret.
    pub kubeconfig_key: Option<&'static str>,
}

/// The credentials for the cluster of a remote node, from the kubeconfig of the node. Certificates and keys are base64 of PEM, as in a
/// kubeconfig.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClusterCredentials {
    /// The URL of the API server.
    pub server: String,
    /// The name in the certificate of the server, if it is not the host of the URL.
    pub tls_server_name: Option<String>,
    /// Whether the certificate of the server is not checked.
    pub insecure_skip_tls_verify: bool,
    /// The authority that signed the certificate of the server.
    pub certificate_authority_data: Option<String>,
    /// The certificate of the client.
    pub client_certificate_data: Option<String>,
    /// The key of that certificate.
    pub client_key_data: Option<String>,
    /// The bearer token.
    pub token: Option<String>,
    /// The name of the user, for basic authentication.
    pub username: Option<String>,
    /// The password of that user.
    pub password: Option<String>,
}

impl fmt::Debug for ClusterCredentials {
    /// Writes only the name of the type, because the fields are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterCredentials").finish_non_exhaustive()
    }
}

//! Builds the Secrets with the kubeconfigs of the clusters that Flux deploys applications to.

use crate::{
    cd::kubeconfig::kubeconfig_secret,
    kind::kind_of,
    shape::{Access, ClusterCredentials, Registration, SourceLocation, Verb},
};
use k8s_openapi::api::core::v1::Secret;
use serde_json::Value;

/// The namespace of the objects for an owner without one.
pub(super) const NAMESPACE: &str = "flux-system";
/// The key of the kubeconfig, where Flux looks for it by default.
const KEY: &str = "value";

/// The verbs on the Secrets in the namespaces of the objects of Flux.
const VERBS: &[Verb] = &[Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Patch, Verb::Delete];
/// The permissions for them.
const ACCESS: &[Access] = &[Access::to(kind_of::<Secret>, VERBS, SourceLocation::UNKNOWN)];

/// How Flux gets the kubeconfig of a cluster for releases.
pub(super) const RELEASES: Registration =
    registration(|credentials, owner_namespace| secret("opgen-helm", credentials, owner_namespace));

/// How Flux gets the kubeconfig of a cluster for kustomizations. Each kind of users has a Secret of its own.
pub(super) const KUSTOMIZATIONS: Registration =
    registration(|credentials, owner_namespace| secret("opgen-kustomize", credentials, owner_namespace));

const fn registration(secret: fn(&ClusterCredentials, Option<&str>) -> Value) -> Registration {
    Registration { access: ACCESS, secret, kubeconfig_key: Some(KEY) }
}

/// Returns the Secret with the kubeconfig of a cluster.
fn secret(prefix: &str, credentials: &ClusterCredentials, owner_namespace: Option<&str>) -> Value {
    kubeconfig_secret(prefix, owner_namespace.unwrap_or(NAMESPACE), KEY, credentials)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn flux_gets_a_kubeconfig_with_the_credentials() {
        let credentials = ClusterCredentials {
            server: "https://blue.example.com:6443".to_owned(),
            certificate_authority_data: Some("Y2E=".to_owned()),
            client_certificate_data: Some("Y2VydA==".to_owned()),
            client_key_data: Some("a2V5".to_owned()),
            ..ClusterCredentials::default()
        };
        let secret = secret("opgen-helm", &credentials, Some("shop"));
        let text = secret["stringData"][KEY].as_str().unwrap();
        let kubeconfig = kube::config::Kubeconfig::from_yaml(text).unwrap();
        let cluster = kubeconfig.clusters[0].cluster.as_ref().unwrap();
        assert_eq!(cluster.certificate_authority_data.as_deref(), Some("Y2E="));
        let user = kubeconfig.auth_infos[0].auth_info.as_ref().unwrap();
        assert_eq!(user.client_certificate_data.as_deref(), Some("Y2VydA=="));
        assert!(user.token.is_none());
        assert_eq!(secret["metadata"]["namespace"], "shop");
    }
}

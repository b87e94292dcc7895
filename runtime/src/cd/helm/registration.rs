//! Registers clusters for the `Helm` driver: builds the Secrets with their kubeconfigs.

use crate::{
    cd::kubeconfig::kubeconfig_secret,
    kind::kind_of,
    shape::{Access, ClusterCredentials, Registration, SourceLocation, Verb},
};
use k8s_openapi::api::core::v1::Secret;
use serde_json::Value;

/// The namespace of the objects for an owner without one.
pub(super) const NAMESPACE: &str = "default";
/// The key of the kubeconfig.
const KEY: &str = "value";
/// The beginning of the names of the Secrets.
const PREFIX: &str = "opgen-helm-deployment";

/// The verbs on the Secrets in the namespaces of the objects.
const VERBS: &[Verb] = &[Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Patch, Verb::Delete];

/// The permissions for them.
const ACCESS: &[Access] = &[Access::to(kind_of::<Secret>, VERBS, SourceLocation::UNKNOWN)];

/// How Helm gets the kubeconfig of a cluster.
pub(super) const REGISTRATION: Registration = Registration { access: ACCESS, secret, kubeconfig_key: Some(KEY) };

/// Returns the Secret with the kubeconfig of a cluster.
fn secret(credentials: &ClusterCredentials, owner_namespace: Option<&str>) -> Value {
    kubeconfig_secret(PREFIX, owner_namespace.unwrap_or(NAMESPACE), KEY, credentials)
}

//! Finds the controlled kind and the object that a command line names.

use crate::{
    client::{CallError, Client, Target},
    command::connect::{ConnectError, ConnectedClient, ObjectConnection, bucket_hint},
    kind::Kind,
    manager::{operator::Operator, run_error::RunError},
    manifest::{KindDescription, Project, ProjectError},
};
use serde_json::Value;
use std::collections::BTreeSet;

/// The reasons for which an object can't be looked up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// The operator can't be described.
    #[error(transparent)]
    Project(Box<ProjectError>),
    /// There is no usable kubeconfig.
    #[error("failed to load a kubeconfig or the in-cluster configuration")]
    Config(#[source] kube::config::InferConfigError),
    /// The configuration can't be used.
    #[error("failed to create a Kubernetes client")]
    Client(#[source] kube::Error),
    /// The buckets of the operator's kinds can't be opened.
    #[error(transparent)]
    Buckets(Box<RunError>),
    /// The operator does not control the kind.
    #[error("{operator} does not control kind `{kind}`")]
    UnknownKind {
        /// The operator's name.
        operator: String,
        /// The name of the kind on the command line.
        kind: String,
        /// The kinds that the operator controls.
        known: Vec<String>,
    },
    /// The object does not exist.
    #[error("{kind} {name} not found")]
    Absent {
        /// The kind.
        kind: Box<Kind>,
        /// The name, with the namespace of a namespaced kind.
        name: String,
        /// The name of the bucket of a kind that is not in Kubernetes.
        bucket: Option<String>,
    },
    /// The object does not exist, since its bucket doesn't.
    #[error("{kind} {name} not found: bucket {bucket:?} does not exist")]
    NoBucket {
        /// The kind.
        kind: Box<Kind>,
        /// The name, with the namespace of a namespaced kind.
        name: String,
        /// The name of the bucket.
        bucket: String,
    },
    /// A call failed.
    #[error(transparent)]
    Call(Box<CallError>),
}

impl From<ConnectError> for LookupError {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Config(source) => Self::Config(source),
            ConnectError::Client(source) => Self::Client(source),
            ConnectError::Buckets(source) => Self::Buckets(source),
        }
    }
}

impl LookupError {
    /// Returns the error for a kind that the operator does not control. It names the controlled kinds, sorted and each once.
    pub(crate) fn unknown_kind(project: &Project, kind: &str) -> Self {
        let known = project.controllers.iter().map(|controlled| controlled.kind.kind.to_string());
        let known: BTreeSet<_> = known.collect();
        Self::UnknownKind { operator: project.name.clone(), kind: kind.to_owned(), known: known.into_iter().collect() }
    }

    /// Returns how the user can resolve the error; `None` if no hint applies.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Config(_) => Some("set KUBECONFIG to the cluster of the object".to_owned()),
            Self::UnknownKind { known, .. } if known.is_empty() => None,
            Self::UnknownKind { known, .. } => Some(format!("the operator controls {}", known.join(", "))),
            Self::Buckets(error) => bucket_hint(error).map(str::to_owned),
            Self::NoBucket { .. } => {
                let hint = "run the operator, which creates its buckets, or create them from `nats/buckets.yaml` in the manifests";
                Some(hint.to_owned())
            }
            Self::Absent { bucket: Some(bucket), .. } => {
                Some(format!("`nats kv ls {bucket}` lists all keys; use `--namespace` to choose the namespace"))
            }
            Self::Absent { kind, .. } => {
                let everywhere = if kind.namespaced { " --all-namespaces" } else { "" };
                let elsewhere = if kind.namespaced { "; use `--namespace` to choose the namespace" } else { "" };
                Some(format!("`kubectl get {}{everywhere}` lists all objects{elsewhere}", kind.full_name()))
            }
            Self::Call(error) if error.is_forbidden() => {
                Some(format!("use an account with permission to read {}", error.kind))
            }
            _ => None,
        }
    }
}

/// Returns whether a name of the command line matches a kind: its kind or plural, in any case, with or without its group.
pub(crate) fn matches_kind(kind: &Kind, name: &str) -> bool {
    let lower = name.to_lowercase();
    let (name, group) = lower.split_once('.').map_or((lower.as_str(), None), |(name, group)| (name, Some(group)));
    let names = [kind.kind.to_lowercase(), kind.plural.to_lowercase()];
    names.iter().any(|known_name| known_name == name) && group.is_none_or(|group| group == kind.group.to_lowercase())
}

/// A controlled kind with the client and the namespace for its objects.
pub(crate) struct ControlledKind<'a> {
    pub(crate) client: Client,
    pub(crate) controlled: &'a KindDescription,
    pub(crate) namespace: Option<String>,
}

impl<'a> ControlledKind<'a> {
    /// Connects with the user's credentials to the cluster of the kubeconfig and to the operator's buckets, for objects of the named
    /// kind.
    ///
    /// # Errors
    /// Fails if the operator does not control the kind, or if there is no connection.
    pub(crate) async fn connect(
        operator: &Operator,
        project: &'a Project,
        kind: &str,
        namespace: Option<&str>,
        connection: &ObjectConnection,
    ) -> Result<Self, LookupError> {
        let controlled = find_controlled(project, kind)?;
        let ConnectedClient { client, default_namespace } = connection.connect(operator).await?;
        let namespace = namespace.map_or(default_namespace, str::to_owned);
        Ok(Self { client, controlled, namespace: controlled.kind.namespaced.then_some(namespace) })
    }

    /// Returns an object of the looked-up kind and namespace as the target of a call.
    pub(crate) fn target<'t>(&'t self, name: &'t str) -> Target<'t> {
        Target { kind: &self.controlled.kind, namespace: self.namespace.as_deref(), name }
    }

    /// Reads an object; it is an error if the object does not exist.
    pub(crate) async fn object(&self, name: &str) -> Result<Value, LookupError> {
        let object = self.client.get(self.target(name)).await.map_err(|error| LookupError::Call(Box::new(error)))?;
        object.ok_or_else(|| self.absent(name))
    }

    /// Returns the error for an object that does not exist; it says so if the bucket of the object's kind does not exist either.
    pub(crate) fn absent(&self, name: &str) -> LookupError {
        let (kind, name) = (Box::new(self.controlled.kind.clone()), self.full_name(name));
        match self.controlled.bucket.as_ref().map(|bucket| bucket.name.to_string()) {
            Some(bucket) if self.client.missing_buckets().contains(&bucket) => {
                LookupError::NoBucket { kind, name, bucket }
            }
            bucket => LookupError::Absent { kind, name, bucket },
        }
    }

    /// Returns the name with its namespace: `shop/blue`.
    pub(crate) fn full_name(&self, name: &str) -> String {
        self.namespace.as_deref().map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"))
    }
}

/// Returns the controlled kind that a name of the command line matches.
pub(crate) fn find_controlled<'a>(project: &'a Project, kind: &str) -> Result<&'a KindDescription, LookupError> {
    let controlled = project.controllers.iter().find(|controlled| matches_kind(&controlled.kind, kind));
    controlled.ok_or_else(|| LookupError::unknown_kind(project, kind))
}

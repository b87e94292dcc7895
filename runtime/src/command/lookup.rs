//! The way from a person's words to an object in a cluster.

use crate::{
    client::{CallError, Client, Target},
    command::connect::Connection,
    kind::Kind,
    manifest::{Controlled, Project, ProjectError},
};
use serde_json::Value;
use std::collections::BTreeSet;

/// Why there is nothing to see.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The operator itself can't be described.
    #[error(transparent)]
    Project(Box<ProjectError>),
    /// There is no usable kubeconfig.
    #[error("failed to find out how to reach the cluster")]
    Config(#[source] kube::config::InferConfigError),
    /// The configuration can't be used.
    #[error("failed to make a client for the cluster")]
    Client(#[source] kube::Error),
    /// The kind is none of the operator's.
    #[error("{operator} controls no kind `{kind}`")]
    UnknownKind {
        /// The operator's name.
        operator: String,
        /// What was said.
        kind: String,
        /// What it controls.
        known: Vec<String>,
    },
    /// There is no such object.
    #[error("there is no {kind} {name}")]
    Absent {
        /// The kind.
        kind: Box<Kind>,
        /// The namespace, if the kind has any, and the name.
        name: String,
    },
    /// A call failed.
    #[error(transparent)]
    Call(Box<CallError>),
}

impl LiveError {
    pub(crate) fn unknown_kind(project: &Project, kind: &str) -> Self {
        let known = project.controllers.iter().map(|controlled| controlled.kind.kind.to_string());
        let known: BTreeSet<_> = known.collect();
        Self::UnknownKind { operator: project.name.clone(), kind: kind.to_owned(), known: known.into_iter().collect() }
    }

    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Config(_) => Some("set KUBECONFIG to the cluster that the object is in".to_owned()),
            Self::UnknownKind { known, .. } if known.is_empty() => None,
            Self::UnknownKind { known, .. } => Some(format!("it controls {}", known.join(", "))),
            Self::Absent { kind, .. } => {
                let everywhere = if kind.namespaced { " --all-namespaces" } else { "" };
                let elsewhere = if kind.namespaced { "; `--namespace` says which namespace is looked in" } else { "" };
                Some(format!("`kubectl get {}{everywhere}` lists all there are{elsewhere}", kind.full_name()))
            }
            Self::Call(error) if error.is_forbidden() => {
                Some("ask with the rights of somebody who may read it".to_owned())
            }
            _ => None,
        }
    }
}

/// Whether a person means this kind: by its name or its plural, in any case, with or without its group.
pub(crate) fn is_named(kind: &Kind, said: &str) -> bool {
    let said = said.to_lowercase();
    let (name, group) = said.split_once('.').map_or((said.as_str(), None), |(name, group)| (name, Some(group)));
    let names = [kind.kind.to_lowercase(), kind.plural.to_lowercase()];
    names.iter().any(|own| own == name) && group.is_none_or(|group| group == kind.group.to_lowercase())
}

/// Where objects of one controlled kind are looked for.
pub(crate) struct ControlledKind<'a> {
    pub(crate) client: Client,
    pub(crate) controlled: &'a Controlled,
    pub(crate) namespace: Option<String>,
}

impl<'a> ControlledKind<'a> {
    /// In the cluster that the environment says, with the rights of who asks.
    pub(crate) async fn reach(
        project: &'a Project,
        kind: &str,
        namespace: Option<&str>,
        connection: Connection,
    ) -> Result<Self, LiveError> {
        let controlled = controlled(project, kind)?;
        let config = connection.config().await.map_err(LiveError::Config)?;
        let namespace = namespace.map_or_else(|| config.default_namespace.clone(), str::to_owned);
        let client = Client::connect(config).map_err(LiveError::Client)?;
        Ok(Self { client, controlled, namespace: controlled.kind.namespaced.then_some(namespace) })
    }

    pub(crate) fn target<'t>(&'t self, name: &'t str) -> Target<'t> {
        Target { kind: &self.controlled.kind, namespace: self.namespace.as_deref(), name }
    }

    /// Reads an object that has to be there.
    pub(crate) async fn object(&self, name: &str) -> Result<Value, LiveError> {
        let object = self.client.get(self.target(name)).await.map_err(|error| LiveError::Call(Box::new(error)))?;
        object.ok_or_else(|| self.absent(name))
    }

    pub(crate) fn absent(&self, name: &str) -> LiveError {
        LiveError::Absent { kind: Box::new(self.controlled.kind.clone()), name: self.said(name) }
    }

    /// An object as people say it: `shop/blue`.
    pub(crate) fn said(&self, name: &str) -> String {
        self.namespace.as_deref().map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"))
    }
}

/// What a person means by a kind.
pub(crate) fn controlled<'a>(project: &'a Project, kind: &str) -> Result<&'a Controlled, LiveError> {
    let found = project.controllers.iter().find(|one| is_named(&one.kind, kind));
    found.ok_or_else(|| LiveError::unknown_kind(project, kind))
}

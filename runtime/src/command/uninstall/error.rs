//! `UninstallError`: the reasons why an uninstallation failed, with hints for the user.

use crate::{
    client::CallError,
    command::connect::{ConnectError, bucket_hint},
    error::Error,
    kind::Kind,
    manager::run_error::RunError,
    manifest::ProjectError,
};
use std::{io, time::Duration};

/// The reasons why an uninstallation failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum UninstallError {
    #[error("failed to load a kubeconfig or the in-cluster configuration")]
    Config(#[source] kube::config::InferConfigError),
    #[error("failed to create a Kubernetes client")]
    Client(#[source] kube::Error),
    #[error(transparent)]
    Buckets(Box<RunError>),
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error(transparent)]
    Call(Box<CallError>),
    #[error("{count} objects of kind {kind} still exist")]
    ObjectsLeft { kind: Kind, count: usize },
    #[error("{what} was not deleted within {} s", .timeout.as_secs())]
    Timeout { what: String, timeout: Duration },
    #[error("failed to write to standard output")]
    OutputFormat(#[from] io::Error),
    #[error("{0}")]
    Loop(Error),
}

impl From<ConnectError> for UninstallError {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Config(source) => Self::Config(source),
            ConnectError::Client(source) => Self::Client(source),
            ConnectError::Buckets(source) => Self::Buckets(source),
        }
    }
}

impl From<CallError> for UninstallError {
    fn from(error: CallError) -> Self {
        Self::Call(Box::new(error))
    }
}

/// Returns advice for the user; `None` if there is none.
pub(super) fn hint(error: &UninstallError) -> Option<&'static str> {
    match error {
        UninstallError::Config(_) => Some("set KUBECONFIG to the cluster that the operator is installed in"),
        UninstallError::Buckets(error) => bucket_hint(error),
        UninstallError::ObjectsLeft { .. } => {
            Some("`--objects delete` deletes them, which needs a running operator; `--objects keep` keeps them")
        }
        UninstallError::Timeout { .. } => {
            Some("only a running operator can finish the deletion: start it and retry, or use `--objects keep`")
        }
        _ => None,
    }
}

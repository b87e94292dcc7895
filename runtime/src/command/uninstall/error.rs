//! `UninstallError`: the reasons why an uninstallation failed, with hints for the user.

use crate::{client::CallError, error::Error, kind::Kind, manifest::ProjectError};
use std::{io, time::Duration};

/// The reasons why an uninstallation failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum UninstallError {
    #[error("failed to find out how to reach the cluster")]
    Config(#[source] kube::config::InferConfigError),
    #[error("failed to make a client for the cluster")]
    Client(#[source] kube::Error),
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error(transparent)]
    Call(Box<CallError>),
    #[error("there are {count} objects of kind {kind}")]
    ObjectsLeft { kind: Kind, count: usize },
    #[error("{what} did not go within {} s", .timeout.as_secs())]
    Timeout { what: String, timeout: Duration },
    #[error("failed to write to standard output")]
    OutputFormat(#[from] io::Error),
    #[error("{0}")]
    Loop(Error),
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
        UninstallError::ObjectsLeft { .. } => {
            Some("`--objects delete` deletes them while the operator still runs; `--objects keep` keeps them")
        }
        UninstallError::Timeout { .. } => {
            Some("only a running operator takes its objects down; run this again, with `--objects keep` if it is gone")
        }
        _ => None,
    }
}

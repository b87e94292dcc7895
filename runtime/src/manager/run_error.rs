//! `RunError`: the reasons for which a running operator ends.

use crate::{error::Error, kind::Kind, manager::conditions::ConditionsError, shape::Malformed};
use std::net::SocketAddr;
use std::time::Duration;

/// Why an operator ended, other than by being asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// There is no usable kubeconfig and no service account.
    #[error("failed to find out how to reach the cluster")]
    Config(#[source] kube::config::InferConfigError),
    /// The configuration can't be used.
    #[error("failed to make a client for the cluster")]
    Client(#[source] kube::Error),
    /// A hook of a factory failed; nothing was started.
    #[error("failed to prepare the controller of {kind}: {error}")]
    Hook {
        /// The kind.
        kind: Kind,
        /// What the hook said.
        error: Error,
    },
    /// A tree has a manifest that can't be read; nothing was started.
    #[error("failed to read a manifest of the tree of {kind}")]
    Manifest {
        /// The kind.
        kind: Kind,
        /// What is wrong, and where.
        #[source]
        source: Malformed,
    },
    /// The conditions of a controller are not its own. Where another operator writes them, that is known only when the watches have
    /// begun, so other controllers may have worked.
    #[error(transparent)]
    Conditions(Box<ConditionsError>),
    /// The address for probes is taken, or not this machine's.
    #[error("failed to listen on {address}")]
    Probes {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Signals can't be listened to.
    #[error("failed to listen to signals")]
    Signals(#[source] std::io::Error),
    /// Work in flight did not end in time.
    #[error("work in flight did not end within {} s", .0.as_secs())]
    Timeout(Duration),
    /// A controller ended by a panic of the runtime.
    #[error("a controller ended unexpectedly")]
    Controller(#[source] tokio::task::JoinError),
    /// A second signal came while work in flight was waited for.
    #[error("ended at once by a second signal")]
    Interrupted,
}

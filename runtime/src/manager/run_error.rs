//! `RunError`: the errors that end the run of an operator.

use crate::{
    bucket::BucketError,
    error::Error,
    kind::Kind,
    lease::{elector::LeadLoss, options::LeaderElectionError},
    manager::{conditions::ConditionsError, extensions::ExtensionError},
    metrics::MetricsError,
    shape::InvalidManifest,
    webhook::WebhookServerError,
};
use std::net::SocketAddr;
use std::time::Duration;

/// The error with which an operator ended. A regular stop is not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// There is no usable kubeconfig and no service account.
    #[error("failed to load a kubeconfig or the in-cluster configuration")]
    Config(#[source] kube::config::InferConfigError),
    /// The configuration can't be used.
    #[error("failed to create a Kubernetes client")]
    Client(#[source] kube::Error),
    /// A hook of a factory failed; nothing was started.
    #[error("failed to prepare the controller of {kind}: {error}")]
    Hook {
        /// The kind.
        kind: Kind,
        /// The error of the hook.
        error: Error,
    },
    /// A tree has a manifest that can't be parsed; nothing was started.
    #[error("failed to read a manifest of the tree of {kind}")]
    Manifest {
        /// The kind.
        kind: Kind,
        /// The problem and its position.
        #[source]
        source: InvalidManifest,
    },
    /// A tree reads the objects of a kind as types of two versions; nothing was started.
    #[error(
        "the tree of {kind} reads {read} in the versions {} and {}; use the type of one version in all nodes that other nodes read",
        .versions[0], .versions[1]
    )]
    ReadVersions {
        /// The kind.
        kind: Kind,
        /// The kind that is read.
        read: Kind,
        /// Two of the versions, each as an `apiVersion`.
        versions: [String; 2],
    },
    /// Another controller writes the conditions of a controller. If it belongs to another operator, that is known only after the
    /// watches have synced, so other controllers may have run already.
    #[error(transparent)]
    Conditions(Box<ConditionsError>),
    /// The address for probes is in use, or is not an address of this machine.
    #[error("failed to listen on {address}")]
    Probes {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The metrics can't be served; nothing was started.
    #[error(transparent)]
    Metrics(MetricsError),
    /// The webhooks can't be served; nothing was started.
    #[error(transparent)]
    Webhooks(WebhookServerError),
    /// The operating system refused the registration for stop signals.
    #[error("failed to listen to signals")]
    Signals(#[source] std::io::Error),
    /// Passes or runnables did not end within the shutdown timeout. Interrupted passes are reported in the status of their objects.
    #[error("not everything ended within the shutdown timeout of {timeout:?}: {}", list_unfinished(.unfinished))]
    Timeout {
        /// The shutdown timeout.
        timeout: Duration,
        /// The passes, each with its object, and the runnables.
        unfinished: Vec<String>,
    },
    /// A runnable failed or panicked; everything else was stopped.
    #[error("runnable {name} failed: {error}")]
    Runnable {
        /// The name of the runnable.
        name: String,
        /// The error that it returned.
        error: Error,
    },
    /// A health check or a handler of the metrics server can't be used; nothing was started.
    #[error(transparent)]
    Extension(ExtensionError),
    /// Two operators of a [`Manager`](crate::manager::Manager) have one name, so each would take the children of the other for its own;
    /// nothing was started.
    #[error(
        "there are two operators of the name {name:?} in one process; give each a name of its own, or make them one operator"
    )]
    DuplicateOperator {
        /// The name.
        name: String,
    },
    /// The objects of a kind are in a bucket, and the operator can't open buckets; nothing was started.
    #[error("the objects of {kind} are in bucket {bucket:?}, but the operator has no connection to buckets")]
    NoBuckets {
        /// The kind.
        kind: Kind,
        /// The name of the bucket.
        bucket: String,
    },
    /// Two kinds, of which one may be a kind that the operator itself writes without Kubernetes, have one bucket; nothing was started.
    #[error("the objects of {} and those of {} are in one bucket, {bucket:?}", .kinds[0], .kinds[1])]
    SharedBucket {
        /// The name of the bucket.
        bucket: String,
        /// The kinds.
        kinds: [Kind; 2],
    },
    /// A bucket can't be opened, and another attempt would fail as well: the store refuses the credentials, or the settings of the
    /// connection or of the bucket can't be used. Nothing was started.
    #[error("failed to open the bucket of {kind}")]
    Bucket {
        /// The kind.
        kind: Kind,
        /// The error of the store.
        #[source]
        source: BucketError,
    },
    /// The operator runs without Kubernetes, and has a webhook, which only an API server calls; nothing was started.
    #[error("operator {operator} runs without Kubernetes, so no API server calls its webhook for {kind}")]
    WebhookWithoutKubernetes {
        /// The name of the operator.
        operator: String,
        /// The kind of the webhook.
        kind: Kind,
    },
    /// The operator runs without Kubernetes, and a part of it needs a kind that is in no bucket; nothing was started.
    #[error("operator {operator} runs without Kubernetes, but {part} needs {kind}, which is in no bucket")]
    NeedsKubernetes {
        /// The name of the operator.
        operator: String,
        /// The node or the controller.
        part: String,
        /// The kind.
        kind: Kind,
    },
    /// The handle of runnables belongs to an earlier run; nothing was started.
    #[error("these runnables belong to a run that has started already; create a new `Runnables` for each run")]
    AlreadyStarted,
    /// An option of leader election can't be used; nothing was started.
    #[error("failed to start leader election: {0}")]
    LeaderElection(LeaderElectionError),
    /// The operator has shards, and a part that runs in the leader only; nothing was started.
    #[error(
        "{part} needs the lead, but an operator with shards has no leader; remove it, or run without shards (`--shards=0`)"
    )]
    NeedsLead {
        /// The runnable or the upgrade hook.
        part: String,
    },
    /// Another replica may write now. The process must exit at once; the binary does so with status
    /// [`LEAD_LOST_STATUS`](crate::command::LEAD_LOST_STATUS).
    #[error("leader election lost: {0}")]
    LeadLost(LeadLoss),
    /// A controller ended by a panic of the runtime.
    #[error("a controller ended unexpectedly")]
    Controller(#[source] tokio::task::JoinError),
    /// A second signal arrived during the shutdown.
    #[error("stopped at once by a second signal")]
    Interrupted,
}

/// The maximum number of unfinished passes and runnables that an error names.
const MAX_NAMED: usize = 10;

/// Lists the first unfinished passes and runnables, and the number of the others.
fn list_unfinished(unfinished: &[String]) -> String {
    let named = unfinished.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match unfinished.len().saturating_sub(MAX_NAMED) {
        0 => named,
        others => format!("{named} and {others} more"),
    }
}

//! `ClusterConnector`: creates clients for other clusters, with the layers of the operator's own client.

use crate::client::Client;
use std::{fmt, sync::Arc};

type Connect = dyn Fn(kube::Config) -> kube::Result<kube::Client> + Send + Sync;
type Wrap = dyn Fn(kube::Client) -> Client + Send + Sync;

/// Creates clients for other clusters.
#[derive(Clone)]
pub(crate) struct ClusterConnector {
    connect: Arc<Connect>,
    wrap: Arc<Wrap>,
}

impl ClusterConnector {
    /// Returns a connector. `connect` creates a client that writes only with the lead; `wrap` adds the layers that all requests of a
    /// cluster share: timeouts, metrics, and the wait for `Retry-After`.
    pub(crate) fn new(
        connect: impl Fn(kube::Config) -> kube::Result<kube::Client> + Send + Sync + 'static,
        wrap: impl Fn(kube::Client) -> Client + Send + Sync + 'static,
    ) -> Self {
        Self { connect: Arc::new(connect), wrap: Arc::new(wrap) }
    }

    /// Creates a client for a configuration.
    ///
    /// # Errors
    /// Fails if the configuration can't be used.
    pub(super) fn connect(&self, config: kube::Config) -> kube::Result<kube::Client> {
        (self.connect)(config)
    }

    pub(super) fn wrap(&self, client: kube::Client) -> Client {
        (self.wrap)(client)
    }
}

impl fmt::Debug for ClusterConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClusterConnector")
    }
}

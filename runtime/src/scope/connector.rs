//! `ClusterConnector`: creates clients for other clusters, with the layers of the operator's own client.

use super::{exec_plugin::ExecPlugin, exec_runner::ExecRunner};
use crate::{
    client::Client,
    environment::Environment,
    metrics::clusters::{ClusterMetrics, ClusterSeries},
};
use std::{fmt, sync::Arc};

/// Creates the client for a configuration.
type Connect = dyn Fn(kube::Config) -> kube::Result<kube::Client> + Send + Sync;
/// Adds the layers of the operator to a client, whose requests count in the series.
type Wrap = dyn Fn(kube::Client, &Arc<ClusterSeries>) -> Client + Send + Sync;

/// Creates clients for other clusters.
#[derive(Clone)]
pub(crate) struct ClusterConnector {
    connect: Arc<Connect>,
    wrap: Arc<Wrap>,
    metrics: ClusterMetrics,
    exec_runner: Arc<ExecRunner>,
}

impl ClusterConnector {
    /// Returns a connector that allows no programs for credentials. `connect` creates a client that writes only while this process is the
    /// leader. `wrap` adds the layers that all requests to a cluster share: timeouts, the metrics of the cluster, and the wait for
    /// `Retry-After`.
    pub(crate) fn new(
        connect: impl Fn(kube::Config) -> kube::Result<kube::Client> + Send + Sync + 'static,
        wrap: impl Fn(kube::Client, &Arc<ClusterSeries>) -> Client + Send + Sync + 'static,
        metrics: ClusterMetrics,
    ) -> Self {
        let exec_runner = Arc::new(ExecRunner::new(&[], &Environment::system()));
        Self { connect: Arc::new(connect), wrap: Arc::new(wrap), metrics, exec_runner }
    }

    /// Returns the same connector for an operator that allows these programs for credentials.
    pub(crate) fn allow(&self, plugins: &[ExecPlugin], environment: &Environment) -> Self {
        Self { exec_runner: Arc::new(ExecRunner::new(plugins, environment)), ..self.clone() }
    }

    /// Creates a client for a configuration.
    ///
    /// # Errors
    /// Fails if the configuration can't be used.
    pub(super) fn connect(&self, config: kube::Config) -> kube::Result<kube::Client> {
        (self.connect)(config)
    }

    /// Adds the layers to a client. Its requests count in `series`.
    pub(super) fn wrap(&self, client: kube::Client, series: &Arc<ClusterSeries>) -> Client {
        (self.wrap)(client, series)
    }

    /// Returns the series of the metrics for a cluster with this name.
    pub(super) fn series(&self, kubeconfig: &str) -> Arc<ClusterSeries> {
        self.metrics.series(kubeconfig)
    }

    /// Returns the runner of the programs that kubeconfigs name for their credentials.
    pub(super) fn exec_runner(&self) -> &ExecRunner {
        &self.exec_runner
    }
}

impl fmt::Debug for ClusterConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClusterConnector")
    }
}

//! `RunOptions`: the options of one run of an operator.

use super::{runnable::Runnables, servers::ServerOptions};
use crate::{
    client::Client,
    lease::{leads::Leads, options::LeaderElection},
    metrics::MetricsServer,
    webhook::WebhookServer,
};
use std::net::SocketAddr;

/// The options of a run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// The only namespaces that are watched. Default: all, or the operator's own if it is [namespaced](crate::Operator::namespaced).
    pub namespaces: Vec<String>,
    /// The address at which `/livez` and `/readyz` are served. Default: none.
    pub probes: Option<SocketAddr>,
    /// The server of `/metrics`. Default: none.
    pub metrics: Option<MetricsServer>,
    /// The server of the webhooks. Default: none. Without webhooks, its address is not bound.
    pub webhooks: Option<WebhookServer>,
    /// The options of leader election. Default: those of the [operator](crate::Operator::leader_election).
    pub leader_election: Option<LeaderElection>,
    /// The runnables that are added to this run.
    pub(super) runnables: Runnables,
    /// The client of leader election. Default: that of the run.
    pub(crate) election_client: Option<Client>,
    /// The leads that the connections of the client check. Default: new ones, which only the guard checks.
    pub(super) leads: Option<Leads>,
}

impl RunOptions {
    /// Watches this namespace only.
    #[must_use]
    pub fn namespace(self, namespace: impl Into<String>) -> Self {
        self.namespaces([namespace])
    }

    /// Watches these namespaces only; without any, all of them. One namespace is watched with requests for it. Several are watched
    /// with requests for all namespaces, which need a ClusterRole, and objects of other namespaces are dropped when they arrive, so
    /// they cost no memory.
    #[must_use]
    pub fn namespaces<N: Into<String>>(mut self, namespaces: impl IntoIterator<Item = N>) -> Self {
        self.namespaces = namespaces.into_iter().map(Into::into).collect();
        self
    }

    /// Serves the probes `/livez` (also as `/healthz`) and `/readyz` at this address. `?verbose` lists their checks,
    /// `?exclude=<name>` leaves a check out, and `/readyz/<name>` is the response of one check.
    #[must_use]
    pub fn probes(mut self, address: SocketAddr) -> Self {
        self.probes = Some(address);
        self
    }

    /// Serves `/metrics` at an address, or with the settings of a [`MetricsServer`].
    #[must_use]
    pub fn metrics(mut self, server: impl Into<MetricsServer>) -> Self {
        self.metrics = Some(server.into());
        self
    }

    /// Serves the webhooks of the operator at an address, or with the settings of a [`WebhookServer`].
    #[must_use]
    pub fn webhooks(mut self, server: impl Into<WebhookServer>) -> Self {
        self.webhooks = Some(server.into());
        self
    }

    /// Runs with leader election, by these options instead of those of the operator.
    #[must_use]
    pub fn leader_election(mut self, options: LeaderElection) -> Self {
        self.leader_election = Some(options);
        self
    }

    /// Also runs the runnables of this handle, beside those of the operator. A handle is for one run: a second run with it fails with
    /// [`RunError::AlreadyStarted`](crate::RunError::AlreadyStarted).
    #[must_use]
    pub fn runnables(mut self, runnables: &Runnables) -> Self {
        self.runnables = runnables.clone();
        self
    }

    /// Reads and writes the Lease with this client, for example with a connection of its own or in another cluster.
    #[must_use]
    pub fn election_client(mut self, client: kube::Client) -> Self {
        self.election_client = Some(Client::new(client));
        self
    }

    /// Returns the addresses of the servers of metrics and webhooks.
    pub(super) fn servers(&self) -> ServerOptions {
        ServerOptions { metrics: self.metrics.clone(), webhooks: self.webhooks.clone() }
    }
}

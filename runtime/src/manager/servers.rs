//! `Servers`: the bound servers of probes and metrics, and the tasks that serve them.

use crate::{
    manager::{
        extensions::Extensions,
        probes::{self, ProbeTargets},
        run_error::RunError,
        tasks::{OnEnd, Tasks},
    },
    metrics::{Metrics, MetricsServer, server::BoundServer},
};
use futures::FutureExt;
use std::{net::SocketAddr, sync::Arc};
use tokio::net::TcpListener;

/// The servers of a run, whose addresses are bound.
pub(super) struct Servers {
    probes: Option<TcpListener>,
    metrics: Option<BoundServer>,
}

impl Servers {
    /// Binds the addresses, so that an invalid one is an error before anything starts. A self-signed certificate of the metrics gets
    /// the names of the operator's Service.
    pub(super) async fn bind(
        probes: Option<SocketAddr>,
        metrics: Option<MetricsServer>,
        operator: &str,
        namespace: &str,
    ) -> Result<Self, RunError> {
        let service = format!("{operator}-metrics.{namespace}.svc");
        let names = vec!["localhost".to_owned(), format!("{service}.cluster.local"), service];
        let metrics = match metrics {
            Some(server) => Some(server.bind(names).await.map_err(RunError::Metrics)?),
            None => None,
        };
        Ok(Self { probes: probes::bind(probes).await?, metrics })
    }

    /// Spawns the tasks that serve. The addresses stay bound while a task is started again.
    pub(super) fn spawn(
        self,
        extensions: Extensions,
        targets: ProbeTargets,
        (metrics, client): (Metrics, kube::Client),
        tasks: &mut Tasks,
    ) {
        if let Some(listener) = self.probes {
            let (listener, targets) = (Arc::new(listener), targets.with_checks(&extensions));
            tasks.spawn("probes", None, OnEnd::Restart, move || {
                probes::serve(listener.clone(), targets.clone()).boxed()
            });
        }
        if let Some(server) = self.metrics {
            let (server, handlers) = (Arc::new(server), extensions.handlers);
            tasks.spawn("metrics", None, OnEnd::Restart, move || {
                let (server, metrics, client) = (server.clone(), metrics.clone(), client.clone());
                let handlers = handlers.clone();
                async move { server.serve(metrics, handlers, client).await }.boxed()
            });
        }
    }
}

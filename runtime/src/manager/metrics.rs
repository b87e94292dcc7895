//! Binds the server of `/metrics` before an operator starts, and spawns its task.

use crate::{
    manager::{
        run_error::RunError,
        tasks::{OnEnd, Tasks},
    },
    metrics::{Metrics, MetricsServer, server::BoundServer},
};
use futures::FutureExt;
use std::sync::Arc;

/// Binds the address, so that an invalid one is an error before anything starts. A self-signed certificate gets the names of the
/// operator's Service.
pub(super) async fn bind(
    server: Option<MetricsServer>,
    operator: &str,
    namespace: &str,
) -> Result<Option<BoundServer>, RunError> {
    let Some(server) = server else { return Ok(None) };
    let service = format!("{operator}-metrics.{namespace}.svc");
    let names = vec!["localhost".to_owned(), format!("{service}.cluster.local"), service];
    server.bind(names).await.map(Some).map_err(RunError::Metrics)
}

/// Spawns the task that serves the metrics. The address stays bound while the task is started again.
pub(super) fn spawn(server: BoundServer, metrics: Metrics, client: kube::Client, tasks: &mut Tasks) {
    let server = Arc::new(server);
    tasks.spawn("metrics", None, OnEnd::Restart, move || {
        let (server, metrics, client) = (server.clone(), metrics.clone(), client.clone());
        async move { server.serve(metrics, client).await }.boxed()
    });
}

//! Wraps the API clients of an operator in layers for timeouts, metrics, rate limits, and the delay that a `Retry-After` header demands.

use crate::{client::Client, counters::Counters, manager::operator::Operator, metrics::clusters::ClusterSeries};
use std::sync::Arc;

impl Operator {
    /// Wraps a client of the operator's own cluster.
    pub(super) fn wrap_client(&self, client: kube::Client) -> Client {
        self.wrap_counted(client, &self.counters, |client| self.metrics.calls().wrap(client))
    }

    /// Wraps a client of another cluster. Its requests, timeouts and waits count in the series of that cluster only.
    pub(super) fn wrap_remote_client(&self, client: kube::Client, series: &Arc<ClusterSeries>) -> Client {
        self.wrap_counted(client, series.counters(), |client| series.wrap(client))
    }

    /// Wraps a client in layers, from the inside out: the timeouts of calls, the metrics of calls (`count_calls` adds this layer), the
    /// rate limit of the operator, if it has one, and the wait that a `Retry-After` header of the API server demands. `counters` counts
    /// the timeouts and these waits.
    fn wrap_counted(
        &self,
        client: kube::Client,
        counters: &Counters,
        count_calls: impl FnOnce(kube::Client) -> kube::Client,
    ) -> Client {
        let client = count_calls(self.timeouts.wrap(client, counters.clone()));
        let client = self.rate_limit.map_or_else(|| client.clone(), |limit| limit.wrap_client(client.clone()));
        let client = Client::throttled(client, self.environment.clone(), counters.clone());
        client.with_page_size(self.page_size)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::metrics::clusters::ClusterMetrics;
    use http::{Request, Response};
    use kube::client::Body;
    use std::convert::Infallible;

    #[tokio::test(start_paused = true)]
    async fn a_timeout_of_another_cluster_counts_for_that_cluster_only() {
        let respond = |_: Request<Body>| std::future::pending::<Result<Response<Body>, Infallible>>();
        let silent = kube::Client::new(tower::service_fn(respond), "default");
        let (operator, series) = (Operator::new("teams"), ClusterMetrics::default().series("teams/blue"));
        let request = || Request::get("/version").body(Body::empty()).unwrap();
        let counts = || (series.counters().timeouts(), operator.counters().timeouts());
        assert!(operator.wrap_remote_client(silent.clone(), &series).kube().send(request()).await.is_err());
        assert_eq!(counts(), (1, 0));
        assert!(operator.wrap_client(silent).kube().send(request()).await.is_err());
        assert_eq!(counts(), (1, 1));
    }
}

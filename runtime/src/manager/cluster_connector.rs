//! Creates the `ClusterConnector` of an operator, which creates the API clients for the other clusters in which tree nodes have their
//! children.

use crate::{
    lease::{connection, guard},
    manager::{leadership::Leadership, operator::Operator},
    scope::ClusterConnector,
};

impl Operator {
    /// Returns the connector that creates a client for another cluster from its kubeconfig. The client has the layers of the operator's
    /// own client (timeouts, rate limit, `Retry-After`), and counts its calls in the metrics of its cluster. With leader election or
    /// shards, it refuses writes while this replica does not hold the Lease (`guard_writes`).
    pub(super) fn cluster_connector(&self, leadership: &Leadership) -> ClusterConnector {
        let (environment, timeouts, leads) = (self.environment.clone(), self.timeouts, leadership.leads().cloned());
        let connect = move |config: kube::Config| {
            let client = match (environment.client_of(&config), &leads) {
                // The environment of a test may have a client for the cluster, and then nothing is connected.
                (Some(client), _) => client,
                (None, Some(leads)) => connection::client(timeouts.configure(config), leads.clone())?,
                (None, None) => timeouts.client(config)?,
            };
            Ok(match &leads {
                Some(leads) => guard::guard_writes(client, leads.clone()),
                None => client,
            })
        };
        let (operator, metrics) = (self.clone(), self.metrics.clusters().clone());
        ClusterConnector::new(connect, move |client, series| operator.wrap_remote_client(client, series), metrics)
    }
}

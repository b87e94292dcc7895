//! `ClusterMetrics`: counts the requests to other clusters, and reports the states of the connections to them.

use super::{
    calls::{self, NO_RESPONSE},
    controller::RunningTotal,
    label::OTHER,
    sample::MetricSamples,
    table::{
        CLUSTER_OBJECTS, CLUSTER_OWNERS, CLUSTER_REACHABLE, CLUSTER_REQUESTS, CLUSTER_THROTTLED, CLUSTER_TIMEOUTS,
    },
};
use crate::{cache::Uid, counters::Counters};
use http::StatusCode;
use parking_lot::Mutex;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Weak},
};

/// The maximum number of clusters with series of their own; all further ones count as the cluster [`OTHER`].
const MAX_CLUSTERS: usize = 500;

/// The classes of status codes: the values of the label `code`.
const CODES: [&str; 5] = ["2xx", "3xx", "4xx", "5xx", NO_RESPONSE];

/// The other clusters of one operator. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct ClusterMetrics(Arc<ClusterTable>);

/// The clusters of [`ClusterMetrics`].
#[derive(Debug)]
struct ClusterTable {
    /// The clusters with series of their own, by name. A cluster without connections makes room for another one.
    named: Mutex<BTreeMap<String, Weak<ClusterSeries>>>,
    /// All further clusters. A cluster stays there while it is connected, so that the counters never decrease.
    other: Arc<ClusterSeries>,
}

impl Default for ClusterMetrics {
    fn default() -> Self {
        let other = Arc::new(ClusterSeries::new(OTHER));
        Self(Arc::new(ClusterTable { named: Mutex::default(), other }))
    }
}

impl ClusterMetrics {
    /// Returns the metric series of a cluster, which all connections to the cluster share. The series end when the last connection drops
    /// them. `kubeconfig` names the cluster: the namespace and the name of the Secret with its kubeconfig. If `MAX_CLUSTERS` others have
    /// series, the function returns the series in which all further clusters are summed.
    pub(crate) fn series(&self, kubeconfig: &str) -> Arc<ClusterSeries> {
        let mut named = self.0.named.lock();
        if let Some(series) = named.get(kubeconfig).and_then(Weak::upgrade) {
            return series;
        }
        named.retain(|_, series| series.strong_count() > 0);
        if named.len() >= MAX_CLUSTERS {
            return self.0.other.clone();
        }
        let series = Arc::new(ClusterSeries::new(kubeconfig));
        named.insert(kubeconfig.to_owned(), Arc::downgrade(&series));
        series
    }
}

/// The series of one cluster, or of all clusters without series of their own.
#[derive(Debug)]
pub(crate) struct ClusterSeries {
    /// The value of the label `kubeconfig`.
    kubeconfig: String,
    /// The number of requests by [`CODES`].
    requests: [RunningTotal; CODES.len()],
    /// The timeouts of its calls, and its responses with `Retry-After`.
    counters: Counters,
}

impl ClusterSeries {
    /// Returns series without counts for the cluster with this name.
    fn new(kubeconfig: &str) -> Self {
        Self { kubeconfig: kubeconfig.to_owned(), requests: Default::default(), counters: Counters::default() }
    }

    /// Returns the counters of the clients of the cluster.
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns a client that sends requests through `client` and counts them here. Each request within a recorded
    /// span has a span, unless its trace is not sampled.
    pub(crate) fn wrap(self: &Arc<Self>, client: kube::Client) -> kube::Client {
        let series = self.clone();
        calls::observe_calls(client, move |call| series.count_request(call.status))
    }

    /// Counts a request by the class of its status code; `status` is `None` if there was no response.
    fn count_request(&self, status: Option<StatusCode>) {
        let index_in_codes = match status.map(|status| status.as_u16() / 100) {
            // A code 1xx counts as 2xx: the server answers a protocol upgrade that the client has requested with 101.
            Some(..=2) => 0,
            Some(3) => 1,
            Some(4) => 2,
            Some(_) => 3,
            None => 4,
        };
        self.requests[index_in_codes].increment();
    }
}

/// The values of one connection to another cluster, or the sum of several.
#[derive(Clone, Debug)]
pub(crate) struct ClusterValues {
    pub(crate) series: Arc<ClusterSeries>,
    pub(crate) is_reachable: bool,
    /// The number of cached objects.
    pub(crate) objects: usize,
    /// The owners with nodes in the cluster.
    pub(crate) owners: BTreeSet<Uid>,
}

impl ClusterValues {
    /// Adds the values of another connection to the same cluster. The sum is reachable only if every connection is.
    fn add(&mut self, other: Self) {
        self.is_reachable &= other.is_reachable;
        self.objects += other.objects;
        self.owners.extend(other.owners);
    }
}

/// Adds the metrics of the connected clusters to `samples`. Connections with the same label `kubeconfig` are summed, so that each cluster
/// has one series of each metric.
pub(super) fn add(samples: &mut MetricSamples, connections: Vec<ClusterValues>) {
    let mut clusters = BTreeMap::<String, ClusterValues>::new();
    for connection in connections {
        if let Some(cluster) = clusters.get_mut(&connection.series.kubeconfig) {
            cluster.add(connection);
        } else {
            clusters.insert(connection.series.kubeconfig.clone(), connection);
        }
    }
    for (kubeconfig, cluster) in &clusters {
        samples.add(&CLUSTER_REACHABLE, &[kubeconfig], u64::from(cluster.is_reachable));
        for (code, count) in CODES.iter().zip(&cluster.series.requests) {
            samples.add(&CLUSTER_REQUESTS, &[kubeconfig, code], count.get());
        }
        samples.add(&CLUSTER_TIMEOUTS, &[kubeconfig], cluster.series.counters.timeouts());
        samples.add(&CLUSTER_THROTTLED, &[kubeconfig], cluster.series.counters.throttled());
        samples.add(&CLUSTER_OBJECTS, &[kubeconfig], cluster.objects);
        samples.add(&CLUSTER_OWNERS, &[kubeconfig], cluster.owners.len());
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::metrics::calls::CallMetrics;
    use http::{Request, Response};
    use kube::client::Body;
    use prometheus_client::{encoding::text::encode_registry, registry::Registry};

    /// Returns the values of a connection that has these owners, given by their uids.
    fn connection(series: &Arc<ClusterSeries>, is_reachable: bool, objects: usize, owners: &[&str]) -> ClusterValues {
        let owners = owners.iter().map(|uid| Uid::from(*uid)).collect();
        ClusterValues { series: series.clone(), is_reachable, objects, owners }
    }

    /// Returns the metrics of these connections in the text format of OpenMetrics, without comments.
    fn lines(connections: Vec<ClusterValues>) -> Vec<String> {
        let (mut samples, mut registry, mut text) = (MetricSamples::default(), Registry::default(), String::new());
        add(&mut samples, connections);
        registry.register_collector(Box::new(samples));
        encode_registry(&mut text, &registry).unwrap();
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    }

    #[test]
    fn connections_to_one_cluster_have_one_series_of_each_metric() {
        let metrics = ClusterMetrics::default();
        let (blue, again, green) =
            (metrics.series("teams/blue"), metrics.series("teams/blue"), metrics.series("teams/green"));
        blue.count_request(Some(StatusCode::OK));
        again.count_request(Some(StatusCode::CREATED));
        again.count_request(Some(StatusCode::NOT_FOUND));
        green.count_request(None);
        green.counters().count_timeout();
        again.counters().count_throttled();
        let lines = lines(vec![
            connection(&blue, true, 2, &["a", "b"]),
            connection(&green, true, 7, &["c"]),
            connection(&again, false, 3, &["b", "c"]),
        ]);
        assert_eq!(
            lines,
            [
                "opgen_remote_cluster_reachable{kubeconfig=\"teams/blue\"} 0",
                "opgen_remote_cluster_reachable{kubeconfig=\"teams/green\"} 1",
                "opgen_remote_cluster_requests_total{kubeconfig=\"teams/blue\",code=\"2xx\"} 2",
                "opgen_remote_cluster_requests_total{kubeconfig=\"teams/blue\",code=\"3xx\"} 0",
                "opgen_remote_cluster_requests_total{kubeconfig=\"teams/blue\",code=\"4xx\"} 1",
                "opgen_remote_cluster_requests_total{kubeconfig=\"teams/blue\",code=\"5xx\"} 0",
                "opgen_remote_cluster_requests_total{kubeconfig=\"teams/blue\",code=\"<error>\"} 0",
                "opgen_remote_cluster_requests_total{kubeconfig=\"teams/green\",code=\"2xx\"} 0",
                "opgen_remote_cluster_requests_total{kubeconfig=\"teams/green\",code=\"3xx\"} 0",
                "opgen_remote_cluster_requests_total{kubeconfig=\"teams/green\",code=\"4xx\"} 0",
                "opgen_remote_cluster_requests_total{kubeconfig=\"teams/green\",code=\"5xx\"} 0",
                "opgen_remote_cluster_requests_total{kubeconfig=\"teams/green\",code=\"<error>\"} 1",
                "opgen_remote_cluster_timeouts_total{kubeconfig=\"teams/blue\"} 0",
                "opgen_remote_cluster_timeouts_total{kubeconfig=\"teams/green\"} 1",
                "opgen_remote_cluster_throttled_total{kubeconfig=\"teams/blue\"} 1",
                "opgen_remote_cluster_throttled_total{kubeconfig=\"teams/green\"} 0",
                "opgen_remote_cluster_objects{kubeconfig=\"teams/blue\"} 5",
                "opgen_remote_cluster_objects{kubeconfig=\"teams/green\"} 7",
                "opgen_remote_cluster_owners{kubeconfig=\"teams/blue\"} 3",
                "opgen_remote_cluster_owners{kubeconfig=\"teams/green\"} 1",
            ]
        );
    }

    #[test]
    fn clusters_beyond_the_maximum_are_summed_until_others_are_dropped() {
        let metrics = ClusterMetrics::default();
        let series = |number: usize| metrics.series(&format!("teams/{number:03}"));
        let mut connected: Vec<_> = (0..MAX_CLUSTERS + 2).map(series).collect();
        connected.iter().for_each(|series| series.count_request(Some(StatusCode::OK)));
        let values = |connected: &[Arc<ClusterSeries>]| -> Vec<_> {
            connected.iter().map(|series| connection(series, true, 2, &[])).collect()
        };
        let all = lines(values(&connected));
        let reachable = all.iter().filter(|line| line.starts_with("opgen_remote_cluster_reachable{")).count();
        assert_eq!(reachable, MAX_CLUSTERS + 1);
        for line in [
            "opgen_remote_cluster_reachable{kubeconfig=\"other\"} 1",
            "opgen_remote_cluster_requests_total{kubeconfig=\"other\",code=\"2xx\"} 2",
            "opgen_remote_cluster_objects{kubeconfig=\"other\"} 4",
        ] {
            assert!(all.iter().any(|other| other == line), "{line} is not in {all:#?}");
        }
        // The series `other` shows 0 if one of the clusters that it sums is unreachable.
        let mut one_is_unreachable = values(&connected);
        one_is_unreachable[MAX_CLUSTERS].is_reachable = false;
        let unreachable: Vec<_> = lines(one_is_unreachable)
            .into_iter()
            .filter(|line| line.starts_with("opgen_remote_cluster_reachable{") && line.ends_with(" 0"))
            .collect();
        assert_eq!(unreachable, ["opgen_remote_cluster_reachable{kubeconfig=\"other\"} 0"]);
        // The series of a dropped cluster end, so a new cluster gets series of its own. The counters of `other` do not decrease.
        drop(connected.remove(0));
        let new = series(MAX_CLUSTERS + 2);
        assert_eq!(new.kubeconfig, format!("teams/{}", MAX_CLUSTERS + 2));
        connected.push(new);
        let all = lines(values(&connected));
        assert!(!all.iter().any(|line| line.contains("teams/000")), "{all:#?}");
        assert!(all.contains(&"opgen_remote_cluster_requests_total{kubeconfig=\"other\",code=\"2xx\"} 2".to_owned()));
        assert_eq!(metrics.0.named.lock().len(), MAX_CLUSTERS);
        // A cluster that is connected again starts with counters of zero.
        drop(connected);
        let again = metrics.series("teams/001");
        assert_eq!((again.requests[0].get(), metrics.0.named.lock().len()), (0, 1));
        assert_eq!(lines(Vec::new()), Vec::<String>::new());
    }

    #[tokio::test]
    async fn a_request_counts_for_its_cluster_by_class_of_its_status_code() {
        let service = tower::service_fn(|request: Request<Body>| async move {
            let code = request.uri().path().trim_start_matches('/').parse::<u16>();
            let code = code.map_err(|_| kube::Error::Service("connection refused".into()))?;
            Ok::<_, kube::Error>(Response::builder().status(code).body(Body::empty()).unwrap())
        });
        let (own, series) = (CallMetrics::default(), ClusterMetrics::default().series("teams/blue"));
        let client = kube::Client::new(service, "default");
        let (home, remote) = (own.wrap(client.clone()), series.wrap(client));
        for path in ["/200", "/201", "/302", "/404", "/409", "/429", "/503", "/refused"] {
            // The result does not matter: a failed request counts as well.
            drop(remote.send(Request::get(path).body(Body::empty()).unwrap()).await);
        }
        home.send(Request::get("/200").body(Body::empty()).unwrap()).await.unwrap();
        let counted: Vec<_> = CODES.iter().zip(&series.requests).map(|(code, count)| (*code, count.get())).collect();
        assert_eq!(counted, [("2xx", 2), ("3xx", 1), ("4xx", 3), ("5xx", 1), ("<error>", 1)]);
        let own: Vec<_> = own.requests().into_iter().map(|((code, _), count)| (code, count)).collect();
        assert_eq!(own, [("200".to_owned(), 1)]);
    }
}

//! The metrics of the operator.

use std::{fmt, sync::Arc};

use ippool_api::NodeSlicePool;
use opgen::Lister;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeLabelSet, text},
    metrics::{MetricType, counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

/// The metrics that the operator serves at `/metrics`. Clones share the same metrics.
#[derive(Clone)]
pub struct Metrics(Arc<Figures>);

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Of {
    pool: String,
    namespace: String,
}

struct Figures {
    registry: Arc<Registry>,
    allocations: Family<Of, Gauge>,
    orphans: Family<Of, Counter>,
    reservations: Counter,
    passes: Counter,
    network_passes: Counter,
}

/// Nodes and slices of each NodeSlicePool at the time of a scrape, so that a deleted pool leaves no series behind.
#[derive(Debug)]
struct PoolsOfSlices(Lister<NodeSlicePool>);

impl Collector for PoolsOfSlices {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let counts = self.0.read(|pools| {
            let of_pool = |(namespace, name, pool): (&str, &str, &NodeSlicePool)| {
                let status = pool.status.clone().unwrap_or_default();
                (of(namespace, name), status.assigned_slices.into(), status.total_slices.into())
            };
            pools.iter().map(of_pool).collect::<Vec<(Of, i64, i64)>>()
        });
        // There are no series before the first list of the pools.
        encode_slices(encoder, &counts.unwrap_or_default())
    }
}

/// Encodes the nodes with a slice, and all slices, of each pool.
fn encode_slices(mut encoder: DescriptorEncoder<'_>, pools: &[(Of, i64, i64)]) -> fmt::Result {
    let name = "whereabouts_nodeslicepool_assigned_nodes";
    let mut family = encoder.encode_descriptor(name, "Nodes with a slice.", None, MetricType::Gauge)?;
    pools.iter().try_for_each(|(labels, nodes, _)| family.encode_family(labels)?.encode_gauge(nodes))?;
    let name = "whereabouts_nodeslicepool_slices_total";
    let mut family = encoder.encode_descriptor(name, "Slices of a pool.", None, MetricType::Gauge)?;
    pools.iter().try_for_each(|(labels, _, slices)| family.encode_family(labels)?.encode_gauge(slices))
}

fn of(namespace: &str, pool: &str) -> Of {
    Of { pool: pool.to_owned(), namespace: namespace.to_owned() }
}

impl Metrics {
    pub(crate) fn new(pools_of_slices: Lister<NodeSlicePool>) -> Self {
        let mut registry = Registry::default();
        let (allocations, orphans) = (Family::<Of, Gauge>::default(), Family::<Of, Counter>::default());
        let (reservations, passes, network_passes) = (Counter::default(), Counter::default(), Counter::default());
        registry.register("whereabouts_ippool_passes", "Passes over a pool", passes.clone());
        registry.register("whereabouts_ippool_allocations", "Allocations of a pool", allocations.clone());
        registry.register("whereabouts_ippool_orphans_cleaned", "Orphans freed in a pool", orphans.clone());
        let help = "Reservations deleted whose Pods are gone";
        registry.register("whereabouts_overlappingrange_reservations_cleaned", help, reservations.clone());
        registry.register("whereabouts_nodeslicepool_passes", "Passes over a network", network_passes.clone());
        registry.register_collector(Box::new(PoolsOfSlices(pools_of_slices)));
        let registry = Arc::new(registry);
        Self(Arc::new(Figures { registry, allocations, orphans, reservations, passes, network_passes }))
    }

    /// The registry of the metrics.
    pub fn registry(&self) -> Arc<Registry> {
        self.0.registry.clone()
    }

    /// All metrics in the text format of OpenMetrics.
    ///
    /// # Errors
    /// Fails if the encoder fails.
    pub fn text(&self) -> Result<String, fmt::Error> {
        let mut encoded = String::new();
        text::encode(&mut encoded, &self.0.registry)?;
        Ok(encoded)
    }

    /// The number of passes over pools.
    pub fn passes(&self) -> u64 {
        self.0.passes.get()
    }

    /// The number of passes over networks.
    pub fn network_passes(&self) -> u64 {
        self.0.network_passes.get()
    }

    pub(crate) fn passed(&self) {
        self.0.passes.inc();
    }

    pub(crate) fn passed_network(&self) {
        self.0.network_passes.inc();
    }

    pub(crate) fn allocations(&self, namespace: &str, pool: &str, count: usize) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.0.allocations.get_or_create(&of(namespace, pool)).set(count);
    }

    pub(crate) fn orphans_cleaned(&self, namespace: &str, pool: &str, count: usize) {
        self.0.orphans.get_or_create(&of(namespace, pool)).inc_by(u64::try_from(count).unwrap_or(u64::MAX));
    }

    pub(crate) fn reservation_cleaned(&self) {
        self.0.reservations.inc();
    }

    /// Removes the series of a deleted pool.
    pub(crate) fn drop_pool(&self, namespace: &str, pool: &str) {
        self.0.allocations.remove(&of(namespace, pool));
        self.0.orphans.remove(&of(namespace, pool));
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct OnePool;

    impl Collector for OnePool {
        fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
            encode_slices(encoder, &[(of("web", "slices"), 2, 4)])
        }
    }

    #[test]
    fn ippool_w6_figures_have_the_names_of_the_original() {
        let metrics = Metrics::new(Lister::default());
        metrics.allocations("web", "pool", 3);
        metrics.orphans_cleaned("web", "pool", 2);
        metrics.reservation_cleaned();
        let mut text = metrics.text().unwrap();
        assert!(!text.contains("slices_total{"), "no series without its pool");
        let mut registry = Registry::default();
        registry.register_collector(Box::new(OnePool));
        text::encode(&mut text, &registry).unwrap();
        for line in [
            r#"whereabouts_ippool_allocations{pool="pool",namespace="web"} 3"#,
            r#"whereabouts_ippool_orphans_cleaned_total{pool="pool",namespace="web"} 2"#,
            "whereabouts_overlappingrange_reservations_cleaned_total 1",
            r#"whereabouts_nodeslicepool_assigned_nodes{pool="slices",namespace="web"} 2"#,
            r#"whereabouts_nodeslicepool_slices_total{pool="slices",namespace="web"} 4"#,
        ] {
            assert!(text.lines().any(|said| said == line), "{line} is not in\n{text}");
        }
    }
}

//! The samples.

use platform_api::{Tier, TierSpec, Workload, WorkloadSpec};

/// The name of the tier.
const TIER: &str = "small";

/// A tier for small workloads.
pub fn tier() -> Tier {
    Tier::new(TIER, TierSpec { cpu: "100m".to_owned(), memory: "64Mi".to_owned(), max_replicas: 5 })
}

/// A workload with a route.
pub fn workload() -> Workload {
    let host = Some("books.example.com".to_owned());
    let (image, tier) = ("example.com/books:1".to_owned(), TIER.to_owned());
    Workload::new("books", WorkloadSpec { image, replicas: 2, port: 8080, host, tier })
}

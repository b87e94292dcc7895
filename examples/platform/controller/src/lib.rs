//! The controllers of platform: workloads whose objects are entries of a bucket in NATS.

mod sample;
mod tier;
mod workload;

use opgen::prelude::*;

use platform_api::{Route, Tier, Workload};

pub use sample::{tier as sample_tier, workload as sample_workload};
pub use tier::CurrentTier;
pub use workload::{Backend, WorkloadTree};

/// The operator that the binary runs. The manifests in `deploy/` are generated from it.
pub fn operator() -> Operator {
    Operator::new("platform")
        .version(env!("CARGO_PKG_VERSION"))
        .defines::<Route>()
        .defines::<Tier>()
        .controls_with::<Workload, WorkloadTree>(|controller| controller.sample(&sample_workload()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_yaml_in_deploy_is_up_to_date() {
        let drift = opgen::manifest::check(&operator(), "../deploy").map_err(|drift| drift.to_string());
        assert!(drift.is_ok(), "{}", drift.unwrap_err());
    }
}

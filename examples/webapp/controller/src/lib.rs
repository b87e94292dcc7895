//! The controllers of webapp.

mod webapp;

use opgen::prelude::*;

use webapp_api::WebApp;

pub use webapp::{WebAppTree, Workload};

/// The operator that the binary runs. The manifests in `deploy/` are generated from it.
pub fn operator() -> Operator {
    Operator::new("webapp").version(env!("CARGO_PKG_VERSION")).controls::<WebApp, WebAppTree>()
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

//! What the kinds of webapp are made of.

mod webapp;

use opgen::prelude::*;

use webapp_api::WebApp;

pub use webapp::{WebAppTree, Workload};

/// What the binary runs, and what the YAML in `deploy/` is generated from.
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

//! The controllers of shop.

mod sample;
mod shop;

use opgen::prelude::*;

use shop_api::Shop;

pub use sample::sample;
pub use shop::{Backend, Database, Foundation, Identity, ShopTree};

/// The operator that the binary runs. The manifests in `deploy/` are generated from it.
pub fn operator() -> Operator {
    Operator::new("shop")
        .version(env!("CARGO_PKG_VERSION"))
        .controls_with::<Shop, ShopTree>(|controller| controller.sample(&sample()))
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

//! The controllers of web-shop.

mod http_shop;

use opgen::prelude::*;

use web_shop_api::HTTPShop;

pub use http_shop::HTTPShopTree;

/// The operator that the binary runs. The manifests in `deploy/` are generated from it.
pub fn operator() -> Operator {
    Operator::new("web-shop").version(env!("CARGO_PKG_VERSION")).controls::<HTTPShop, HTTPShopTree>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_yaml_in_deploy_is_up_to_date() {
        let drift = opgen::manifest::check(&operator(), "../deploy").err().map(|drift| drift.to_string());
        assert!(drift.is_none(), "{}", drift.unwrap_or_default());
    }
}

//! What the kinds of shop are made of.

mod sample;
mod shop;

use opgen::prelude::*;

use shop_api::Shop;

pub use sample::sample;
pub use shop::{Backend, Database, Foundation, Identity, ShopTree};

/// What the binary runs, and what the YAML in `deploy/` is generated from.
pub fn operator() -> Operator {
    Operator::new("shop")
        .version(env!("CARGO_PKG_VERSION"))
        .controls_with::<Shop, ShopTree>(|controller| controller.sample(&sample()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use opgen::manifest::{self, Described as _};

    #[test]
    fn the_yaml_in_deploy_is_up_to_date() {
        let drift = manifest::check(&operator(), "../deploy").map_err(|drift| drift.to_string());
        assert!(drift.is_ok(), "{}", drift.unwrap_err());
    }

    #[test]
    fn the_readme_shows_the_tree() {
        let (readme, tree) = (include_str!("../../README.md"), manifest::tree(&operator().project().unwrap()));
        assert!(readme.contains(&tree), "this is not in README.md:\n{tree}");
    }
}

//! The controllers of demo.

mod widget;

use opgen::prelude::*;

use demo_api::Widget;

pub use widget::WidgetTree;

/// The operator that the binary runs. The manifests in `deploy/` are generated from it.
pub fn operator() -> Operator {
    Operator::new("demo").version(env!("CARGO_PKG_VERSION")).controls::<Widget, WidgetTree>()
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

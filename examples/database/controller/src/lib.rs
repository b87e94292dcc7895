//! The controllers of database.

mod database;
mod protection;

use opgen::prelude::*;

use database_api::database::v1::Database;

pub use database::DatabaseTree;
pub use protection::refuse_deletion;

/// The operator that the binary runs. The manifests in `deploy/` are generated from it.
pub fn operator() -> Operator {
    Operator::new("database")
        .version(env!("CARGO_PKG_VERSION"))
        .controls::<Database, DatabaseTree>()
        .validates_with(refuse_deletion, |webhook| webhook.operations([opgen::webhook::Operation::Delete]))
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

//! The objects of each example that are edited during an update.

use std::time::Duration;

use ippool_api::IPPool;
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use opgen_tests::{Plane, wait};
use serde_json::json;
use shop_api::Shop;

use super::super::leaders::{
    replicas::Operator,
    team::{COUNT, EDIT_PERIOD, available_fleet, edit_one, end_fleet},
};
use crate::{
    ippool::scene::{IPPOOL, installed, pool},
    operator::{
        example::{SHOP, WEBAPP},
        fleet::Fleet,
        owners::spec,
    },
    shop::shops::Shops,
};

/// The objects of an operator that are edited.
pub(super) trait Load: Sized {
    const OPERATOR: Operator;
    /// The resource that is edited.
    const EDITED: &str;
    /// The resource that the operator writes after an edit. The names of its objects start with that of the edited one.
    const WRITTEN: &str;
    /// The time between two edits.
    const PERIOD: Duration;

    /// Installs the operator.
    async fn install(plane: &Plane);

    /// Creates the objects, and waits until they are settled.
    async fn create(plane: &Plane) -> Self;

    /// Edits one of the objects.
    async fn edit(&self, number: usize);

    /// Waits until all objects are as their last edit says, then deletes them.
    async fn end(self);
}

/// WebApps with another greeting.
pub(super) struct WebApps(Fleet);

impl Load for WebApps {
    const OPERATOR: Operator = Operator { example: WEBAPP, arguments: &[] };
    const EDITED: &str = "webapps";
    const WRITTEN: &str = "configmaps";
    const PERIOD: Duration = EDIT_PERIOD;

    async fn install(plane: &Plane) {
        WEBAPP.install(plane).await;
    }

    async fn create(plane: &Plane) -> Self {
        Self(available_fleet(plane).await)
    }

    async fn edit(&self, number: usize) {
        edit_one(&self.0, number).await;
    }

    async fn end(self) {
        end_fleet(&self.0).await;
    }
}

/// Shops with another setting of their backend.
pub(super) struct ShopLoad(Shops);

impl Load for ShopLoad {
    const OPERATOR: Operator = Operator { example: SHOP, arguments: &[] };
    const EDITED: &str = "shops";
    const WRITTEN: &str = "configmaps";
    // Each edit rolls a Deployment.
    const PERIOD: Duration = Duration::from_millis(500);

    async fn install(plane: &Plane) {
        SHOP.install(plane).await;
    }

    async fn create(plane: &Plane) -> Self {
        let shops = Shops::new(plane, COUNT).await;
        shops.create(&shops.names).await;
        shops.complete().await;
        Self(shops)
    }

    async fn edit(&self, number: usize) {
        let name = &self.0.names[number % COUNT..][..1];
        let settings = json!({"backend": {"settings": {"edit": number.to_string()}}});
        self.0.patch::<Shop>(name, &spec(settings)).await;
    }

    async fn end(self) {
        self.0.change(json!({"backend": {"settings": {"edit": "at last"}}})).await;
        self.0.complete().await;
        self.0.delete::<Shop>(&self.0.names).await;
        let claims = self.0.api::<k8s_openapi::api::core::v1::PersistentVolumeClaim>();
        claims.delete_collection(&DeleteParams::default(), &Default::default()).await.unwrap();
        self.0.gone().await;
    }
}

/// Pools with another address of a Pod that does not exist. The operator frees it.
pub(super) struct Pools(Api<IPPool>);

impl Pools {
    fn name(number: usize) -> String {
        format!("pool-{}", number % COUNT)
    }

    /// Waits until no pool has an address of a Pod that does not exist.
    async fn are_free(&self) {
        wait::until("all addresses are free", wait::PATIENCE, async || {
            let pools = self.0.list(&Default::default()).await.map_err(|error| error.to_string())?.items;
            let held: usize = pools.iter().map(|pool| pool.spec.allocations.len()).sum();
            let has_status = pools.iter().all(|pool| pool.status.is_some());
            if held == 0 && has_status { Ok(()) } else { Err(format!("{held} are held")) }
        })
        .await;
    }
}

impl Load for Pools {
    const OPERATOR: Operator = Operator { example: IPPOOL, arguments: &["--interval=1s"] };
    const EDITED: &str = "ippools";
    const WRITTEN: &str = "ippools";
    const PERIOD: Duration = EDIT_PERIOD;

    async fn install(plane: &Plane) {
        installed(plane).await;
    }

    async fn create(plane: &Plane) -> Self {
        let pools = Self(Api::namespaced(plane.client(), &plane.namespace("pools").await));
        for number in 0..COUNT {
            pools.0.create(&PostParams::default(), &pool(&Self::name(number), &[])).await.unwrap();
        }
        pools.are_free().await;
        pools
    }

    async fn edit(&self, number: usize) {
        let key = (number / COUNT % 200 + 1).to_string();
        let allocation = json!({"id": format!("edit-{number}"), "podref": "default/never-there", "ifname": "eth0"});
        let patch = Patch::Merge(spec(json!({"allocations": {key: allocation}})));
        self.0.patch(&Self::name(number), &PatchParams::default(), &patch).await.unwrap();
    }

    async fn end(self) {
        self.are_free().await;
        self.0.delete_collection(&DeleteParams::default(), &Default::default()).await.unwrap();
        for number in 0..COUNT {
            wait::until_gone(&self.0, &Self::name(number)).await;
        }
    }
}

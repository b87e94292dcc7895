//! A node whose input changes in the pass that moves objects between nodes, so that it builds other objects than the pass expected.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use opgen::prelude::*;
use opgen_tests::Plane;
use serde_json::json;

use super::super::kinds::{SHOP, Shop, ShopSpec, done, entry, holding, shop};
use crate::operator::site::Site;

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct WithInput {
    #[provisioner(resource, when = |shop| !shop.spec.extra)]
    early: ConfigMap,
    #[provisioner(resource)]
    source: ConfigMap,
    #[provisioner(resource, from(source))]
    late: Vec<ConfigMap>,
}

impl WithInput {
    fn early(_: &Shop) -> ConfigMap {
        holding("moving", "")
    }

    fn source(shop: &Shop) -> ConfigMap {
        holding("source", &shop.spec.text)
    }

    /// Builds a ConfigMap with the name in the source. With `extra`, it takes over that of `early` while the name is `one`.
    fn late(shop: &Shop, source: &ConfigMap) -> Vec<ConfigMap> {
        let name = entry(source, "text").unwrap_or("none");
        let moving = (shop.spec.extra && name == "one").then_some("moving");
        [name].into_iter().chain(moving).map(|name| holding(name, "")).collect()
    }
}

pub(super) async fn deletes(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Shop, WithInput>()).await;
    site.create(&shop(ShopSpec { text: "one".to_owned(), ..ShopSpec::default() })).await;
    done(&site).await;
    // With the old source, `late` would take over the object of `early`, and keep its own one.
    site.patch::<Shop>(SHOP, &json!({"spec": {"text": "two", "extra": true}})).await;
    done(&site).await;
    let configs = site.api::<ConfigMap>();
    for (name, is_wanted) in [("two", true), ("one", false), ("moving", false)] {
        assert_eq!(configs.get_opt(name).await.unwrap().is_some(), is_wanted, "{name}");
    }
}

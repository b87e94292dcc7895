//! Children for items, found again by their keys.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt as _;
use libtest_mimic::Trial;
use opgen::prelude::*;
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use serde_json::json;

use super::kinds::{Pool, SHOP, Shop, ShopSpec, done, holding, says, shop, written};
use crate::operator::site::Site;

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("node_each_item_has_children_and_those_of_one_that_is_gone_go_also_after_a_restart", items),
        case("node_each_items_children_go_in_order_with_their_owner", in_order),
    ]
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct EachTree {
    #[provisioner(each = |shop| &shop.spec.pools, key = |pool| &pool.key)]
    pools: PoolTree,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Each<Shop, Pool>)]
struct PoolTree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource, from(config))]
    last: ConfigMap,
}

impl PoolTree {
    fn config(pool: &Pool) -> ConfigMap {
        holding(&pool.name, &pool.size.to_string())
    }

    fn last(pool: &Pool, config: &ConfigMap) -> ConfigMap {
        holding(&format!("{}-last", pool.name), &config.name_any())
    }
}

async fn items(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Shop, EachTree>();
    let mut running = site.start(&operator).await;
    let (slash, odd, plain) = (Pool::new("a/b", "slash"), Pool::new("x[1]%", "odd"), Pool::new("plain", "plain"));
    let pools = vec![slash.clone(), odd.clone(), plain.clone()];
    site.create(&shop(ShopSpec { pools, ..ShopSpec::default() })).await;
    done(&site).await;
    let configs = site.api::<ConfigMap>();
    let node = async |name: &str| configs.get(name).await.unwrap().annotations()["opgen.dev/node"].clone();
    assert_eq!(node("slash").await, "pools[a%2Fb]/config");
    assert_eq!(node("odd-last").await, "pools[x%5B1%5D%25]/last");

    let before = site.settled().await;
    site.patch::<Shop>(SHOP, &json!({"spec": {"pools": [slash, plain]}})).await;
    until_gone(&configs, "odd").await;
    done(&site).await;
    let writes = written(&site, &before).await.subresource("");
    let lines: Vec<_> = writes.iter().map(|entry| (entry.verb.as_str(), entry.name.as_str())).collect();
    assert_eq!(lines, [("delete", "odd-last"), ("delete", "odd")], "{writes}");

    running.signal();
    running.end().await.unwrap();
    site.patch::<Shop>(SHOP, &json!({"spec": {"pools": [Pool { size: 2, ..plain }]}})).await;
    let before = site.settled().await;
    let _running = site.run(&operator, Default::default()).await;
    until_gone(&configs, "slash").await;
    until_gone(&configs, "slash-last").await;
    done(&site).await;
    let writes = written(&site, &before).await.subresource("");
    let mut lines: Vec<_> = writes.iter().map(|entry| (entry.verb.as_str(), entry.name.as_str())).collect();
    lines.sort_unstable();
    assert_eq!(lines, [("delete", "slash"), ("delete", "slash-last"), ("patch", "plain")], "{writes}");
    assert!(site.asked().await.denied().is_empty());
}

/// Somebody holds an object that has to go first.
async fn in_order(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Shop, EachTree>()).await;
    let pools = vec![Pool::new("a/b", "one"), Pool::new("%", "two")];
    site.create(&shop(ShopSpec { pools, ..ShopSpec::default() })).await;
    done(&site).await;
    site.patch::<ConfigMap>("one-last", &json!({"metadata": {"finalizers": ["example.com/hold"]}})).await;
    site.delete::<Shop>(SHOP).await;
    let configs = site.api::<ConfigMap>();
    until_gone(&configs, "two").await;
    let sentence = says(&site, "WaitingFor").await;
    assert!(sentence.contains("pools[a%2Fb]/last"), "{sentence}");
    site.settled().await;
    until_object(&configs, "one", "waits for what came after it", |config| {
        config.metadata.deletion_timestamp.is_none()
    })
    .await;
    site.patch::<ConfigMap>("one-last", &json!({"metadata": {"finalizers": null}})).await;
    for name in ["one", "one-last", "two", "two-last"] {
        until_gone(&configs, name).await;
    }
    until_gone(&site.api::<Shop>(), SHOP).await;
}

//! Children that are wanted now and then.

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

use super::kinds::{SHOP, Shop, ShopSpec, done, entry, holding, says, shop};
use crate::operator::site::Site;

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("node_when_a_child_is_not_wanted_its_objects_go_before_later_nodes_run_and_come_again", comes_and_goes)]
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct WhenTree {
    #[provisioner(when = |shop| shop.spec.extra)]
    extra: ExtraTree,
    #[provisioner(resource)]
    last: ConfigMap,
}

impl WhenTree {
    fn last(shop: &Shop) -> ConfigMap {
        holding("last", &shop.spec.text)
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Shop)]
struct ExtraTree {
    #[provisioner(resource)]
    one: ConfigMap,
    #[provisioner(resource)]
    two: Vec<ConfigMap>,
}

impl ExtraTree {
    fn one(shop: &Shop) -> ConfigMap {
        holding("one", &shop.spec.text)
    }

    fn two(shop: &Shop) -> Vec<ConfigMap> {
        ["two", "three"].map(|name| holding(name, &shop.spec.text)).into()
    }
}

async fn comes_and_goes(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Shop, WhenTree>()).await;
    site.create(&shop(ShopSpec { text: "a".to_owned(), extra: true, ..ShopSpec::default() })).await;
    done(&site).await;
    let configs = site.api::<ConfigMap>();
    let first = configs.get("two").await.unwrap().uid();

    site.patch::<ConfigMap>("one", &json!({"metadata": {"finalizers": ["example.com/hold"]}})).await;
    site.patch::<Shop>(SHOP, &json!({"spec": {"extra": false, "text": "b"}})).await;
    for name in ["two", "three"] {
        until_gone(&configs, name).await;
    }
    let sentence = says(&site, "WaitingFor").await;
    assert_eq!(sentence, format!("extra/one: ConfigMap {}/one is being deleted", site.namespace));
    site.settled().await;
    assert_eq!(entry(&configs.get("last").await.unwrap(), "text"), Some("a"), "the next node has not waited");
    site.patch::<ConfigMap>("one", &json!({"metadata": {"finalizers": null}})).await;
    until_object(&configs, "last", "follows", |config| entry(config, "text") == Some("b")).await;
    assert!(configs.get_opt("one").await.unwrap().is_none());
    done(&site).await;

    site.patch::<Shop>(SHOP, &json!({"spec": {"extra": true}})).await;
    for name in ["one", "two", "three"] {
        until_object(&configs, name, "is made again", |config| entry(config, "text") == Some("b")).await;
    }
    done(&site).await;
    assert_ne!(configs.get("two").await.unwrap().uid(), first);
    let before = site.settled().await;
    site.patch::<Shop>(SHOP, &json!({"spec": {"extra": false}})).await;
    until_gone(&configs, "one").await;
    done(&site).await;
    let deleted = site.settled().await.since(&before).verb("delete");
    assert_eq!(deleted.len(), 3, "{deleted}");
}

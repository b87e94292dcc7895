//! Objects without lists, which are created by a POST and changed by merge patches.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use libtest_mimic::Trial;
use opgen::{Operator, RunOptions, prelude::*};
use opgen_tests::{Entry, Plane, case, wait::until_object};
use serde_json::{Value, json};

use super::kinds::{SHOP, Shop, ShopSpec, done, entry, holding, shop, written};
use crate::operator::site::Site;

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("node_plain_an_object_is_created_by_a_post_and_each_edit_of_it_is_one_patch", edited),
        case("node_plain_a_value_that_another_client_wrote_first_becomes_the_operators_too", shared),
        case("node_plain_an_object_that_gets_a_finalizer_is_applied_and_keeps_nothing_that_is_not_wanted", applied),
    ]
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct PlainTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl PlainTree {
    /// The pools are entries, and `extra` is a finalizer.
    fn config(shop: &Shop) -> ConfigMap {
        let mut config = holding("one", &shop.spec.text);
        let pools = shop.spec.pools.iter().map(|pool| (pool.key.clone(), pool.name.clone()));
        config.data.get_or_insert_default().extend(pools);
        config.metadata.finalizers = shop.spec.extra.then(|| vec!["example.com/hold".to_owned()]);
        config
    }
}

fn operator(site: &Site) -> Operator {
    site.operator().controls::<Shop, PlainTree>()
}

/// A patch of the shop's spec.
fn spec(spec: &Value) -> Value {
    json!({ "spec": spec })
}

fn pool(key: &str) -> Value {
    json!({"key": key, "name": key, "size": 1})
}

/// The verbs of the operator's writes of the object.
fn verbs(entries: &opgen_tests::Entries) -> Vec<String> {
    entries.resource("configmaps").iter().map(|entry: &Entry| entry.verb.clone()).collect()
}

async fn edited(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&operator(&site)).await;
    site.create(&shop(ShopSpec { text: "a".to_owned(), ..ShopSpec::default() })).await;
    done(&site).await;
    assert_eq!(verbs(&site.settled().await.writes()), ["create"]);
    let stranger = json!({"data": {"theirs": "1"}});
    site.patch::<ConfigMap>("one", &stranger).await;
    // Another value, another field, and one that is not wanted any more.
    let edits = [
        json!({"text": "b"}),
        json!({"pools": [pool("x"), pool("y")]}),
        json!({"pools": [pool("y")]}),
        json!({"pools": []}),
    ];
    for edit in edits {
        let before = site.settled().await;
        site.patch::<Shop>(SHOP, &spec(&edit)).await;
        done(&site).await;
        let writes = written(&site, &before).await;
        assert_eq!(verbs(&writes), ["patch"], "{edit}: {writes}");
    }
    let config = site.api::<ConfigMap>().get("one").await.unwrap();
    let data: Vec<_> = config.data.unwrap_or_default().into_iter().collect();
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(data, [pair("text", "b"), pair("theirs", "1")]);
    assert_eq!(config.metadata.owner_references.map(|owners| owners.len()), Some(1));
}

async fn shared(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let mut running = site.start(&operator(&site)).await;
    site.create(&shop(ShopSpec { text: "a".to_owned(), ..ShopSpec::default() })).await;
    done(&site).await;
    running.signal();
    running.end().await.unwrap();
    let rival = async |data: Value| {
        let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": data});
        let params = PatchParams::apply("rival").force();
        site.api::<ConfigMap>().patch("one", &params, &Patch::Apply(config)).await.unwrap();
    };
    rival(json!({"text": "b"})).await;
    site.patch::<Shop>(SHOP, &spec(&json!({"text": "b"}))).await;
    let _running = site.run(&operator(&site), RunOptions::default()).await;
    done(&site).await;
    let before = site.settled().await;
    rival(json!({})).await;
    site.patch::<Shop>(SHOP, &spec(&json!({"pools": [pool("x")]}))).await;
    until_object(&site.api::<ConfigMap>(), "one", "has the pool", |config| entry(config, "x") == Some("x")).await;
    done(&site).await;
    let config = site.api::<ConfigMap>().get("one").await.unwrap();
    assert_eq!(entry(&config, "text"), Some("b"), "the rival has taken it away");
    let writes = written(&site, &before).await;
    assert_eq!(verbs(&writes), ["patch"], "{writes}");
}

async fn applied(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&operator(&site)).await;
    let pools = vec![super::kinds::Pool::new("x", "x")];
    site.create(&shop(ShopSpec { text: "a".to_owned(), pools, ..ShopSpec::default() })).await;
    done(&site).await;
    site.patch::<Shop>(SHOP, &spec(&json!({"extra": true, "pools": []}))).await;
    let has_finalizer = |config: &ConfigMap| config.metadata.finalizers.is_some();
    let config = until_object(&site.api::<ConfigMap>(), "one", "has the finalizer", has_finalizer).await;
    done(&site).await;
    assert_eq!((entry(&config, "text"), entry(&config, "x")), (Some("a"), None));
    site.patch::<Shop>(SHOP, &spec(&json!({"extra": false, "text": "b"}))).await;
    let config =
        until_object(&site.api::<ConfigMap>(), "one", "follows", |config| entry(config, "text") == Some("b")).await;
    assert_eq!(config.metadata.finalizers, None);
}

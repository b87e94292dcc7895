//! Objects that move from one node of a tree to another: none of them is deleted on the way.

mod gate;
mod input;
mod lister;

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt as _;
use libtest_mimic::Trial;
use opgen::prelude::*;
use opgen_tests::{
    Entries, Plane, case,
    wait::{until_gone, until_object},
};
use serde_json::json;

use super::kinds::{Pool, SHOP, Shop, ShopSpec, done, entry, holding, named, shop, written};
use crate::operator::site::Site;

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("node_handover_a_renamed_node_keeps_its_object", renamed),
        case("node_handover_a_renamed_node_that_comes_after_others_keeps_its_object", renamed_and_moved),
        case("node_handover_two_nodes_that_alternate_keep_their_object", alternating),
        case("node_handover_an_item_with_another_key_keeps_its_objects", keyed_anew),
        case("node_handover_a_generated_secret_moves_with_its_content_and_its_marks", moved_secret),
        case("node_handover_resource_and_manifest_take_over_from_each_other", manifest),
        case("node_handover_an_object_stays_while_the_node_that_wants_it_waits_for_its_turn", gate::keeps),
        case("node_handover_an_object_that_no_node_wants_goes_after_the_outputs_are_known", gate::deletes),
        case(
            "node_handover_objects_that_a_changed_input_makes_unwanted_are_deleted_before_the_pass_succeeds",
            input::deletes,
        ),
        case("node_handover_an_object_stays_if_a_lister_gives_it_to_a_later_node_in_the_pass", lister::keeps),
    ]
}

/// What the operator has deleted since `before`.
async fn deleted(site: &Site, before: &Entries) -> Entries {
    site.settled().await.since(before).verb("delete")
}

/// Runs the first tree until all is as wanted, then the second one; the object keeps its uid and gets the mark of `node`.
async fn upgraded(site: &Site, first: Operator, second: Operator, node: &str) -> ConfigMap {
    let mut running = site.start(&first).await;
    site.create(&shop(ShopSpec { text: "a".to_owned(), ..ShopSpec::default() })).await;
    done(site).await;
    let configs = site.api::<ConfigMap>();
    let made = configs.get("kept").await.unwrap();
    running.signal();
    running.end().await.unwrap();

    let before = site.settled().await;
    let _running = site.start(&second).await;
    let is_marked = |config: &ConfigMap| config.annotations().get("opgen.dev/node").is_some_and(|by| by == node);
    let kept = until_object(&configs, "kept", &format!("has the mark of {node}"), is_marked).await;
    done(site).await;
    let deletions = deleted(site, &before).await;
    assert!(deletions.is_empty(), "{deletions}");
    assert_eq!(kept.uid(), made.uid());

    site.delete::<Shop>(SHOP).await;
    until_gone(&configs, "kept").await;
    until_gone(&site.api::<Shop>(), SHOP).await;
    kept
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct OldName {
    #[provisioner(resource)]
    old: ConfigMap,
}

impl OldName {
    fn old(_: &Shop) -> ConfigMap {
        holding("kept", "by the old node")
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop, retired(old: ConfigMap))]
struct NewName {
    #[provisioner(resource)]
    current: ConfigMap,
}

impl NewName {
    fn current(_: &Shop) -> ConfigMap {
        holding("kept", "by the new node")
    }
}

async fn renamed(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let (first, second) = (site.operator().controls::<Shop, OldName>(), site.operator().controls::<Shop, NewName>());
    let kept = upgraded(&site, first, second, "current").await;
    assert_eq!(entry(&kept, "text"), Some("by the new node"));
}

/// The group that has the retired node runs before the one that wants its object.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct Moved {
    former: Former,
    later: Later,
}

#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Shop, retired(old: ConfigMap))]
struct Former {
    #[provisioner(resource)]
    other: Secret,
}

impl Former {
    fn other(_: &Shop) -> Secret {
        Secret { metadata: named("other"), ..Secret::default() }
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct Later {
    #[provisioner(resource)]
    current: ConfigMap,
}

impl Later {
    fn current(_: &Shop) -> ConfigMap {
        holding("kept", "by the later node")
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct BeforeMoved {
    former: OldName,
}

async fn renamed_and_moved(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let (first, second) = (site.operator().controls::<Shop, BeforeMoved>(), site.operator().controls::<Shop, Moved>());
    upgraded(&site, first, second, "later/current").await;
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct Alternating {
    #[provisioner(resource, when = |shop| shop.spec.extra)]
    large: ConfigMap,
    #[provisioner(resource, when = |shop| !shop.spec.extra)]
    small: ConfigMap,
}

impl Alternating {
    fn large(shop: &Shop) -> ConfigMap {
        holding("size", &format!("large {}", shop.spec.text))
    }

    fn small(shop: &Shop) -> ConfigMap {
        holding("size", &format!("small {}", shop.spec.text))
    }
}

async fn alternating(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Shop, Alternating>()).await;
    site.create(&shop(ShopSpec { extra: true, ..ShopSpec::default() })).await;
    done(&site).await;
    let configs = site.api::<ConfigMap>();
    let uid = configs.get("size").await.unwrap().uid();
    let before = site.settled().await;
    for (extra, text) in [(false, "small 0"), (true, "large 1"), (false, "small 2")] {
        let number = text.split(' ').nth(1);
        site.patch::<Shop>(SHOP, &json!({"spec": {"extra": extra, "text": number}})).await;
        let size = until_object(&configs, "size", text, |size| entry(size, "text") == Some(text)).await;
        done(&site).await;
        assert_eq!(size.uid(), uid, "{text}");
    }
    let deletions = deleted(&site, &before).await;
    assert!(deletions.is_empty(), "{deletions}");
    site.delete::<Shop>(SHOP).await;
    until_gone(&configs, "size").await;
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct Pools {
    #[provisioner(each = |shop| &shop.spec.pools, key = |pool| &pool.key)]
    pools: PoolNodes,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Each<Shop, Pool>)]
struct PoolNodes {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource, from(config))]
    last: ConfigMap,
}

impl PoolNodes {
    fn config(pool: &Pool) -> ConfigMap {
        holding(&pool.name, &pool.size.to_string())
    }

    fn last(pool: &Pool, config: &ConfigMap) -> ConfigMap {
        holding(&format!("{}-last", pool.name), &config.name_any())
    }
}

async fn keyed_anew(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Shop, Pools>()).await;
    let pools = vec![Pool::new("a", "blue"), Pool::new("b", "green"), Pool::new("c", "red")];
    site.create(&shop(ShopSpec { pools, ..ShopSpec::default() })).await;
    done(&site).await;
    let configs = site.api::<ConfigMap>();
    let uids = async || {
        let mut uids = Vec::new();
        for name in ["blue", "blue-last", "green", "green-last"] {
            uids.push(configs.get(name).await.unwrap().uid());
        }
        uids
    };
    let made = uids().await;
    let before = site.settled().await;
    // One key changes, two items swap their keys, one goes.
    let pools = [Pool::new("b", "blue"), Pool::new("d", "green")];
    site.patch::<Shop>(SHOP, &json!({"spec": {"pools": pools}})).await;
    until_gone(&configs, "red").await;
    done(&site).await;
    assert_eq!(uids().await, made);
    let deletions = deleted(&site, &before).await;
    let lines: Vec<_> = deletions.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(lines, ["red-last", "red"], "{deletions}");
    site.delete::<Shop>(SHOP).await;
    for name in ["blue", "blue-last", "green", "green-last"] {
        until_gone(&configs, name).await;
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct SecretFirst {
    #[provisioner(resource(once))]
    password: Secret,
}

#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Shop, retired(password: Secret))]
struct SecretSecond {
    #[provisioner(resource(once))]
    database_password: Secret,
}

fn generated(draft: &Draft<'_, Shop>) -> Secret {
    let content = [("password".to_owned(), draft.random_text(32))];
    Secret { metadata: named("password"), string_data: Some(content.into()), ..Secret::default() }
}

impl SecretFirst {
    fn password(draft: &Draft<'_, Shop>) -> Secret {
        generated(draft)
    }
}

impl SecretSecond {
    fn database_password(draft: &Draft<'_, Shop>) -> Secret {
        generated(draft)
    }
}

async fn moved_secret(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let mut running = site.start(&site.operator().controls::<Shop, SecretFirst>()).await;
    site.create(&shop(ShopSpec::default())).await;
    done(&site).await;
    let secrets = site.api::<Secret>();
    let made = secrets.get("password").await.unwrap();
    running.signal();
    running.end().await.unwrap();

    let before = site.settled().await;
    let second = site.operator().controls::<Shop, SecretSecond>();
    let mut running = site.start(&second).await;
    let node = |secret: &Secret| secret.annotations().get("opgen.dev/node").cloned();
    let is_marked = |secret: &Secret| node(secret).as_deref() == Some("database_password");
    let kept = until_object(&secrets, "password", "has the mark of the new node", is_marked).await;
    done(&site).await;
    assert_eq!((kept.uid(), &kept.data), (made.uid(), &made.data));
    let deletions = deleted(&site, &before).await;
    assert!(deletions.is_empty(), "{deletions}");
    running.signal();
    running.end().await.unwrap();

    // Another process has nothing to write: the mark is stored with the object.
    let before = site.settled().await;
    let _running = site.run(&second, Default::default()).await;
    let writes = written(&site, &before).await;
    assert!(writes.is_empty(), "{writes}");
    site.delete::<Shop>(SHOP).await;
    until_gone(&secrets, "password").await;
    until_gone(&site.api::<Shop>(), SHOP).await;
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct Texts {
    #[provisioner(resource, when = |shop| shop.spec.extra)]
    object: ConfigMap,
    #[provisioner(manifest(ConfigMap))]
    text: Manifest,
    #[provisioner(manifest(ConfigMap), when = |shop| shop.spec.text == "last")]
    last: Manifest,
}

impl Texts {
    fn object(_: &Shop) -> ConfigMap {
        holding("kept", "object")
    }

    fn text(shop: &Shop) -> Manifest {
        match shop.spec.extra || shop.spec.text == "last" {
            true => String::new().into(),
            false => "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept}\ndata: {text: manifest}\n".into(),
        }
    }

    fn last(_: &Shop) -> Manifest {
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept}\ndata: {text: last}\n".into()
    }
}

async fn manifest(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Shop, Texts>()).await;
    site.create(&shop(ShopSpec { extra: true, ..ShopSpec::default() })).await;
    done(&site).await;
    let configs = site.api::<ConfigMap>();
    let uid = configs.get("kept").await.unwrap().uid();
    let before = site.settled().await;
    let courses = [(false, "", "manifest"), (false, "last", "last"), (false, "", "manifest"), (true, "", "object")];
    for (extra, spec, text) in courses {
        site.patch::<Shop>(SHOP, &json!({"spec": {"extra": extra, "text": spec}})).await;
        let kept = until_object(&configs, "kept", text, |kept| entry(kept, "text") == Some(text)).await;
        done(&site).await;
        assert_eq!(kept.uid(), uid, "{text}");
    }
    let deletions = deleted(&site, &before).await;
    assert!(deletions.is_empty(), "{deletions}");
    site.delete::<Shop>(SHOP).await;
    until_gone(&configs, "kept").await;
}

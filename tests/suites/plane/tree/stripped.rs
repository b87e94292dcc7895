//! Children that lose the label or the owner reference by which the operator finds them, before an edit makes them unwanted.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{DeleteParams, PropagationPolicy};
use libtest_mimic::Trial;
use opgen::{Operator, RunOptions, prelude::*};
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use serde_json::{Value, json};

use super::kinds::{Pool, SHOP, Shop, ShopSpec, done, holding, named, says, shop};
use crate::operator::site::{NAME, Site};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("node_a_child_that_lost_its_label_is_deleted_when_it_is_not_wanted_any_more", unlabelled_is_unwanted),
        case("node_a_child_that_lost_its_label_is_torn_down_in_its_turn", unlabelled_is_torn_down),
        case(
            "node_a_child_that_lost_its_owner_reference_is_deleted_when_it_is_not_wanted_any_more",
            unowned_is_unwanted,
        ),
        case("node_a_child_that_lost_its_owner_reference_is_torn_down_with_its_owner", unowned_is_torn_down),
        case("node_children_that_were_orphaned_while_no_operator_ran_stay", orphaned_stay),
        case("node_a_child_that_an_earlier_owner_has_left_is_not_taken_over", left_is_not_taken_over),
        case("node_a_copy_of_a_child_that_a_user_makes_stays", copy_stays),
        case("node_a_deleted_child_of_another_controllers_tree_fails_no_pass", other_tree),
    ]
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct GatedTree {
    /// The text `closed` keeps every pass from the nodes after it.
    #[provisioner(resource)]
    gate: ConfigMap,
    #[provisioner(resource)]
    pools: Vec<ConfigMap>,
    #[provisioner(resource)]
    last: ConfigMap,
}

impl GatedTree {
    fn gate(shop: &Shop) -> Result<ConfigMap> {
        match shop.spec.text.as_str() {
            "closed" => yield_because("Closed", "the gate is closed"),
            _ => Ok(holding("gate", "")),
        }
    }

    fn pools(shop: &Shop) -> Vec<ConfigMap> {
        shop.spec.pools.iter().map(|pool| holding(&pool.name, "")).collect()
    }

    fn last(_: &Shop) -> ConfigMap {
        holding("last", "")
    }
}

fn operator(site: &Site) -> Operator {
    site.operator().controls::<Shop, GatedTree>()
}

/// Creates a shop with the pools `a` and `b`, and waits until it is provisioned.
async fn create_shop(site: &Site) {
    let pools = ["a", "b"].map(|name| Pool::new(name, name)).into();
    site.create(&shop(ShopSpec { pools, ..ShopSpec::default() })).await;
    done(site).await;
}

/// A patch that removes the operator's label.
fn without_label() -> Value {
    json!({"metadata": {"labels": {"app.kubernetes.io/managed-by": null}}})
}

fn without_owner() -> Value {
    json!({"metadata": {"ownerReferences": null}})
}

/// A patch that leaves only the pool `b`.
fn only_b(text: &str) -> Value {
    json!({"spec": {"text": text, "pools": [{"key": "b", "name": "b", "size": 1}]}})
}

async fn unlabelled_is_unwanted(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&operator(&site)).await;
    create_shop(&site).await;
    site.patch::<Shop>(SHOP, &json!({"spec": {"text": "closed"}})).await;
    says(&site, "Closed").await;
    site.patch::<ConfigMap>("a", &without_label()).await;
    site.patch::<Shop>(SHOP, &only_b("closed")).await;
    site.settled().await;
    site.patch::<Shop>(SHOP, &only_b("open")).await;
    until_gone(&site.api::<ConfigMap>(), "a").await;
    done(&site).await;
}

async fn unlabelled_is_torn_down(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&operator(&site)).await;
    create_shop(&site).await;
    let configs = site.api::<ConfigMap>();
    site.patch::<ConfigMap>("last", &json!({"metadata": {"finalizers": ["example.com/hold"]}})).await;
    site.delete::<Shop>(SHOP).await;
    until_object(&configs, "last", "is being deleted", |config| config.metadata.deletion_timestamp.is_some()).await;
    site.patch::<ConfigMap>("a", &without_label()).await;
    let has_label = |config: &ConfigMap| {
        let labels = config.metadata.labels.iter().flatten();
        labels.into_iter().any(|(label, value)| label == "app.kubernetes.io/managed-by" && value == NAME)
    };
    until_object(&configs, "a", "has its label again", has_label).await;
    site.patch::<ConfigMap>("last", &json!({"metadata": {"finalizers": null}})).await;
    until_gone(&site.api::<Shop>(), SHOP).await;
    let deleted = site.settled().await.resource("configmaps").verb("delete");
    assert_eq!(deleted.len(), 4, "{deleted}");
}

async fn unowned_is_unwanted(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let mut running = site.start(&operator(&site)).await;
    create_shop(&site).await;
    running.signal();
    running.end().await.unwrap();
    for name in ["a", "b"] {
        site.patch::<ConfigMap>(name, &without_owner()).await;
    }
    site.patch::<Shop>(SHOP, &only_b("")).await;
    let _running = site.run(&operator(&site), RunOptions::default()).await;
    until_gone(&site.api::<ConfigMap>(), "a").await;
    let has_owner = |config: &ConfigMap| config.metadata.owner_references.is_some();
    until_object(&site.api::<ConfigMap>(), "b", "has its owner again", has_owner).await;
    done(&site).await;
}

async fn unowned_is_torn_down(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let mut running = site.start(&operator(&site)).await;
    create_shop(&site).await;
    running.signal();
    running.end().await.unwrap();
    site.patch::<ConfigMap>("a", &without_owner()).await;
    site.delete::<Shop>(SHOP).await;
    let _running = site.run(&operator(&site), RunOptions::default()).await;
    until_gone(&site.api::<Shop>(), SHOP).await;
    until_gone(&site.api::<ConfigMap>(), "a").await;
}

/// The children of a shop of which all nodes are provisioned.
const CHILDREN: [&str; 4] = ["gate", "a", "b", "last"];

/// Creates a shop and deletes it while no operator runs, so that only the garbage collector orphans its children. Returns when they
/// have no owner reference.
async fn orphan_children(site: &Site) {
    let mut running = site.start(&operator(site)).await;
    create_shop(site).await;
    running.signal();
    running.end().await.unwrap();
    let orphan = DeleteParams { propagation_policy: Some(PropagationPolicy::Orphan), ..DeleteParams::default() };
    site.api::<Shop>().delete(SHOP, &orphan).await.unwrap();
    for name in CHILDREN {
        let is_orphan = |config: &ConfigMap| config.metadata.owner_references.is_none();
        until_object(&site.api::<ConfigMap>(), name, "is an orphan", is_orphan).await;
    }
}

async fn orphaned_stay(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    orphan_children(&site).await;
    let _running = site.run(&operator(&site), RunOptions::default()).await;
    until_gone(&site.api::<Shop>(), SHOP).await;
    for name in CHILDREN {
        let config = site.api::<ConfigMap>().get(name).await.unwrap();
        assert_eq!(config.metadata.deletion_timestamp, None, "{name}");
    }
}

async fn left_is_not_taken_over(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    orphan_children(&site).await;
    let _running = site.run(&operator(&site), RunOptions::default()).await;
    until_gone(&site.api::<Shop>(), SHOP).await;
    let before = site.api::<ConfigMap>().get("gate").await.unwrap();
    site.create(&shop(ShopSpec::default())).await;
    let message = says(&site, "NotOwned").await;
    let expected = format!("ConfigMap {}/gate exists and belongs to the owner with the uid ", site.namespace);
    assert!(message.starts_with(&expected), "{message}");
    assert_eq!(site.api::<ConfigMap>().get("gate").await.unwrap(), before);
    // It stays when the later owner goes.
    site.delete::<Shop>(SHOP).await;
    until_gone(&site.api::<Shop>(), SHOP).await;
    assert_eq!(site.api::<ConfigMap>().get("gate").await.unwrap(), before);
}

async fn copy_stays(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&operator(&site)).await;
    create_shop(&site).await;
    let original = site.api::<ConfigMap>().get("a").await.unwrap();
    let before = site.settled().await;
    for (name, has_owner) in [("copy", true), ("backup", false)] {
        let mut copy = original.clone();
        copy.metadata.name = Some(name.to_owned());
        copy.metadata.resource_version = None;
        copy.metadata.uid = None;
        copy.metadata.owner_references = copy.metadata.owner_references.filter(|_| has_owner);
        site.create(&copy).await;
    }
    site.patch::<Shop>(SHOP, &only_b("open")).await;
    until_gone(&site.api::<ConfigMap>(), "a").await;
    done(&site).await;
    let deleted = site.settled().await.since(&before).verb("delete");
    assert_eq!(deleted.len(), 1, "{deleted}");
    for name in ["copy", "backup"] {
        assert!(site.api::<ConfigMap>().get_opt(name).await.unwrap().is_some(), "{name} is gone");
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct SecretTree {
    #[provisioner(resource)]
    token: Secret,
}

impl SecretTree {
    fn token(_: &Shop) -> Secret {
        Secret { metadata: named("token"), ..Secret::default() }
    }
}

/// Waits until the controller with the condition prefix `Second` has provisioned the latest spec.
async fn second_done(site: &Site) {
    let is_done = |shop: &Shop| {
        let mut conditions = shop.status.iter().flat_map(|status| &status.conditions);
        conditions.any(|condition| {
            condition.type_ == "SecondAvailable"
                && condition.reason == "Provisioned"
                && condition.observed_generation == shop.metadata.generation
        })
    };
    until_object(&site.api::<Shop>(), SHOP, "is provisioned by the second controller", is_done).await;
}

async fn other_tree(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let second = "shop.example.com/second";
    let operator =
        operator(&site).controls_with::<Shop, SecretTree>(|c| c.finalizer(second).condition_prefix("Second"));
    let _running = site.start(&operator).await;
    create_shop(&site).await;
    second_done(&site).await;
    let before = site.api::<ConfigMap>().get("a").await.unwrap().metadata.uid;
    site.delete::<ConfigMap>("a").await;
    until_object(&site.api::<ConfigMap>(), "a", "is created again", |config| config.metadata.uid != before).await;
    site.settled().await;
    site.patch::<Shop>(SHOP, &only_b("open")).await;
    until_gone(&site.api::<ConfigMap>(), "a").await;
    done(&site).await;
    second_done(&site).await;
}

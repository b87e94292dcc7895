//! Deletes objects in the foreground and in the background, by the option `delete` of their node.

mod orphan;

use std::sync::Arc;

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Pod},
};
use kube::{
    Api, Resource, ResourceExt as _,
    api::{ListParams, ObjectMeta, Patch, PatchParams, PostParams},
};
use libtest_mimic::Trial;
use opgen::prelude::*;
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use serde_json::json;

use super::kinds::{Pool, SHOP, Shop, ShopSpec, done, holding, shop};
use crate::operator::site::Site;

const FINALIZER: &str = "example.com/hold";

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("node_delete_foreground_the_next_node_of_a_teardown_waits_for_the_pods", after_pods),
        case("node_delete_background_the_next_node_of_a_teardown_does_not_wait_for_the_pods", before_pods),
        case("node_delete_foreground_objects_that_are_not_wanted_wait_for_their_dependents", not_wanted),
        case("node_delete_foreground_orphans_wait_for_their_dependents", orphan::collected),
    ]
}

/// Creates a dependent with a finalizer, so that the deletion of a ConfigMap in the foreground waits for [`release`].
pub(super) async fn hold(configs: &Api<ConfigMap>, name: &str) {
    let uid = configs.get(name).await.unwrap().uid();
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "blockOwnerDeletion": true});
    let name = dependent(name);
    let object = json!({"metadata": {"name": name, "finalizers": [FINALIZER], "ownerReferences": [owner]}});
    configs.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
}

fn dependent(name: &str) -> String {
    format!("{name}-dependent")
}

/// Waits until the deletion of a ConfigMap waits for its dependent.
pub(super) async fn is_held(configs: &Api<ConfigMap>, name: &str) {
    until_object(configs, name, "waits for its dependents", |config| is_in_foreground(&config.metadata)).await;
    let is_going = |config: &ConfigMap| config.meta().deletion_timestamp.is_some();
    until_object(configs, &dependent(name), "is being deleted", is_going).await;
}

fn is_in_foreground(metadata: &ObjectMeta) -> bool {
    let has_finalizer = |finalizers: &Vec<String>| finalizers.iter().any(|name| name == "foregroundDeletion");
    metadata.deletion_timestamp.is_some() && metadata.finalizers.as_ref().is_some_and(has_finalizer)
}

/// Lets the dependent of a ConfigMap go, and waits until both are gone.
pub(super) async fn release(configs: &Api<ConfigMap>, name: &str) {
    let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    configs.patch(&dependent(name), &PatchParams::default(), &patch).await.unwrap();
    until_gone(configs, &dependent(name)).await;
    until_gone(configs, name).await;
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct ForegroundTree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource(delete = "foreground"))]
    web: Deployment,
}

impl ForegroundTree {
    fn config(_: &Shop) -> ConfigMap {
        holding("config", "")
    }

    fn web(_: &Shop) -> Result<Deployment> {
        deployment()
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct BackgroundTree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource(delete = "background"))]
    web: Deployment,
}

impl BackgroundTree {
    fn config(_: &Shop) -> ConfigMap {
        holding("config", "")
    }

    fn web(_: &Shop) -> Result<Deployment> {
        deployment()
    }
}

fn deployment() -> Result<Deployment> {
    let labels = json!({"app": "web"});
    Ok(serde_json::from_value(json!({
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "web", "image": "web:1"}]},
            },
        },
    }))?)
}

/// Creates the shop, and deletes it while its Pod has a finalizer. Returns the name of the Pod.
async fn delete_with_held_pod(site: &Site) -> String {
    site.create(&shop(ShopSpec::default())).await;
    done(site).await;
    let pods = site.api::<Pod>().list(&ListParams::default()).await.unwrap().items;
    let [pod] = pods.as_slice() else { panic!("{pods:?}") };
    let pod = pod.name_any();
    site.patch::<Pod>(&pod, &json!({"metadata": {"finalizers": [FINALIZER]}})).await;
    site.delete::<Shop>(SHOP).await;
    pod
}

async fn after_pods(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Shop, ForegroundTree>()).await;
    let pod = delete_with_held_pod(&site).await;
    let is_going = |pod: &Pod| pod.metadata.deletion_timestamp.is_some();
    until_object(&site.api::<Pod>(), &pod, "is being deleted", is_going).await;
    let asked = site.settled().await.verb("delete");
    let deleted: Vec<_> = asked.iter().map(|entry| entry.resource.as_str()).collect();
    assert_eq!(deleted, ["deployments"], "{asked}");
    assert!(is_in_foreground(&site.api::<Deployment>().get("web").await.unwrap().metadata));
    let config = site.api::<ConfigMap>().get("config").await.unwrap();
    assert_eq!(config.metadata.deletion_timestamp, None, "it waits for the Deployment");

    site.patch::<Pod>(&pod, &json!({"metadata": {"finalizers": null}})).await;
    until_gone(&site.api::<Shop>(), SHOP).await;
    until_gone(&site.api::<Deployment>(), "web").await;
    until_gone(&site.api::<ConfigMap>(), "config").await;
}

async fn before_pods(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Shop, BackgroundTree>()).await;
    let pod = delete_with_held_pod(&site).await;
    until_gone(&site.api::<Shop>(), SHOP).await;
    until_gone(&site.api::<Deployment>(), "web").await;
    until_gone(&site.api::<ConfigMap>(), "config").await;
    site.patch::<Pod>(&pod, &json!({"metadata": {"finalizers": null}})).await;
    until_gone(&site.api::<Pod>(), &pod).await;
}

/// The node `note` may build any ConfigMap, since it reads another one. So the others are deleted at the end of a pass.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct ConfigTree {
    #[provisioner(resource)]
    base: ConfigMap,
    #[provisioner(each = |shop| &shop.spec.pools, key = |pool| &pool.key)]
    pools: PoolTree,
    #[provisioner(resource(once, delete = "foreground"), when = |shop| shop.spec.extra)]
    extra: ConfigMap,
    #[provisioner(resource, from(base))]
    note: ConfigMap,
}

impl ConfigTree {
    fn base(_: &Shop) -> ConfigMap {
        holding("base", "")
    }

    fn extra(_: &Shop) -> ConfigMap {
        holding("extra", "")
    }

    fn note(_: &Shop, base: &ConfigMap) -> ConfigMap {
        holding("note", &base.name_any())
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Each<Shop, Pool>)]
struct PoolTree {
    #[provisioner(resource(delete = "foreground"))]
    config: ConfigMap,
}

impl PoolTree {
    fn config(pool: &Pool) -> ConfigMap {
        holding(&pool.name, "")
    }
}

async fn not_wanted(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Shop, ConfigTree>()).await;
    let spec = ShopSpec { extra: true, pools: vec![Pool::new("a/b", "pool")], ..ShopSpec::default() };
    site.create(&shop(spec.clone())).await;
    done(&site).await;
    let configs = site.api::<ConfigMap>();
    hold(&configs, "extra").await;
    hold(&configs, "pool").await;
    site.patch::<Shop>(SHOP, &json!({"spec": {"extra": false, "pools": []}})).await;
    // The nodes delete one after the other.
    is_held(&configs, "pool").await;
    assert_eq!(configs.get("extra").await.unwrap().metadata.deletion_timestamp, None, "it waits for its sibling");
    release(&configs, "pool").await;
    is_held(&configs, "extra").await;
    release(&configs, "extra").await;
    done(&site).await;

    site.patch::<Shop>(SHOP, &json!({"spec": spec})).await;
    done(&site).await;
    for name in ["note", "extra", "pool"] {
        hold(&configs, name).await;
    }
    site.delete::<Shop>(SHOP).await;
    // Its node has no option, so it does not wait for its dependent.
    until_gone(&configs, "note").await;
    is_held(&configs, "extra").await;
    site.settled().await;
    assert_eq!(configs.get("pool").await.unwrap().metadata.deletion_timestamp, None, "it waits for its sibling");
    release(&configs, "extra").await;
    is_held(&configs, "pool").await;
    release(&configs, "pool").await;
    until_gone(&site.api::<Shop>(), SHOP).await;
    release(&configs, "note").await;
}

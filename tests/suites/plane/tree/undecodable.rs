//! The end of an owner that can't be read any more.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, CustomResource, CustomResourceExt as _,
    api::{ApiResource, DynamicObject},
};
use libtest_mimic::Trial;
use opgen::prelude::*;
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    delete::{hold, is_held, release},
    kinds::{Pool, holding},
};
use crate::operator::{
    install,
    site::{Running, Site},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("node_undecodable_owners_go_with_the_children_of_their_items", goes),
        case("node_undecodable_owners_delete_their_children_in_the_foreground_if_the_node_says_so", in_the_foreground),
    ]
}

/// Its definition lets anything pass.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "tree.example.com", version = "v1", kind = "Parcel", namespaced, status = "Status")]
pub(crate) struct ParcelSpec {
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pools: Vec<Pool>,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Parcel, retired(older: ConfigMap))]
struct ParcelTree {
    #[provisioner(each = |parcel| &parcel.spec.pools, key = |pool| &pool.key)]
    pools: PoolTree,
    #[provisioner(resource(delete = "foreground"))]
    config: ConfigMap,
}

impl ParcelTree {
    fn config(_: &Parcel) -> ConfigMap {
        holding("config", "")
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Each<Parcel, Pool>)]
struct PoolTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl PoolTree {
    fn config(pool: &Pool) -> ConfigMap {
        holding(&pool.name, "")
    }
}

/// Runs an operator with a parcel that has a child for each pool, and then a spec that does not decode.
async fn broken(plane: &Arc<Plane>, pools: Vec<Pool>) -> (Site, Running, Api<DynamicObject>) {
    let site = Site::new(plane).await;
    let operator = site.operator().controls::<Parcel, ParcelTree>();
    let mut definition = serde_json::to_value(<Parcel as kube::CustomResourceExt>::crd()).unwrap();
    let schema = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    schema["properties"]["spec"] = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    install::apply_quietly(plane, &definition.to_string()).await;
    plane.until_established(Parcel::crd_name()).await;
    site.grant(&operator).await;
    let running = site.run(&operator, Default::default()).await;
    let mut names: Vec<_> = pools.iter().map(|pool| pool.name.clone()).collect();
    names.push("config".to_owned());
    site.create(&Parcel::new("parcel", ParcelSpec { pools })).await;
    let configs = site.api::<ConfigMap>();
    for name in &names {
        until_object(&configs, name, "is there", |_| true).await;
    }
    let api: Api<DynamicObject> =
        Api::namespaced_with(plane.client(), &site.namespace, &ApiResource::erase::<Parcel>(&()));
    let broken = kube::api::Patch::Merge(json!({"spec": {"pools": "many"}}));
    api.patch("parcel", &Default::default(), &broken).await.unwrap();
    let is_said = |parcel: &DynamicObject| parcel.data["status"].to_string().contains("Undecodable");
    until_object(&api, "parcel", "says that it does not decode", is_said).await;
    (site, running, api)
}

async fn goes(plane: Arc<Plane>) {
    let (site, _running, api) = broken(&plane, vec![Pool::new("a/b", "one"), Pool::new("[", "two")]).await;
    api.delete("parcel", &Default::default()).await.unwrap();
    until_gone(&api, "parcel").await;
    // By the operator, and before their owner: the collector would come later.
    let mut deleted: Vec<_> = site.asked().await.verb("delete").iter().map(|entry| entry.name.clone()).collect();
    deleted.sort_unstable();
    assert_eq!(deleted, ["config", "one", "two"]);
    for name in ["one", "two", "config"] {
        assert!(site.api::<ConfigMap>().get_opt(name).await.unwrap().is_none(), "{name} is left");
    }
}

async fn in_the_foreground(plane: Arc<Plane>) {
    let (site, _running, api) = broken(&plane, vec![Pool::new("a", "one")]).await;
    let configs = site.api::<ConfigMap>();
    hold(&configs, "config").await;
    api.delete("parcel", &Default::default()).await.unwrap();
    is_held(&configs, "config").await;
    let asked = site.settled().await.verb("delete");
    assert_eq!(asked.len(), 1, "the other child waits: {asked}");
    release(&configs, "config").await;
    until_gone(&api, "parcel").await;
}

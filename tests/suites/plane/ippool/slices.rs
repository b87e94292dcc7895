//! Pools of slices: made for networks, divided among nodes.

use std::sync::Arc;

use ippool_api::{NetworkAttachmentDefinition, NodeSlicePool};
use k8s_openapi::api::core::v1::Node;
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use libtest_mimic::Trial;
use opgen_tests::{
    Options, Plane, case_on,
    wait::{until_gone, until_object},
};
use serde_json::{Value, json};

use super::scene::{NEVER, Scene};

pub(crate) fn cases() -> Vec<Trial> {
    // Without the node of the other cases.
    let alone = || Options { kubelet: false, ..Options::default() };
    vec![
        case_on("nodeslice_n1_nodes_that_come_and_go_and_their_heartbeats", alone(), nodes_come_and_go),
        case_on("nodeslice_n5_networks_share_a_pool_or_disagree", alone(), networks),
        case_on("nodeslice_n5_networks_of_two_namespaces_have_nothing_in_common", alone(), two_namespaces),
    ]
}

struct Estate {
    scene: Scene,
    nodes: Api<Node>,
}

impl Estate {
    async fn new(plane: &Arc<Plane>, nodes: &[&str]) -> Self {
        let estate = Self { scene: Scene::every(plane, NEVER).await, nodes: Api::all(plane.client()) };
        for node in nodes {
            estate.node(node).await;
        }
        estate
    }

    async fn node(&self, name: &str) {
        let node = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        self.nodes.create(&PostParams::default(), &node).await.unwrap();
    }

    async fn network(&self, name: &str, config: &Value) {
        let content = json!({"spec": {"config": config.to_string()}});
        self.scene.create(&NetworkAttachmentDefinition::new(name, content)).await;
    }

    /// Waits until the slices have these nodes, in this order.
    #[track_caller]
    fn assigned(&self, pool: &str, nodes: &[&str]) -> impl Future<Output = NodeSlicePool> {
        let (api, pool) = (self.scene.api::<NodeSlicePool>(), pool.to_owned());
        let nodes: Vec<_> = nodes.iter().map(|node| (*node).to_owned()).collect();
        async move {
            let fits = |pool: &NodeSlicePool| nodes_of(pool) == nodes;
            until_object(&api, &pool, &format!("is divided among {nodes:?}"), fits).await
        }
    }

    /// Waits until a condition of a pool is True for this reason.
    async fn is(&self, pool: &str, type_: &str, reason: &str) -> NodeSlicePool {
        let fits = |pool: &NodeSlicePool| {
            let mut conditions = pool.status.iter().flat_map(|status| &status.standard.conditions);
            conditions.any(|held| held.type_ == type_ && held.status == "True" && held.reason == reason)
        };
        until_object(&self.scene.api::<NodeSlicePool>(), pool, &format!("is {type_}: {reason}"), fits).await
    }
}

fn nodes_of(pool: &NodeSlicePool) -> Vec<&str> {
    pool.status.iter().flat_map(|status| &status.allocations).map(|slot| slot.node_name.as_str()).collect()
}

fn config(name: &str, range: &str) -> Value {
    json!({"name": name, "ipam": {"type": "whereabouts", "range": range, "node_slice_size": "/26"}})
}

async fn nodes_come_and_go(plane: Arc<Plane>) {
    let estate = Estate::new(&plane, &["b", "a"]).await;
    let scene = &estate.scene;
    estate.network("net", &config("net", "10.0.0.0/24")).await;
    let pool = estate.assigned("net", &["a", "b", "", ""]).await;
    let owners = pool.metadata.owner_references.unwrap();
    assert!(owners.len() == 1 && owners[0].controller == Some(true) && owners[0].name == "net", "{owners:?}");
    scene.told("net", "Created").await;
    estate.is("net", "Ready", "Reconciled").await;

    let before = scene.settled().await;
    for beat in 0..20 {
        let condition =
            json!({"type": "Ready", "status": "True", "reason": "KubeletReady", "message": format!("{beat}")});
        let patch = Patch::Merge(json!({"status": {"conditions": [condition]}}));
        estate.nodes.patch_status("a", &PatchParams::default(), &patch).await.unwrap();
    }
    let since = scene.settled().await.since(&before);
    assert!(since.is_empty(), "heartbeats: {since}");

    estate.node("c").await;
    estate.assigned("net", &["a", "b", "c", ""]).await;
    estate.nodes.delete("b", &DeleteParams::default()).await.unwrap();
    estate.assigned("net", &["a", "", "c", ""]).await;
    for node in ["d", "e", "f"] {
        estate.node(node).await;
    }
    let full = estate.is("net", "Stalled", "PoolFull").await;
    assert_eq!(nodes_of(&full), ["a", "d", "c", "e"]);
    assert!(scene.told("net", "PoolFull").await.contains("node f"));
    estate.nodes.delete("a", &DeleteParams::default()).await.unwrap();
    estate.is("net", "Ready", "Reconciled").await;
    estate.assigned("net", &["f", "d", "c", "e"]).await;

    let lost = Patch::Merge(json!({"status": null}));
    scene.api::<NodeSlicePool>().patch_status("net", &PatchParams::default(), &lost).await.unwrap();
    let pool = estate.assigned("net", &["c", "d", "e", "f"]).await;
    assert_eq!(pool.status.map(|status| (status.total_slices, status.assigned_slices)), Some((4, 4)));
    let assigned = scene.figure("whereabouts_nodeslicepool_assigned_nodes");
    assert!(assigned.len() == 1 && assigned[0].ends_with(" 4"), "{assigned:?}");

    // What is gone with its network leaves no figures.
    scene.delete::<NetworkAttachmentDefinition>("net").await;
    until_gone(&scene.api::<NodeSlicePool>(), "net").await;
    opgen_tests::wait::until("no figures are left", opgen_tests::wait::PATIENCE, async || {
        let mut left = scene.figure("whereabouts_nodeslicepool");
        left.retain(|figure| figure.contains('{'));
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    })
    .await;
}

async fn networks(plane: Arc<Plane>) {
    let estate = Estate::new(&plane, &["a"]).await;
    let scene = &estate.scene;
    estate.network("first", &config("shared", "10.0.0.0/24")).await;
    estate.is("shared", "Ready", "Reconciled").await;
    let plugins = json!({"name": "shared", "plugins": [{"type": "bridge"}, config("any", "10.0.0.0/24")]});
    estate.network("second", &plugins).await;
    let both = |pool: &NodeSlicePool| pool.metadata.owner_references.as_ref().is_some_and(|owners| owners.len() == 2);
    let pool = until_object(&scene.api::<NodeSlicePool>(), "shared", "has two owners", both).await;
    let owners = pool.metadata.owner_references.unwrap();
    let second = owners.iter().find(|owner| owner.name == "second").unwrap();
    assert_eq!(second.controller, None, "a plain one");

    estate.network("third", &config("shared", "10.1.0.0/24")).await;
    scene.told("third", "NetworkNameTaken").await;
    estate.network("broken", &json!(1)).await;
    scene.told("broken", "InvalidConfig").await;
    estate.network("uneven", &config("uneven", "10.0.0.1/24")).await;
    scene.told("uneven", "InvalidRange").await;
    let all = scene.api::<NodeSlicePool>().list(&Default::default()).await.unwrap().items;
    assert!(all.len() == 1 && all[0].spec.range == "10.0.0.0/24", "{all:?}");

    scene.delete::<NetworkAttachmentDefinition>("third").await;
    for network in ["first", "second"] {
        let wider = json!({"spec": {"config": config("shared", "10.2.0.0/24").to_string()}});
        scene.merge::<NetworkAttachmentDefinition>(network, &wider).await;
    }
    let pool = until_object(&scene.api::<NodeSlicePool>(), "shared", "is divided anew", |pool: &NodeSlicePool| {
        let slices = pool.status.iter().flat_map(|status| &status.allocations);
        pool.spec.range == "10.2.0.0/24" && slices.into_iter().any(|slot| slot.slice_range == "10.2.0.0/26")
    })
    .await;
    assert_eq!(nodes_of(&pool), ["a", "", "", ""]);
    let denied = scene.settled().await.denied();
    assert!(denied.is_empty(), "{denied}");
}

async fn two_namespaces(plane: Arc<Plane>) {
    let estate = Estate { scene: Scene::everywhere(&plane).await, nodes: Api::all(plane.client()) };
    estate.node("a").await;
    let other = plane.namespace("other").await;
    let content = json!({"spec": {"config": config("net", "10.9.0.0/24").to_string()}});
    let networks = Api::<NetworkAttachmentDefinition>::namespaced(plane.client(), &other);
    networks.create(&PostParams::default(), &NetworkAttachmentDefinition::new("net", content)).await.unwrap();
    estate.network("net", &config("net", "10.0.0.0/24")).await;
    let range = |range: &'static str| {
        move |pool: &NodeSlicePool| pool.spec.range == range && nodes_of(pool) == ["a", "", "", ""]
    };
    let elsewhere = Api::<NodeSlicePool>::namespaced(plane.client(), &other);
    until_object(&elsewhere, "net", "is divided", range("10.9.0.0/24")).await;
    until_object(&estate.scene.api::<NodeSlicePool>(), "net", "is divided", range("10.0.0.0/24")).await;
}

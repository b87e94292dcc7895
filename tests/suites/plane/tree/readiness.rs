//! Reports in the conditions of an owner why a child is not ready.

use std::sync::Arc;

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Pod, ResourceQuota},
};
use kube::api::ListParams;
use libtest_mimic::Trial;
use opgen::prelude::*;
use opgen_tests::{
    Plane, case,
    kubelet::ANNOTATION,
    wait::{self, PATIENCE, until_object},
};
use serde_json::{Value, json};

use super::kinds::{SHOP, Shop, ShopSpec, done, idle_pass, shop};
use crate::operator::{kinds::available, site::Site, tally::state_writes};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("node_pods_that_crash_are_said_of_the_owner_only_where_the_node_looks", crashing),
        case("node_pods_that_cannot_be_made_are_said_of_the_owner", not_made),
    ]
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct LookingTree {
    #[provisioner(resource(pods))]
    web: Deployment,
}

impl LookingTree {
    fn web(shop: &Shop) -> Result<Deployment> {
        deployment(&shop.spec.text)
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct PlainTree {
    #[provisioner(resource)]
    web: Deployment,
}

impl PlainTree {
    fn web(shop: &Shop) -> Result<Deployment> {
        deployment(&shop.spec.text)
    }
}

/// Returns a Deployment of two Pods with a scenario of `tests/sandbox/src/pod_status.rs`, for example `ready` or `crashing`.
pub(super) fn deployment(scenario: &str) -> Result<Deployment> {
    let labels = json!({"app": "web"});
    Ok(serde_json::from_value(json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels, "annotations": {ANNOTATION: scenario}},
                "spec": {"containers": [{"name": "web", "image": "web:1"}]},
            },
        },
    }))?)
}

pub(super) fn spec(scenario: &str) -> ShopSpec {
    ShopSpec { text: scenario.to_owned(), ..ShopSpec::default() }
}

/// Waits until the owner has the reason `WaitingFor` with this message.
async fn waits(site: &Site, sentence: &str) {
    let fits = |shop: &Shop| {
        available(shop.status.as_ref()).is_some_and(|(_, reason, said)| reason == "WaitingFor" && said == sentence)
    };
    until_object(&site.api::<Shop>(), SHOP, &format!("says `{sentence}`"), fits).await;
}

/// Sets the scenario of all Pods of the site.
pub(super) async fn set_scenarios(site: &Site, scenario: &str) {
    let patch = json!({"metadata": {"annotations": {ANNOTATION: scenario}}});
    for pod in site.api::<Pod>().list(&ListParams::default()).await.unwrap() {
        site.patch::<Pod>(pod.metadata.name.as_deref().unwrap_or_default(), &patch).await;
    }
}

async fn crashing(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let soon = std::time::Duration::from_millis(300);
    let operator = site.operator().controls_with::<Shop, LookingTree>(|controller| controller.requeue_after(soon));
    let mut running = site.start(&operator).await;
    site.create(&shop(spec("crashing"))).await;
    let place = format!("web: Deployment {}/web", site.namespace);
    let sentence = format!("{place}: container web is in CrashLoopBackOff");
    waits(&site, &sentence).await;
    // Between its crashes a container runs for a while. That is no news.
    let lists = async || site.asked().await.resource("pods").verb("list").len();
    let before = site.asked().await;
    for scenario in ["restarting", "crashing", "restarting"] {
        set_scenarios(&site, scenario).await;
        let (seen, what) = (lists().await, format!("two more looks at pods that are {scenario}"));
        wait::until(
            what,
            PATIENCE,
            async || {
                if lists().await >= seen + 2 { Ok(()) } else { Err("not yet".to_owned()) }
            },
        )
        .await;
    }
    let writes = state_writes(&site.asked().await.since(&before));
    assert!(writes.is_empty(), "{writes}");
    set_scenarios(&site, "pulling").await;
    waits(&site, &format!("{place}: container web is in ImagePullBackOff")).await;

    site.patch::<Shop>(SHOP, &json!({"spec": {"text": "ready"}})).await;
    done(&site).await;
    site.settled().await;
    let seen = lists().await;
    idle_pass(&site, json!({"extra": true})).await;
    assert_eq!(lists().await, seen, "pods of a workload that is ready are looked at");
    let limited = site.asked().await.resource("pods");
    assert_eq!(limited.len(), limited.namespace(&site.namespace).verb("list").len(), "{limited}");
    assert!(site.asked().await.denied().is_empty());

    running.signal();
    running.end().await.unwrap();
    let before = site.settled().await;
    let _running = site.start(&site.operator().controls::<Shop, PlainTree>()).await;
    site.patch::<Shop>(SHOP, &json!({"spec": {"text": "crashing"}})).await;
    waits(&site, &place).await;
    let asked = site.settled().await.since(&before).resource("pods");
    assert!(asked.is_empty(), "{asked}");
}

async fn not_made(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let quota: Value = json!({"metadata": {"name": "small"}, "spec": {"hard": {"pods": "1"}}});
    site.create(&serde_json::from_value::<ResourceQuota>(quota).unwrap()).await;
    let is_seen = |quota: &ResourceQuota| quota.status.as_ref().is_some_and(|status| status.hard.is_some());
    until_object(&site.api::<ResourceQuota>(), "small", "is seen", is_seen).await;
    let _running = site.start(&site.operator().controls::<Shop, PlainTree>()).await;
    site.create(&shop(spec("ready"))).await;
    let sentence = format!(
        "web: Deployment {}/web: its Pods cannot be created (FailedCreate): pods … is forbidden: exceeded quota: small, \
         requested: … used: … limited: …",
        site.namespace
    );
    waits(&site, &sentence).await;
    let unlimited = json!({"spec": {"hard": {"pods": "10"}}});
    site.patch::<ResourceQuota>("small", &unlimited).await;
    done(&site).await;
}

//! Objects that a node behind another one wants, whose output it reads.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt as _;
use opgen::prelude::*;
use opgen_tests::{
    Plane,
    wait::{until_gone, until_object},
};
use serde_json::json;

use super::{
    super::kinds::{SHOP, Shop, ShopSpec, done, entry, holding, says, shop},
    deleted,
};
use crate::operator::site::Site;

/// Waits until the shop says that it may go on.
#[derive(Debug, Provisioner)]
#[provisioner(access(), output = String)]
struct Gate;

impl Provision<Shop> for Gate {
    async fn provision(cx: &Context<'_, Shop, Self>) -> Result<()> {
        if cx.object().spec.text == "closed" {
            return yield_because("GateClosed", "the gate is closed");
        }
        cx.set_output(format!("through the gate: {}", cx.object().spec.text));
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Shop, Self>) -> Result<()> {
        Ok(())
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct Gated {
    #[provisioner(resource, when = |shop| shop.spec.extra)]
    before: ConfigMap,
    #[provisioner(resource, when = |shop| shop.spec.extra)]
    unwanted: ConfigMap,
    gate: Gate,
    #[provisioner(resource, when = |shop| !shop.spec.extra, from(gate))]
    after: ConfigMap,
}

impl Gated {
    fn before(_: &Shop) -> ConfigMap {
        holding("kept", "before the gate")
    }

    fn unwanted(_: &Shop) -> ConfigMap {
        holding("unwanted", "before the gate")
    }

    fn after(_: &Shop, text: &str) -> ConfigMap {
        holding("kept", text)
    }
}

pub(super) async fn keeps(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Shop, Gated>();
    let mut running = site.start(&operator).await;
    site.create(&shop(ShopSpec { extra: true, ..ShopSpec::default() })).await;
    done(&site).await;
    let configs = site.api::<ConfigMap>();
    let made = configs.get("kept").await.unwrap();

    let before = site.settled().await;
    site.patch::<Shop>(SHOP, &json!({"spec": {"extra": false, "text": "closed"}})).await;
    says(&site, "GateClosed").await;
    // Nobody knows yet what the node behind the gate wants, by this process or another one.
    running.signal();
    running.end().await.unwrap();
    let _running = site.run(&operator, Default::default()).await;
    says(&site, "GateClosed").await;
    let deletions = deleted(&site, &before).await;
    assert!(deletions.is_empty(), "{deletions}");

    site.patch::<Shop>(SHOP, &json!({"spec": {"text": "open"}})).await;
    let is_handed_over = |kept: &ConfigMap| entry(kept, "text") == Some("through the gate: open");
    let kept = until_object(&configs, "kept", "is handed over", is_handed_over).await;
    assert_eq!(kept.uid(), made.uid());
    until_gone(&configs, "unwanted").await;
    done(&site).await;
    let deletions = deleted(&site, &before).await;
    let lines: Vec<_> = deletions.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(lines, ["unwanted"], "{deletions}");
}

/// A node whose outputs come in the same pass is asked at the end of that pass: what it doesn't want goes, and what waits for
/// that says so.
pub(super) async fn deletes(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Shop, Gated>()).await;
    site.create(&shop(ShopSpec { extra: true, ..ShopSpec::default() })).await;
    done(&site).await;
    let configs = site.api::<ConfigMap>();
    site.patch::<ConfigMap>("unwanted", &json!({"metadata": {"finalizers": ["example.com/hold"]}})).await;
    site.patch::<Shop>(SHOP, &json!({"spec": {"extra": false}})).await;
    let sentence = says(&site, "WaitingFor").await;
    assert_eq!(sentence, format!("unwanted: ConfigMap {}/unwanted is being deleted", site.namespace));
    site.patch::<ConfigMap>("unwanted", &json!({"metadata": {"finalizers": null}})).await;
    until_gone(&configs, "unwanted").await;
    done(&site).await;
}

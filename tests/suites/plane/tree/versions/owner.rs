//! Owners whose operator speaks another version of their kind than before.

use std::sync::Arc;

use k8s_openapi::api::{autoscaling::v2 as autoscaling_v2, core::v1::ConfigMap};
use opgen::{RunOptions, prelude::*};
use opgen_tests::{
    Plane,
    wait::{until_gone, until_object},
};
use serde_json::json;

use super::{
    is_done,
    kinds::{define_type, v1, v2},
    scaler,
};
use crate::{
    operator::site::Site,
    tree::kinds::{entry, holding, written},
};

/// The tree of a stand in its first version.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = v1::Stand)]
struct OldStand {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource)]
    scaler: autoscaling_v2::HorizontalPodAutoscaler,
}

impl OldStand {
    fn config(stand: &v1::Stand) -> ConfigMap {
        holding("one", &stand.spec.text)
    }

    fn scaler(_: &v1::Stand) -> autoscaling_v2::HorizontalPodAutoscaler {
        scaler(false)
    }
}

/// The tree of a stand in its second version.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = v2::Stand)]
struct NewStand {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource)]
    scaler: autoscaling_v2::HorizontalPodAutoscaler,
}

impl NewStand {
    fn config(stand: &v2::Stand) -> ConfigMap {
        holding("one", &stand.spec.text)
    }

    fn scaler(_: &v2::Stand) -> autoscaling_v2::HorizontalPodAutoscaler {
        scaler(false)
    }
}

pub(super) async fn referenced(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    define_type::<v1::Stand>(&plane, "v1").await;
    let old = site.operator().controls::<v1::Stand, OldStand>();
    let new = site.operator().controls::<v2::Stand, NewStand>();
    site.grant(&old).await;
    let mut running = site.run(&old, RunOptions::default()).await;
    site.create(&v1::Stand::new("stand", v1::StandSpec { text: "a".to_owned() })).await;
    let stands = site.api::<v2::Stand>();
    let is_done = |stand: &v2::Stand| is_done(&stand.metadata, stand.status.as_ref());
    let created = until_object(&stands, "stand", "is done", is_done).await;
    let uids = async || {
        let config = site.api::<ConfigMap>().get("one").await.unwrap();
        let scaler = site.api::<autoscaling_v2::HorizontalPodAutoscaler>().get("scaler").await.unwrap();
        [config.metadata, scaler.metadata].map(|metadata| {
            let owners = metadata.owner_references.unwrap_or_default();
            assert_eq!(owners.len(), 1, "{owners:?}");
            assert_eq!(Some(&owners[0].uid), created.metadata.uid.as_ref());
            (metadata.uid.unwrap(), owners[0].api_version.clone())
        })
    };
    let first = uids().await;
    assert_eq!(first[0].1, "versions.example.com/v1");
    running.signal();
    running.end().await.unwrap();

    // The children are still its own. Their references get the new version by one write each, so that the garbage collector can
    // follow them when the old version is gone.
    let before = site.settled().await;
    let mut running = site.run(&new, RunOptions::default()).await;
    let is_renewed =
        |config: &ConfigMap| config.metadata.owner_references.as_ref().unwrap()[0].api_version.ends_with("/v2");
    until_object(&site.api::<ConfigMap>(), "one", "has the new version", is_renewed).await;
    let writes = written(&site, &before).await.with(|entry| entry.subresource != "status");
    assert_eq!(writes.len(), 2, "{writes}");
    let second = uids().await;
    for (old, new) in first.iter().zip(&second) {
        assert_eq!((&old.0, new.1.as_str()), (&new.0, "versions.example.com/v2"));
    }
    running.signal();
    running.end().await.unwrap();
    let before = site.settled().await;
    let _running = site.run(&new, RunOptions::default()).await;
    let writes = written(&site, &before).await.with(|entry| entry.subresource != "status");
    assert!(writes.is_empty(), "{writes}");

    // A stranger names the owner in the old version again, and the change reaches the owner's queue.
    let mut reference =
        json!({"apiVersion": "versions.example.com/v1", "kind": "Stand", "name": "stand", "controller": true});
    reference["uid"] = created.metadata.uid.clone().into();
    let patch = json!({"metadata": {"ownerReferences": [reference]}, "data": {"text": "edited"}});
    site.patch::<ConfigMap>("one", &patch).await;
    until_object(&site.api::<ConfigMap>(), "one", "is repaired", |config| entry(config, "text") == Some("a")).await;
    site.settled().await;
    assert_eq!(uids().await, second);
    site.delete::<v1::Stand>("stand").await;
    until_gone(&stands, "stand").await;
    until_gone(&site.api::<ConfigMap>(), "one").await;
    let asked = site.asked().await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
}

/// The server shows each object in both versions, so each controller has all objects.
pub(super) async fn controlled_twice(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    site.grant(&site.operator().controls::<v1::Stand, OldStand>()).await;
    let operator = site.operator().controls::<v1::Stand, OldStand>().controls::<v2::Stand, NewStand>();
    let refused = site.run(&operator, RunOptions::default()).await.end().await.unwrap_err();
    let why = "two controllers of Stand write the condition Available of the same objects; give one of them a \
               `condition_prefix`, or each a selection that excludes the other's";
    assert_eq!(refused.to_string(), why);
}

//! Children whose nodes speak another version of their kind than before, or than the server stores.

use std::{collections::BTreeSet, sync::Arc};

use k8s_openapi::api::{
    autoscaling::{v1 as autoscaling_v1, v2 as autoscaling_v2},
    core::v1::ConfigMap,
};
use kube::api::{ObjectMeta, Patch, PatchParams};
use opgen::{RunOptions, prelude::*};
use opgen_tests::{
    Plane,
    wait::{until_gone, until_object},
};
use serde_json::{Value, json};

use super::{
    AUTOSCALERS, applied_versions, dynamic, is_done,
    kinds::{GROUP, define, define_type, v1, v2},
    object, scaler, spoken_versions,
};
use crate::{
    operator::site::Site,
    tree::kinds::{Shop, ShopSpec, done, entry, holding, idle_pass, shop, written},
};

/// A tree whose children are in the first version of their kinds.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct OldTree {
    #[provisioner(resource)]
    scaler: autoscaling_v1::HorizontalPodAutoscaler,
    #[provisioner(resource)]
    ledger: v1::Ledger,
    #[provisioner(resource, from(scaler))]
    config: ConfigMap,
}

impl OldTree {
    fn scaler(shop: &Shop) -> autoscaling_v1::HorizontalPodAutoscaler {
        scaler(shop.spec.extra)
    }

    fn ledger(shop: &Shop) -> v1::Ledger {
        v1::Ledger::new("ledger", ledger(shop))
    }

    fn config(_: &Shop, scaler: &autoscaling_v1::HorizontalPodAutoscaler) -> ConfigMap {
        holding("one", &scaler.spec.max_replicas.to_string())
    }
}

/// The same tree with the second version of these kinds.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct NewTree {
    #[provisioner(resource)]
    scaler: autoscaling_v2::HorizontalPodAutoscaler,
    #[provisioner(resource)]
    ledger: v2::Ledger,
    #[provisioner(resource, from(scaler))]
    config: ConfigMap,
}

impl NewTree {
    fn scaler(shop: &Shop) -> autoscaling_v2::HorizontalPodAutoscaler {
        scaler(shop.spec.extra)
    }

    fn ledger(shop: &Shop) -> v2::Ledger {
        v2::Ledger::new("ledger", ledger(shop))
    }

    fn config(_: &Shop, scaler: &autoscaling_v2::HorizontalPodAutoscaler) -> ConfigMap {
        holding("one", &scaler.spec.max_replicas.to_string())
    }
}

fn ledger(shop: &Shop) -> Value {
    json!({"spec": {"text": shop.spec.text, "lines": [{"a": 1}]}})
}

pub(super) async fn bumped(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    define(&plane, "Ledger", "ledgers", "v1").await;
    let (old, new) = (site.operator().controls::<Shop, OldTree>(), site.operator().controls::<Shop, NewTree>());
    let mut running = site.start(&old).await;
    site.create(&shop(ShopSpec { text: "a".to_owned(), ..ShopSpec::default() })).await;
    done(&site).await;
    let mut before = site.settled().await;
    // There and back: each is a bump of the version alone.
    for operator in [&new, &old, &new] {
        running.signal();
        running.end().await.unwrap();
        running = site.run(operator, RunOptions::default()).await;
        idle_pass(&site, json!({"pools": []})).await;
        let writes = written(&site, &before).await;
        assert!(writes.with(|entry| entry.subresource != "status").is_empty(), "{writes}");
        before = site.settled().await;
    }

    // A digest of an earlier release had the version in it, so it leads to one write, and the objects stay.
    running.signal();
    running.end().await.unwrap();
    let autoscalers = site.api::<autoscaling_v1::HorizontalPodAutoscaler>();
    let first = autoscalers.get("scaler").await.unwrap().metadata;
    let mark = |metadata: &ObjectMeta| metadata.annotations.as_ref().unwrap()["opgen.dev/applied"].clone();
    let applied = mark(&first);
    let (_, rest) = applied.split_once('/').unwrap();
    let earlier =
        json!({"metadata": {"annotations": {"opgen.dev/applied": format!("00112233445566778899aabb/{rest}")}}});
    let own = PatchParams { field_manager: Some("live".to_owned()), ..PatchParams::default() };
    autoscalers.patch("scaler", &own, &Patch::Merge(earlier)).await.unwrap();
    let _running = site.run(&new, RunOptions::default()).await;
    let is_marked = |scaler: &autoscaling_v1::HorizontalPodAutoscaler| mark(&scaler.metadata) == applied;
    until_object(&autoscalers, "scaler", "has the digest of this release", is_marked).await;
    let writes = written(&site, &before).await.with(|entry| entry.subresource != "status");
    let verbs: Vec<_> = writes.iter().map(|entry| (entry.verb.as_str(), entry.name.as_str())).collect();
    assert_eq!(verbs, [("patch", "scaler")], "{writes}");
    assert_eq!(autoscalers.get("scaler").await.unwrap().metadata.uid, first.uid);
    before = site.settled().await;

    // A change is written once and in the new version, and the apply of the old one owns nothing any more.
    site.patch::<Shop>("shop", &json!({"spec": {"text": "b", "extra": true}})).await;
    done(&site).await;
    let writes = written(&site, &before).await;
    for plural in [AUTOSCALERS, "ledgers"] {
        let of_kind = writes.resource(plural);
        assert_eq!(of_kind.len(), 1, "{writes}");
        assert_eq!(spoken_versions(&of_kind), BTreeSet::from(["v2".to_owned()]));
    }
    let config = site.api::<ConfigMap>().get("one").await.unwrap();
    assert_eq!(entry(&config, "text"), Some("9"));
    let ledger = object(&site, "versions.example.com/v1", "Ledger", "ledgers", "ledger").await;
    assert_eq!(
        (&ledger.data["spec"]["text"], applied_versions(&ledger)),
        (&json!("b"), vec!["versions.example.com/v2"])
    );
    let autoscaler = object(&site, "autoscaling/v1", "HorizontalPodAutoscaler", AUTOSCALERS, "scaler").await;
    assert_eq!(
        (&autoscaler.data["spec"]["maxReplicas"], applied_versions(&autoscaler)),
        (&json!(9), vec!["autoscaling/v2"])
    );

    // An edit in the old version is repaired, and the objects are the operator's to delete.
    let edit = Patch::Merge(json!({"spec": {"maxReplicas": 7}}));
    autoscalers.patch("scaler", &PatchParams::default(), &edit).await.unwrap();
    let is_large = |scaler: &autoscaling_v1::HorizontalPodAutoscaler| scaler.spec.max_replicas == 9;
    until_object(&autoscalers, "scaler", "is repaired", is_large).await;
    site.delete::<Shop>("shop").await;
    until_gone(&site.api::<Shop>(), "shop").await;
    until_gone(&autoscalers, "scaler").await;
    until_gone(&dynamic(&site, "versions.example.com/v2", "Ledger", "ledgers"), "ledger").await;
    let asked = site.asked().await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
}

/// The tree of a booth: a child of a kind that the server stores in another version, too.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = v1::Booth)]
struct BoothTree {
    #[provisioner(resource)]
    awning: v1::Awning,
    #[provisioner(resource)]
    others: Vec<v1::Awning>,
    #[provisioner(resource, from(awning))]
    config: ConfigMap,
}

impl BoothTree {
    fn awning(booth: &v1::Booth) -> v1::Awning {
        v1::Awning::new("awning", json!({"spec": {"text": booth.spec.text}}))
    }

    fn others(booth: &v1::Booth) -> Vec<v1::Awning> {
        booth.spec.names.iter().map(|name| v1::Awning::new(name, json!({"spec": {"of": "booth"}}))).collect()
    }

    fn config(_: &v1::Booth, awning: &v1::Awning) -> ConfigMap {
        holding("one", awning.content["spec"]["text"].as_str().unwrap_or_default())
    }
}

pub(super) async fn stored(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    define(&plane, "Awning", "awnings", "v2").await;
    define_type::<v1::Booth>(&plane, "v2").await;
    let operator = site.operator().controls::<v1::Booth, BoothTree>();
    site.grant(&operator).await;
    let mut running = site.run(&operator, RunOptions::default()).await;
    site.create(&v1::Booth::new("booth", v1::BoothSpec { text: "a".to_owned(), names: vec!["x".to_owned()] })).await;
    let booths = site.api::<v1::Booth>();
    let is_done = |booth: &v1::Booth| is_done(&booth.metadata, booth.status.as_ref());
    until_object(&booths, "booth", "is done", is_done).await;
    let mut before = site.settled().await;
    running.signal();
    running.end().await.unwrap();
    let _running = site.run(&operator, RunOptions::default()).await;
    let writes = written(&site, &before).await;
    assert!(writes.is_empty(), "{writes}");

    // Each edit is one write, whether by the user or by a stranger, who writes in the stored version.
    before = site.settled().await;
    site.patch::<v1::Booth>("booth", &json!({"spec": {"text": "b", "names": []}})).await;
    let configs = site.api::<ConfigMap>();
    until_object(&configs, "one", "follows", |config| entry(config, "text") == Some("b")).await;
    until_object(&booths, "booth", "is done", is_done).await;
    let awnings = dynamic(&site, "versions.example.com/v2", "Awning", "awnings");
    until_gone(&awnings, "x").await;
    let writes = written(&site, &before).await.resource("awnings");
    let verbs: BTreeSet<_> = writes.iter().map(|entry| (entry.verb.as_str(), entry.name.as_str())).collect();
    assert_eq!((verbs, writes.len()), (BTreeSet::from([("patch", "awning"), ("delete", "x")]), 2), "{writes}");
    before = site.settled().await;
    let edit = Patch::Merge(json!({"spec": {"text": "edited"}}));
    awnings.patch("awning", &PatchParams::default(), &edit).await.unwrap();
    until_object(&awnings, "awning", "is repaired", |awning| awning.data["spec"]["text"] == "b").await;
    let writes = written(&site, &before).await.resource("awnings");
    assert_eq!(writes.len(), 1, "{writes}");
    let asked = site.asked().await;
    let own = asked.group(GROUP);
    assert_eq!(spoken_versions(&own), BTreeSet::from(["v1".to_owned()]), "{own}");
    site.delete::<v1::Booth>("booth").await;
    until_gone(&booths, "booth").await;
    until_gone(&awnings, "awning").await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
}

//! What is named by its labels.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::LabelSelector};
use kube::{
    Api, CustomResource,
    api::{ObjectMeta, PostParams},
};
use libtest_mimic::Trial;
use opgen::prelude::*;
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::kinds::{Net, NetSpec, NetTree, is_held_by};
use crate::operator::{
    kinds::available,
    site::{Running, Site},
    tally::state_writes,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("reference_by_labels_all_that_match_are_held_waited_for_and_let_go_when_they_cease_to", follows),
        case("reference_by_labels_that_nothing_has_waits_for_nothing_and_by_none_for_all_of_the_namespace", extremes),
        case("reference_by_labels_is_not_to_what_is_deleted_and_keeps_what_it_has", deleting),
        case("reference_by_labels_that_make_no_sense_waits_for_somebody_to_mend_them", faulty),
    ]
}

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "reference.example.com", version = "v1", kind = "Hall", plural = "halls", namespaced, status = "Status")]
struct HallSpec {
    #[serde(default)]
    #[managed(reference = Net)]
    #[schemars(schema_with = "opgen::reference::label_selector")]
    nets: Option<LabelSelector>,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Hall)]
struct HallTree {
    #[provisioner(resource)]
    plan: ConfigMap,
}

impl HallTree {
    fn plan(_: &Hall) -> ConfigMap {
        ConfigMap::default()
    }
}

async fn start(site: &Site) -> Running {
    site.start(&site.operator().controls::<Hall, HallTree>().controls::<Net, NetTree>()).await
}

fn labels(tier: &str) -> BTreeMap<String, String> {
    [("tier".to_owned(), tier.to_owned())].into()
}

fn net(name: &str, up: bool, tier: &str) -> Net {
    let metadata = ObjectMeta { name: Some(name.to_owned()), labels: Some(labels(tier)), ..ObjectMeta::default() };
    Net { metadata, spec: NetSpec { up }, status: None }
}

async fn hall(site: &Site, nets: Value) {
    let hall = json!({"metadata": {"name": "hall"}, "spec": {"nets": nets}});
    site.create::<Hall>(&serde_json::from_value(hall).unwrap()).await;
}

async fn says(site: &Site, reason: &str) -> String {
    let fits = |hall: &Hall| {
        let observed = hall.status.as_ref().and_then(|status| status.observed_generation);
        observed == hall.metadata.generation
            && available(hall.status.as_ref()).is_some_and(|(_, said, _)| said == reason)
    };
    let hall = until_object(&site.api::<Hall>(), "hall", &format!("says {reason}"), fits).await;
    available(hall.status.as_ref()).map(|(_, _, sentence)| sentence.to_owned()).unwrap_or_default()
}

/// Waits until the hall holds just these of the nets.
async fn holds(site: &Site, held: &[&str], free: &[&str]) {
    let reference = format!("halls.reference.example.com/reference_{}_hall", site.namespace);
    for name in held {
        is_held_by(site, name, &[&reference]).await;
    }
    for name in free {
        is_held_by(site, name, &[]).await;
    }
}

async fn follows(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    for (name, up, tier) in [("a", true, "front"), ("b", false, "front"), ("c", true, "back")] {
        site.create(&net(name, up, tier)).await;
    }
    hall(&site, json!({"matchLabels": {"tier": "front"}})).await;
    let sentence = says(&site, "ReferenceNotReady").await;
    assert!(sentence.starts_with(&format!("spec.nets: Net {}/b: ", site.namespace)), "{sentence}");
    holds(&site, &["a", "b"], &["c"]).await;
    assert!(site.api::<ConfigMap>().get_opt("hall").await.unwrap().is_none(), "the tree has not waited");

    let woken = tokio::time::Instant::now();
    site.patch::<Net>("b", &json!({"spec": {"up": true}})).await;
    says(&site, "Provisioned").await;
    assert!(woken.elapsed() < opgen::controller::DEFAULT_REQUEUE, "it was polled, not woken");
    // What begins to match, what ceases to, and what comes.
    let woken = tokio::time::Instant::now();
    site.patch::<Net>("c", &json!({"metadata": {"labels": labels("front")}})).await;
    holds(&site, &["a", "b", "c"], &[]).await;
    assert!(woken.elapsed() < opgen::controller::DEFAULT_REQUEUE, "it was polled, not woken");
    site.patch::<Net>("a", &json!({"metadata": {"labels": labels("back")}})).await;
    holds(&site, &["b", "c"], &["a"]).await;
    site.create(&net("d", false, "front")).await;
    says(&site, "ReferenceNotReady").await;
    holds(&site, &["b", "c", "d"], &["a"]).await;

    let before = site.settled().await;
    site.patch::<Net>("b", &json!({"metadata": {"labels": {"other": "yes"}}})).await;
    let since = state_writes(&site.settled().await.since(&before)).with(|entry| entry.resource != "halls");
    assert!(since.is_empty(), "{since}");
    site.delete::<Hall>("hall").await;
    until_gone(&site.api::<Hall>(), "hall").await;
    holds(&site, &[], &["a", "b", "c", "d"]).await;
    let asked = site.settled().await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
}

async fn extremes(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let elsewhere = plane.namespace("elsewhere").await;
    let _running = start(&site).await;
    hall(&site, json!({"matchLabels": {"tier": "nowhere"}})).await;
    says(&site, "Provisioned").await;
    for name in ["a", "b"] {
        site.create(&net(name, true, name)).await;
    }
    let far = Api::<Net>::namespaced(plane.client(), &elsewhere);
    far.create(&PostParams::default(), &net("far", true, "a")).await.unwrap();
    site.patch::<Hall>("hall", &json!({"spec": {"nets": {"matchLabels": null}}})).await;
    holds(&site, &["a", "b"], &[]).await;
    says(&site, "Provisioned").await;
    site.patch::<Hall>("hall", &json!({"spec": {"nets": null}})).await;
    holds(&site, &[], &["a", "b"]).await;
    let far = far.get("far").await.unwrap();
    assert_eq!(far.metadata.finalizers.unwrap_or_default(), [""; 0]);
}

async fn deleting(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    site.create(&net("held", true, "front")).await;
    hall(&site, json!({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["back"]}]})).await;
    says(&site, "Provisioned").await;
    holds(&site, &["held"], &[]).await;
    // One that is on its way when it is seen first is none of those that are meant.
    let mut ending = net("ending", true, "back");
    ending.metadata.finalizers = Some(vec!["example.com/hold".to_owned()]);
    site.create(&ending).await;
    site.delete::<Net>("ending").await;
    site.patch::<Net>("ending", &json!({"metadata": {"labels": labels("front")}})).await;
    site.delete::<Net>("held").await;
    let waits = |net: &Net| available(net.status.as_ref()).is_some_and(|(_, reason, _)| reason == "Referenced");
    until_object(&site.api::<Net>(), "held", "waits for the hall", waits).await;
    holds(&site, &["held"], &["ending"]).await;
    says(&site, "Provisioned").await;
    let woken = tokio::time::Instant::now();
    site.patch::<Net>("held", &json!({"metadata": {"labels": labels("back")}})).await;
    until_gone(&site.api::<Net>(), "held").await;
    assert!(woken.elapsed() < opgen::controller::DEFAULT_REQUEUE, "it was polled, not woken");
    site.patch::<Net>("ending", &json!({"metadata": {"finalizers": null}})).await;
    let refused = site.settled().await.code(422);
    assert!(refused.is_empty(), "{refused}");
}

async fn faulty(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    site.create(&net("a", true, "front")).await;
    hall(&site, json!({"matchLabels": {"tier": "front"}})).await;
    holds(&site, &["a"], &[]).await;
    let without = json!([{"key": "tier", "operator": "In"}]);
    site.patch::<Hall>("hall", &json!({"spec": {"nets": {"matchExpressions": without}}})).await;
    let sentence = says(&site, "InvalidSelector").await;
    assert_eq!(sentence, "spec.nets: `In` of label `tier` needs values");
    // What can't be read lets go of nothing.
    holds(&site, &["a"], &[]).await;
    site.patch::<Hall>("hall", &json!({"spec": {"nets": {"matchExpressions": null}}})).await;
    says(&site, "Provisioned").await;
    holds(&site, &["a"], &[]).await;
}

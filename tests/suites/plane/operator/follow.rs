//! A controller that follows another kind by a function, with a reconciler where a tree would stand.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResource, ResourceExt as _, api::ObjectMeta};
use libtest_mimic::Trial;
use opgen::{Enqueue, NamespacedName, prelude::*};
use opgen_tests::{Plane, case, wait::until_object};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{right, site::Site};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("watch_a_mapped_object_wakes_those_it_names_when_it_comes_changes_and_goes", mapped),
        case("watch_all_objects_of_a_kind_fan_in_to_one_key", fan_in),
    ]
}

/// Says what the ConfigMaps hold that are meant for it.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "follow.example.com", version = "v1", kind = "Digest", namespaced, status = "DigestStatus")]
struct DigestSpec {
    /// Whether all of the namespace are meant.
    #[serde(default)]
    all: bool,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
struct DigestStatus {
    text: Option<String>,
    #[serde(flatten)]
    standard: Status,
}

/// A reconciler: no tree, the same context.
#[derive(Debug, Provisioner)]
#[provisioner(access(ConfigMap: list))]
struct Reconciler;

impl Provision<Digest> for Reconciler {
    async fn provision(cx: &Context<'_, Digest, Self>) -> Result<()> {
        let (own, all) = (cx.object().name_any(), cx.object().spec.all);
        let configs = cx.list::<ConfigMap>("").await?;
        let meant = configs.iter().filter(|config| all || meant_for(config).iter().any(|name| name.name == own));
        let meant = meant.filter(|config| config.name_any() != "kube-root-ca.crt");
        let texts = meant.filter_map(|config| config.data.as_ref()?.get("text").cloned());
        let text = texts.collect::<Vec<_>>().join(" ");
        cx.status(|status| status.text = Some(text));
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Digest, Self>) -> Result<()> {
        Ok(())
    }
}

const MEANT_FOR: &str = "follow.example.com/digests";

fn meant_for(config: &ConfigMap) -> Vec<NamespacedName> {
    let names = config.annotations().get(MEANT_FOR).map(|names| names.split(',')).into_iter().flatten();
    names.map(|name| NamespacedName { name: name.to_owned(), namespace: None }).collect()
}

fn config(name: &str, text: &str, digests: &str) -> ConfigMap {
    let annotations = Some([(MEANT_FOR.to_owned(), digests.to_owned())].into());
    let metadata = ObjectMeta { name: Some(name.to_owned()), annotations, ..ObjectMeta::default() };
    ConfigMap { metadata, data: Some([("text".to_owned(), text.to_owned())].into()), ..ConfigMap::default() }
}

async fn says(site: &Site, digest: &str, text: &str) {
    let fits = |digest: &Digest| digest.status.as_ref().is_some_and(|status| status.text.as_deref() == Some(text));
    until_object(&site.api::<Digest>(), digest, &format!("says {text:?}"), fits).await;
}

async fn mapped(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls_with::<Digest, Reconciler>(|c| c.watches(Enqueue::map(meant_for)));
    let running = site.start(&operator).await;
    for name in ["a", "b"] {
        site.create(&Digest::new(name, DigestSpec::default())).await;
    }
    site.create(&config("one", "1", "a,b")).await;
    site.create(&config("two", "2", "b")).await;
    says(&site, "a", "1").await;
    says(&site, "b", "1 2").await;
    site.patch::<ConfigMap>("two", &json!({"data": {"text": "22"}})).await;
    says(&site, "b", "1 22").await;
    // Whom it named before is told, too.
    site.patch::<ConfigMap>("one", &json!({"metadata": {"annotations": {MEANT_FOR: "a"}}})).await;
    says(&site, "b", "22").await;
    site.delete::<ConfigMap>("one").await;
    says(&site, "a", "").await;

    let before = site.settled().await;
    site.create(&config("stranger", "0", "nobody")).await;
    let asked = site.settled().await.since(&before);
    assert!(asked.is_empty(), "a change that concerns nobody has led to\n{asked}");
    // One that goes while nobody looks.
    drop(running);
    site.delete::<ConfigMap>("two").await;
    let _running = site.run(&operator, opgen::RunOptions::default()).await;
    says(&site, "b", "").await;

    let asked = site.settled().await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
    let granted = right::granted_in(&plane, &site.namespace, super::site::NAME).await;
    let used = right::used(&asked);
    let unused: Vec<_> = granted.difference(&used).map(ToString::to_string).collect();
    assert!(unused.iter().all(|right| right.starts_with("events.k8s.io/")), "{unused:?}");
}

async fn fan_in(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let one_for_all = |_: &ConfigMap| Some(NamespacedName { name: "all".into(), namespace: None });
    let operator = site.operator().controls_with::<Digest, Reconciler>(|c| c.watches(Enqueue::map(one_for_all)));
    let _running = site.start(&operator).await;
    site.create(&Digest::new("all", DigestSpec { all: true })).await;
    for (name, text) in [("one", "1"), ("two", "2"), ("three", "3")] {
        site.create(&config(name, text, "")).await;
    }
    says(&site, "all", "1 3 2").await;
    site.delete::<ConfigMap>("two").await;
    says(&site, "all", "1 3").await;
}

//! What is named belongs to another operator: one of opgen's, or one that knows nothing of it.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    CustomResource, ResourceExt as _,
    api::{Patch, PatchParams},
};
use libtest_mimic::Trial;
use opgen::{Operator, RunOptions, prelude::*};
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::kinds::{Desk, DeskTree, Net, NetTree, desk, held_by, net, says};
use crate::operator::{
    install,
    kinds::available,
    site::{NAME, Site},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("reference_to_a_kind_of_another_operator_is_kept_and_let_go_by_both", of_another_operator),
        case("reference_to_a_kind_without_types_waits_for_its_conditions_and_holds_it", without_types),
    ]
}

/// Two operators in one namespace, of which one names what the other controls.
async fn of_another_operator(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let desks = site.operator().controls::<Desk, DeskTree>();
    let nets = Operator::new("nets").namespace(&site.namespace).namespaced().controls::<Net, NetTree>();
    for operator in [&desks, &nets] {
        site.install(operator).await;
    }
    let _desks = site.run(&desks, RunOptions::default()).await;
    let account = plane.service_account(&site.namespace, "nets").await;
    let running = Site::run_with(&nets, account.client(), RunOptions::default());
    net(&site, "blue", false).await;
    let down = |net: &Net| available(net.status.as_ref()).is_some_and(|(is, _, _)| is == "False");
    until_object(&site.api::<Net>(), "blue", "is down", down).await;
    site.create(&desk("a", "blue")).await;
    let sentence = says(&site, "a", "ReferenceNotReady").await;
    assert!(sentence.starts_with(&format!("spec.net: Net {}/blue: ", site.namespace)), "{sentence}");
    held_by(&site, "blue", &["a"]).await;
    site.patch::<Net>("blue", &json!({"spec": {"up": true}})).await;
    says(&site, "a", "Provisioned").await;

    site.delete::<Net>("blue").await;
    let waits = |net: &Net| available(net.status.as_ref()).is_some_and(|(_, reason, _)| reason == "Referenced");
    until_object(&site.api::<Net>(), "blue", "waits for the desk", waits).await;
    let woken = tokio::time::Instant::now();
    site.delete::<Desk>("a").await;
    until_gone(&site.api::<Net>(), "blue").await;
    assert!(woken.elapsed() < opgen::controller::DEFAULT_REQUEUE, "it was polled, not woken");
    drop(running);
    for name in [NAME, "nets"] {
        let denied = plane.audit().await.by_account(&site.namespace, name).denied();
        assert!(denied.is_empty(), "{denied}");
    }
}

opgen::dynamic_kind! {
    /// Of a project that has nothing to do with opgen, and for which there are no types.
    pub(crate) Cable: "strangers.example.org/v1", "cables", namespaced;
}

pub(super) fn cables() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "cables.strangers.example.org"},
        "spec": {
            "group": "strangers.example.org", "scope": "Namespaced",
            "names": {"kind": "Cable", "plural": "cables", "singular": "cable"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
}

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "reference.example.com", version = "v1", kind = "Plug", namespaced, status = "Status")]
struct PlugSpec {
    #[managed(reference = Cable)]
    cable: String,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Plug)]
struct PlugTree {
    #[provisioner(resource)]
    socket: ConfigMap,
}

impl PlugTree {
    fn socket(_: &Plug) -> ConfigMap {
        ConfigMap::default()
    }
}

/// By the rules of kstatus: what has a false condition or has not been seen is waited for.
async fn without_types(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    install::apply_quietly(&plane, &cables().to_string()).await;
    plane.until_established("cables.strangers.example.org").await;
    let _running = site.start(&site.operator().controls::<Plug, PlugTree>()).await;
    let cable = site.create(&Cable::new("blue", json!({"spec": {"length": 3}}))).await;
    let status = async |generation: i64, ready: &str| {
        let ready = json!({
            "type": "Ready", "status": ready, "reason": "Checked", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
        });
        let patch = json!({"status": {"observedGeneration": generation, "conditions": [ready]}});
        site.api::<Cable>().patch_status("blue", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    };
    let generation = cable.metadata.generation.unwrap();
    status(generation, "False").await;
    let plug = Plug::new("a", PlugSpec { cable: "blue".to_owned() });
    site.create(&plug).await;
    let not_ready = format!("spec.cable: Cable {}/blue: it is not Ready (Checked)", site.namespace);
    said(&site, "ReferenceNotReady", &not_ready).await;
    let woken = tokio::time::Instant::now();
    status(generation, "True").await;
    said(&site, "Provisioned", "").await;
    assert!(woken.elapsed() < opgen::controller::DEFAULT_REQUEUE, "it was polled, not woken");
    site.patch::<Cable>("blue", &json!({"spec": {"length": 4}})).await;
    let unseen =
        format!("spec.cable: Cable {}/blue: its controller has not observed the latest change", site.namespace);
    said(&site, "ReferenceNotReady", &unseen).await;
    status(generation + 1, "True").await;
    said(&site, "Provisioned", "").await;

    site.delete::<Cable>("blue").await;
    let reference = format!("plugs.reference.example.com/reference_{}_a", site.namespace);
    let held =
        |cable: &Cable| cable.metadata.deletion_timestamp.is_some() && cable.finalizers() == [reference.as_str()];
    until_object(&site.api::<Cable>(), "blue", "is held by the plug alone", held).await;
    site.delete::<Plug>("a").await;
    until_gone(&site.api::<Cable>(), "blue").await;
    let asked = site.settled().await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
}

/// Waits until the plug says so; an empty sentence is any.
async fn said(site: &Site, reason: &str, sentence: &str) {
    let fits = |plug: &Plug| {
        available(plug.status.as_ref())
            .is_some_and(|(_, said, why)| said == reason && (sentence.is_empty() || why == sentence))
    };
    until_object(&site.api::<Plug>(), "a", &format!("says {reason}: {sentence}"), fits).await;
}

//! What is no longer named is let go, and what is named can't go.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, PostParams},
};
use libtest_mimic::Trial;
use opgen::{NamespacedName, RunOptions, reference::ALLOW_FROM};
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use serde_json::json;

use super::kinds::{Desk, Net, NetSpec, desk, held_by, net, operator, says, start};
use crate::operator::{kinds::available, site::Site};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("reference_ref8_a_reference_moves_with_the_field_and_goes_with_the_object", moves),
        case("loop_r10_what_is_named_is_not_torn_down_says_by_whom_and_goes_at_once_when_let_go", blocks),
        case("reference_ref7_that_what_was_named_is_gone_already_is_no_error", gone_already),
        case("reference_ref14_desks_of_one_name_in_two_namespaces_hold_apart", apart),
        case("reference_ref15_references_of_an_object_that_vanished_are_released", vanished),
    ]
}

async fn moves(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    for name in ["blue", "green"] {
        net(&site, name, true).await;
    }
    for name in ["a", "b"] {
        site.create(&desk(name, "blue")).await;
        says(&site, name, "Provisioned").await;
    }
    held_by(&site, "blue", &["a", "b"]).await;
    site.patch::<Desk>("a", &json!({"spec": {"net": "green"}})).await;
    says(&site, "a", "Provisioned").await;
    held_by(&site, "green", &["a"]).await;
    held_by(&site, "blue", &["b"]).await;

    // Until the new one can be had, the old one is held.
    site.patch::<Desk>("a", &json!({"spec": {"net": "red"}})).await;
    says(&site, "a", "ReferenceMissing").await;
    held_by(&site, "green", &["a"]).await;

    site.delete::<Desk>("a").await;
    until_gone(&site.api::<Desk>(), "a").await;
    held_by(&site, "green", &[]).await;
    held_by(&site, "blue", &["b"]).await;
    assert!(site.api::<ConfigMap>().get_opt("a").await.unwrap().is_none());
}

async fn blocks(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    net(&site, "blue", true).await;
    site.create(&desk("a", "blue")).await;
    says(&site, "a", "Provisioned").await;
    site.delete::<Net>("blue").await;
    let said = |net: &Net| available(net.status.as_ref()).is_some_and(|(_, reason, _)| reason == "Referenced");
    let held = until_object(&site.api::<Net>(), "blue", "says that it is named", said).await;
    let sentence = available(held.status.as_ref()).map(|(_, _, sentence)| sentence.to_owned());
    let by = format!("it is referenced by desks.reference.example.com {}/a", site.namespace);
    assert_eq!(sentence, Some(by));
    // What holds a net that is to go is not disturbed by that.
    says(&site, "a", "Provisioned").await;

    let woken = tokio::time::Instant::now();
    site.delete::<Desk>("a").await;
    until_gone(&site.api::<Net>(), "blue").await;
    assert!(woken.elapsed() < opgen::controller::DEFAULT_REQUEUE, "it was polled, not woken");
}

async fn gone_already(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    net(&site, "blue", true).await;
    site.create(&desk("a", "blue")).await;
    says(&site, "a", "Provisioned").await;
    site.delete::<Net>("blue").await;
    site.patch::<Net>("blue", &json!({"metadata": {"finalizers": null}})).await;
    until_gone(&site.api::<Net>(), "blue").await;
    says(&site, "a", "ReferenceMissing").await;
    site.delete::<Desk>("a").await;
    until_gone(&site.api::<Desk>(), "a").await;
}

/// Of the objects of all namespaces, those of one case.
const OURS: [(&str, &str); 1] = [("case", "apart")];

async fn apart(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let elsewhere = plane.namespace("elsewhere").await;
    // One operator for both, since a net may be named from another namespace.
    let all = Site::new(&plane).await;
    let both = opgen::Operator::new("both")
        .namespace(&all.namespace)
        .controls_with::<Desk, super::kinds::DeskTree>(|c| c.labels(OURS))
        .controls_with::<Net, super::kinds::NetTree>(|c| c.labels(OURS));
    crate::operator::install::definitions(&plane, &both).await;
    let _running = Site::run_with(&both, plane.client(), RunOptions::default());
    let ours = || Some(OURS.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    let mut blue = Net::new("blue", NetSpec { up: true });
    blue.metadata.labels = ours();
    blue.metadata.annotations = Some([(ALLOW_FROM.to_owned(), elsewhere.clone())].into());
    site.create(&blue).await;
    let desks = Api::<Desk>::namespaced(plane.client(), &elsewhere);
    let mut far = desk("a", "");
    far.metadata.labels = ours();
    far.spec.shared = Some(NamespacedName { name: "blue".into(), namespace: Some(site.namespace.clone()) });
    desks.create(&PostParams::default(), &far).await.unwrap();
    let mut near = desk("a", "blue");
    near.metadata.labels = ours();
    site.create(&near).await;
    says(&site, "a", "Provisioned").await;
    let held = |count: usize| {
        move |net: &Net| net.finalizers().iter().filter(|held| held.contains("/reference_")).count() == count
    };
    until_object(&site.api::<Net>(), "blue", "is held twice", held(2)).await;
    desks.delete("a", &DeleteParams::default()).await.unwrap();
    until_gone(&desks, "a").await;
    held_by(&site, "blue", &["a"]).await;
    site.delete::<Desk>("a").await;
    until_gone(&site.api::<Desk>(), "a").await;
    held_by(&site, "blue", &[]).await;
    site.delete::<Net>("blue").await;
    until_gone(&site.api::<Net>(), "blue").await;
}

async fn vanished(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let running = start(&site).await;
    for name in ["blue", "green"] {
        net(&site, name, true).await;
    }
    for (name, net) in [("a", "blue"), ("b", "green")] {
        site.create(&desk(name, net)).await;
        says(&site, name, "Provisioned").await;
    }
    // One vanishes while the operator looks, the other while it doesn't.
    site.patch::<Desk>("a", &json!({"metadata": {"finalizers": null}})).await;
    site.delete::<Desk>("a").await;
    drop(running);
    until_gone_by_force(&site, "a").await;
    until_gone_by_force(&site, "b").await;
    let _running = site.run(&operator(&site), RunOptions::default()).await;
    for name in ["blue", "green"] {
        held_by(&site, name, &[]).await;
    }
}

/// Deletes a desk, whatever holds it.
async fn until_gone_by_force(site: &Site, name: &str) {
    let desks = site.api::<Desk>();
    if desks.get_opt(name).await.unwrap().is_some() {
        site.delete::<Desk>(name).await;
        site.patch::<Desk>(name, &json!({"metadata": {"finalizers": null}})).await;
    }
    until_gone(&desks, name).await;
}

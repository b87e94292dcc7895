//! Who holds whom is told, and what happens when two write at once.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::{core::v1::ConfigMap, events::v1::Event};
use kube::{Client, CustomResource, ResourceExt as _, api::ListParams};
use libtest_mimic::Trial;
use opgen::{Backoff, RunOptions, prelude::*};
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    kinds::{Desk, DeskSpec, DeskTree, Net, NetSpec, NetTree, desk, held_by, net, operator, says, start},
    ring::Messages,
};
use crate::operator::{
    event::until_event, kinds::available, meddler::meddled_with, site::Site, tally::was_tried_again, why::cause,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("loop_r10_who_is_held_by_whom_is_told_by_an_event", blocked),
        case("reference_ref6_an_object_that_is_named_twice_is_referenced_once", twice),
        case("reference_to_itself_is_for_somebody_to_mend", itself),
        case("reference_a_ring_is_named_by_why_and_in_conditions_and_broken", ring),
        case("reference_ref10_a_conflict_is_tried_again_and_nobody_is_told", conflict),
        case("loop_a_conflict_of_the_finalizer_is_tried_again_and_nobody_is_told", claim),
        case("reference_whose_place_in_the_list_has_moved_is_a_conflict_too", moved_reference),
        case("loop_a_finalizer_that_finds_no_list_any_more_is_a_conflict_too", moved_claim),
    ]
}

/// Returns whether an event is about an object.
fn is_about(event: &Event, kind: &str, name: &str) -> bool {
    let regarding = event.regarding.clone().unwrap_or_default();
    regarding.kind.as_deref() == Some(kind) && regarding.name.as_deref() == Some(name)
}

/// The events about an object.
async fn events(site: &Site, kind: &str, name: &str) -> Vec<Event> {
    let all = site.api::<Event>().list(&ListParams::default()).await.unwrap().items;
    all.into_iter().filter(|event| is_about(event, kind, name)).collect()
}

async fn event(site: &Site, kind: &str, name: &str, reason: &str) -> Event {
    let is_wanted = |event: &Event| is_about(event, kind, name) && event.reason.as_deref() == Some(reason);
    until_event(&site.api(), format!("an event {reason} about {kind} {name}"), is_wanted).await
}

async fn blocked(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    site.create(&desk("a", "blue")).await;
    let missing = event(&site, "Desk", "a", "ReferenceMissing").await;
    assert_eq!(missing.note, Some(format!("spec.net: Net {}/blue not found", site.namespace)));
    net(&site, "blue", true).await;
    says(&site, "a", "Provisioned").await;
    let blue = site.api::<Net>().get("blue").await.unwrap();
    site.delete::<Net>("blue").await;
    let told = event(&site, "Net", "blue", "Referenced").await;
    assert_eq!(told.note, Some(format!("it is referenced by desks.reference.example.com {}/a", site.namespace)));
    assert_eq!((told.type_.as_deref(), told.action.as_deref()), (Some("Normal"), Some("Reconcile")));
    assert_eq!(told.reporting_controller.as_deref(), Some("live"));
    assert_eq!(told.regarding.and_then(|object| object.uid), blue.uid());
    site.settled().await;
    let again = events(&site, "Net", "blue").await;
    let again: Vec<_> = again.iter().filter(|event| event.reason.as_deref() == Some("Referenced")).collect();
    assert!(again.len() == 1 && again[0].series.is_none(), "it is told once: {again:?}");
    site.delete::<Desk>("a").await;
    until_gone(&site.api::<Net>(), "blue").await;
}

async fn twice(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = start(&site).await;
    net(&site, "blue", true).await;
    let other = opgen::NamespacedName::cluster("blue");
    let spec = DeskSpec { net: "blue".into(), others: vec![other.clone(), other], ..DeskSpec::default() };
    site.create(&Desk::new("a", spec)).await;
    says(&site, "a", "Provisioned").await;
    held_by(&site, "blue", &["a"]).await;
    site.delete::<Desk>("a").await;
    until_gone(&site.api::<Desk>(), "a").await;
    held_by(&site, "blue", &[]).await;
}

/// Names another of its kind.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "reference.example.com", version = "v1", kind = "Ring", namespaced, status = "Status")]
struct RingSpec {
    #[managed(reference = Ring)]
    next: String,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Ring)]
struct RingTree {
    #[provisioner(resource)]
    content: ConfigMap,
}

impl RingTree {
    fn content(_: &Ring) -> ConfigMap {
        ConfigMap::default()
    }
}

async fn itself(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Ring, RingTree>()).await;
    site.create(&Ring::new("one", RingSpec { next: "one".to_owned() })).await;
    let says = async |reason: &str| {
        let fits = |ring: &Ring| available(ring.status.as_ref()).is_some_and(|(_, said, _)| said == reason);
        until_object(&site.api::<Ring>(), "one", &format!("says {reason}"), fits).await
    };
    let ring = says("ReferenceToItself").await;
    let sentence = available(ring.status.as_ref()).map(|(_, _, sentence)| sentence);
    assert_eq!(sentence, Some("spec.next: it references itself"));
    assert!(!ring.finalizers().iter().any(|held| held.contains("/reference_")), "{:?}", ring.finalizers());
    site.patch::<Ring>("one", &json!({"spec": {"next": ""}})).await;
    says("Provisioned").await;
    site.patch::<Ring>("one", &json!({"spec": {"next": "one"}})).await;
    says("ReferenceToItself").await;
    site.delete::<Ring>("one").await;
    until_gone(&site.api::<Ring>(), "one").await;
}

async fn ring(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Ring, RingTree>();
    let mut running = site.start(&operator).await;
    let says = async |name: &str, reason: &str| {
        let fits = |ring: &Ring| available(ring.status.as_ref()).is_some_and(|(_, said, _)| said == reason);
        until_object(&site.api::<Ring>(), name, &format!("says {reason}"), fits).await
    };
    site.create(&Ring::new("one", RingSpec { next: "two".to_owned() })).await;
    site.create(&Ring::new("two", RingSpec { next: "one".to_owned() })).await;
    says("one", "ReferenceNotReady").await;
    says("two", "ReferenceNotReady").await;
    let ring = "Ring one waits for itself in a cycle of references; change spec.next of one of them";
    assert_eq!(cause(&site, &operator, "ring", "one").await, ring);
    site.patch::<Ring>("one", &json!({"spec": {"next": ""}})).await;
    says("two", "Provisioned").await;

    site.patch::<Ring>("one", &json!({"spec": {"next": "two"}})).await;
    let has = |ring: &Ring| ring.finalizers().iter().any(|held| held.ends_with("_one"));
    until_object(&site.api::<Ring>(), "two", "is referenced", has).await;
    site.delete::<Ring>("one").await;
    let one = says("one", "Referenced").await;
    let sentence = available(one.status.as_ref()).map(|(_, _, sentence)| sentence.to_owned());
    let by = format!("it is referenced by rings.reference.example.com {}/two", site.namespace);
    let members = ["one", "two"].map(|name| format!("Ring {}/{name}", site.namespace)).join(", ");
    let end = "it is broken once all of these and their referrers are deleted";
    assert_eq!(sentence, Some(format!("{by}, in a cycle of references: {members}; {end}")));
    running.signal();
    running.end().await.unwrap();
    site.delete::<Ring>("two").await;
    let ring = "Ring one waits for itself in a cycle of references; the operator breaks the cycle at its youngest object once \
                nothing else references it";
    assert_eq!(cause(&site, &operator, "ring", "one").await, ring);
    let messages = Messages::collect::<Ring>(&site, &["one", "two"]).await;
    let _running = site.run(&operator, RunOptions::default()).await;
    until_gone(&site.api::<Ring>(), "one").await;
    until_gone(&site.api::<Ring>(), "two").await;
    let broken =
        format!("it is in a cycle of references: {members}; the operator releases the references of the youngest, ");
    for name in ["one", "two"] {
        messages.has(name, &broken).await;
    }
    let reasons = events(&site, "Ring", "one").await.into_iter().chain(events(&site, "Ring", "two").await);
    assert!(reasons.into_iter().any(|event| event.reason.as_deref() == Some("ReferenceRing")), "nobody is told");
}

/// What somebody else writes, in between.
const LABEL: &str = r#"[{"op": "add", "path": "/metadata/labels", "value": {"meddled": "yes"}}]"#;
/// Somebody else's finalizer, the first of the list, is gone.
const FIRST_OFF: &str = r#"[{"op": "remove", "path": "/metadata/finalizers/0"}]"#;

/// The operator's client, with somebody who changes an object just before the operator changes it for the first time.
async fn meddled(site: &Site, suffix: &'static str, change: &'static str) -> Client {
    meddled_with(site.client().await, site.plane.client(), suffix, change.to_owned())
}

/// The changes of an object itself, by the codes of their answers.
async fn changes(site: &Site, name: &str) -> Vec<u16> {
    let asked = site.settled().await.resource("nets").verb("patch").subresource("").name(name);
    asked.iter().map(|entry| entry.code).collect()
}

async fn has_no_warning(site: &Site, kind: &str, name: &str) {
    let warnings: Vec<_> =
        events(site, kind, name).await.into_iter().filter(|event| event.type_.as_deref() == Some("Warning")).collect();
    assert!(warnings.is_empty(), "{warnings:?}");
}

/// The operator, for which an error would be the end of the case.
fn slow(site: &Site) -> Operator {
    let errors = Backoff::Fixed(Duration::from_secs(3600));
    let operator = site.operator().controls_with::<Desk, DeskTree>(|desks| desks.backoff(errors));
    operator.controls_with::<Net, NetTree>(|nets| nets.backoff(errors))
}

async fn conflict(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let running = start(&site).await;
    net(&site, "blue", true).await;
    is_ready(&site, "blue").await;
    drop(running);
    let before = changes(&site, "blue").await;
    let _running = Site::run_with(&slow(&site), meddled(&site, "/nets/blue", LABEL).await, RunOptions::default());
    site.create(&desk("a", "blue")).await;
    says(&site, "a", "Provisioned").await;
    was_tried_again(&changes(&site, "blue").await[before.len()..], 409);
    held_by(&site, "blue", &["a"]).await;
    let blue = site.api::<Net>().get("blue").await.unwrap();
    assert_eq!(blue.labels()["meddled"], "yes");
    has_no_warning(&site, "Desk", "a").await;
}

async fn claim(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    site.install(&operator(&site)).await;
    let _running = Site::run_with(&slow(&site), meddled(&site, "/nets/blue", LABEL).await, RunOptions::default());
    net(&site, "blue", true).await;
    is_ready(&site, "blue").await;
    was_tried_again(&changes(&site, "blue").await, 409);
    let blue = site.api::<Net>().get("blue").await.unwrap();
    assert_eq!((blue.labels()["meddled"].as_str(), blue.finalizers().len()), ("yes", 1));
    has_no_warning(&site, "Net", "blue").await;
}

/// A Net that somebody else holds, too: its finalizer is the first.
async fn held_net(site: &Site) {
    let mut blue = Net::new("blue", NetSpec { up: true });
    blue.metadata.finalizers = Some(vec!["example.com/somebody".to_owned()]);
    site.create(&blue).await;
}

async fn moved_reference(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let running = start(&site).await;
    held_net(&site).await;
    // The finalizer of its controller is before that of the reference, so that the latter is the last.
    is_ready(&site, "blue").await;
    site.create(&desk("a", "blue")).await;
    held_by(&site, "blue", &["a"]).await;
    says(&site, "a", "Provisioned").await;
    drop(running);
    let before = changes(&site, "blue").await;
    let client = meddled(&site, "/nets/blue", FIRST_OFF).await;
    let _running = Site::run_with(&slow(&site), client, RunOptions::default());
    site.delete::<Desk>("a").await;
    until_gone(&site.api::<Desk>(), "a").await;
    was_tried_again(&changes(&site, "blue").await[before.len()..], 422);
    held_by(&site, "blue", &[]).await;
    has_no_warning(&site, "Desk", "a").await;
}

async fn moved_claim(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    site.install(&operator(&site)).await;
    let client = meddled(&site, "/nets/blue", FIRST_OFF).await;
    let _running = Site::run_with(&slow(&site), client, RunOptions::default());
    held_net(&site).await;
    is_ready(&site, "blue").await;
    was_tried_again(&changes(&site, "blue").await, 422);
    has_no_warning(&site, "Net", "blue").await;
}

async fn is_ready(site: &Site, name: &str) {
    let fits = |net: &Net| available(net.status.as_ref()).is_some_and(|(is, _, _)| is == "True");
    until_object(&site.api::<Net>(), name, "is ready", fits).await;
}

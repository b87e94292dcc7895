//! What wakes an object, and what doesn't: channels, periods of its own, kinds that are followed, predicates, and a wish by
//! annotation.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ObjectMeta;
use libtest_mimic::Trial;
use opgen::{
    Backoff, Channel, Enqueue, NamespacedName, Predicate, controller::RECONCILE_ANNOTATION, counters::Closure,
};
use opgen_tests::{Plane, case, wait};
use serde_json::json;
use tokio::time::Instant;

use super::{
    kinds::available,
    probe::{Passes, Probe, ProbeSpec, at_rest, operator, probe},
    site::Site,
    tally::state_writes,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("wake_what_is_pushed_into_a_channel_gets_a_pass_and_nothing_else_does", channel),
        case("wake_an_object_is_polled_by_a_period_of_its_own", periods),
        case("wake_a_period_of_no_time_leaves_time_for_others", no_time),
        case("wake_the_longest_period_never_ends_and_holds_back_only_what_failed", never),
        case("wake_all_objects_of_a_kind_fan_in_to_one_by_metadata_alone", one),
        case("wake_objects_that_come_and_go_concern_everybody_and_their_changes_nobody", everybody),
        case("wake_a_predicate_says_which_changes_of_an_object_matter", own_predicate),
        case("wake_no_predicate_hides_a_deletion_or_a_new_beginning", nothing_hidden),
        case("wake_the_annotation_reconcile_asks_for_a_pass_that_writes_nothing", reconcile),
        case("wake_the_annotation_reconcile_tries_a_parked_object_again", parked),
    ]
}

async fn channel(plane: Arc<Plane>) {
    let (site, passes, channel) = (Site::new(&plane).await, Passes::default(), Channel::new());
    let operator = operator(&site, &passes, |c| c.channel(&channel));
    // What is pushed before the operator runs waits for it.
    channel.push(NamespacedName::in_namespace(&site.namespace, "a"));
    let _running = site.start(&operator).await;
    at_rest(&site, &passes, &["a", "b"]).await;
    let (a, b) = (passes.of("a"), passes.of("b"));
    for _ in 0..3 {
        let before = passes.of("a");
        channel.push(NamespacedName::in_namespace(&site.namespace, "a"));
        passes.reach("a", before + 1).await;
    }
    // Nobody is meant by these.
    channel.push(NamespacedName::cluster("b"));
    channel.push(NamespacedName::in_namespace("elsewhere", "b"));
    channel.push(NamespacedName::in_namespace(&site.namespace, "a"));
    passes.reach("a", a + 4).await;
    assert_eq!(passes.of("b"), b);
    assert!(state_writes(&site.settled().await).with(|entry| entry.verb == "delete").is_empty());
}

async fn periods(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let by_class = |probe: &Probe| (probe.spec.class == "quick").then_some(Duration::from_millis(30));
    let _running = site.start(&operator(&site, &passes, |c| c.resync_period_by(by_class))).await;
    probe(&site, "asks", ProbeSpec { again: 20, ..ProbeSpec::default() }).await;
    probe(&site, "quick", ProbeSpec { class: "quick".into(), ..ProbeSpec::default() }).await;
    probe(&site, "slow", ProbeSpec { again: 3_600_000, class: "quick".into(), ..ProbeSpec::default() }).await;
    passes.reach("slow", 1).await;
    passes.reach("asks", 20).await;
    passes.reach("quick", 10).await;
    let slow = passes.of("slow");
    passes.reach("asks", passes.of("asks") + 20).await;
    assert_eq!(passes.of("slow"), slow, "what a pass asks for goes before the period");
    let writes = state_writes(&site.asked().await).with(|entry| entry.subresource == "status" && entry.name == "asks");
    assert_eq!(writes.len(), 1, "{writes}");
}

/// On a paused clock one that took none would go on for ever.
async fn no_time(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let _running = site.start(&operator(&site, &passes, |c| c.resync_period(Duration::ZERO))).await;
    probe(&site, "hot", ProbeSpec::default()).await;
    passes.reach("hot", 1).await;
    let (before, since) = (passes.of("hot"), Instant::now());
    passes.reach("hot", before + 20).await;
    assert!(since.elapsed() >= Duration::from_millis(50), "{:?}", since.elapsed());
}

async fn never(plane: Arc<Plane>) {
    let (site, passes, channel) = (Site::new(&plane).await, Passes::default(), Channel::new());
    let operator = operator(&site, &passes, |c| {
        let c = c.resync_period(Duration::MAX).requeue_after(Duration::MAX).backoff(Backoff::Fixed(Duration::MAX));
        c.channel(&channel)
    });
    assert!(operator.longest_pause() < Duration::from_secs(60), "{:?}", operator.longest_pause());
    let _running = site.start(&operator).await;
    for class in ["settles", "yields", "fails"] {
        probe(&site, class, ProbeSpec { class: class.into(), ..ProbeSpec::default() }).await;
        passes.reach(class, 1).await;
    }
    site.settled().await;
    passes.rest().await;
    let [settles, yields, fails] = ["settles", "yields", "fails"].map(|name| passes.of(name));
    for name in ["fails", "settles", "yields"] {
        channel.push(NamespacedName::in_namespace(&site.namespace, name));
    }
    passes.reach("settles", settles + 1).await;
    passes.reach("yields", yields + 1).await;
    assert_eq!(passes.of("fails"), fails, "its backoff has not ended");
    site.patch::<Probe>("fails", &json!({"spec": {"again": 1}})).await;
    passes.reach("fails", fails + 1).await;
    assert_eq!(operator.counters().panics(Closure::Runtime), 0);
}

fn config(name: &str) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    ConfigMap { metadata, ..ConfigMap::default() }
}

async fn one(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let follow = || Enqueue::<ConfigMap>::for_one(NamespacedName::cluster("one")).when(Predicate::labels());
    let _running = site.start(&operator(&site, &passes, |c| c.watches(follow()))).await;
    at_rest(&site, &passes, &["one", "other"]).await;
    let other = passes.of("other");
    for name in ["x", "y"] {
        let before = passes.of("one");
        site.create(&config(name)).await;
        passes.reach("one", before + 1).await;
    }
    let before = passes.of("one");
    site.patch::<ConfigMap>("x", &json!({"data": {"text": "no label"}})).await;
    site.patch::<ConfigMap>("x", &json!({"metadata": {"labels": {"a": "b"}}})).await;
    passes.reach("one", before + 1).await;
    site.delete::<ConfigMap>("x").await;
    passes.reach("one", before + 2).await;
    assert_eq!((passes.of("one"), passes.of("other")), (before + 2, other));
}

async fn everybody(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let follow = || Enqueue::<ConfigMap>::for_all().when(Predicate::never());
    let _running = site.start(&operator(&site, &passes, |c| c.watches(follow()))).await;
    at_rest(&site, &passes, &["a", "b"]).await;
    let (a, b) = (passes.of("a"), passes.of("b"));
    site.create(&config("node")).await;
    passes.reach("a", a + 1).await;
    passes.reach("b", b + 1).await;
    for beat in 0..20 {
        site.patch::<ConfigMap>("node", &json!({"data": {"heartbeat": beat.to_string()}})).await;
    }
    site.delete::<ConfigMap>("node").await;
    passes.reach("a", a + 2).await;
    passes.reach("b", b + 2).await;
    assert_eq!((passes.of("a"), passes.of("b")), (a + 2, b + 2));
}

async fn own_predicate(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let class = Predicate::of(|probe: &Probe| probe.spec.class.clone());
    let news = class.or(Predicate::labels().and(!Predicate::generation()));
    let _running = site.start(&operator(&site, &passes, |c| c.when(news))).await;
    at_rest(&site, &passes, &["a"]).await;
    let before = passes.of("a");
    let label = |value: &str| json!({"labels": {"seen": value}});
    for nothing in [json!({"spec": {"broken": true}}), json!({"metadata": {"annotations": {"a": "b"}}})] {
        site.patch::<Probe>("a", &nothing).await;
    }
    site.patch::<Probe>("a", &json!({"metadata": label("both"), "spec": {"broken": false}})).await;
    site.patch::<Probe>("a", &json!({"spec": {"class": "blue"}})).await;
    passes.reach("a", before + 1).await;
    site.patch::<Probe>("a", &json!({"metadata": label("alone")})).await;
    passes.reach("a", before + 2).await;
    site.settled().await;
    assert_eq!(passes.of("a"), before + 2);
}

async fn nothing_hidden(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let _running = site.start(&operator(&site, &passes, |c| c.when(Predicate::never()))).await;
    at_rest(&site, &passes, &["a"]).await;
    let before = passes.of("a");
    site.patch::<Probe>("a", &json!({"spec": {"class": "blue"}})).await;
    site.delete::<Probe>("a").await;
    wait::until_gone(&site.api::<Probe>(), "a").await;
    assert_eq!(passes.of("a"), before);
    at_rest(&site, &passes, &["a"]).await;
    assert!(passes.of("a") > before);
}

async fn reconcile(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let _running = site.start(&operator(&site, &passes, |c| c)).await;
    at_rest(&site, &passes, &["a"]).await;
    let (before, asked) = (passes.of("a"), site.settled().await);
    for value in ["1", "2"] {
        site.patch::<Probe>("a", &json!({"metadata": {"annotations": {RECONCILE_ANNOTATION: value}}})).await;
        passes.reach("a", before + value.parse::<usize>().unwrap()).await;
    }
    site.patch::<Probe>("a", &json!({"metadata": {"annotations": {"other": "note"}}})).await;
    let asked = site.settled().await.since(&asked);
    assert!(asked.is_empty(), "{asked}");
    assert_eq!(passes.of("a"), before + 2);
}

async fn parked(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let _running = site.start(&operator(&site, &passes, |c| c)).await;
    probe(&site, "a", ProbeSpec { broken: true, ..ProbeSpec::default() }).await;
    let broken = |probe: &Probe| available(probe.status.as_ref()).is_some_and(|(_, reason, _)| reason == "Broken");
    wait::until_object(&site.api::<Probe>(), "a", "is broken", broken).await;
    site.settled().await;
    let before = passes.of("a");
    site.patch::<Probe>("a", &json!({"metadata": {"annotations": {RECONCILE_ANNOTATION: "now"}}})).await;
    passes.reach("a", before + 1).await;
}

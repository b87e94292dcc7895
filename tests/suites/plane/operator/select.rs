//! Controllers for some of the objects of a kind: classes, and installs side by side.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{ResourceExt as _, api::ObjectMeta};
use libtest_mimic::Trial;
use opgen::{Enqueue, NamespacedName, Operator, RunOptions};
use opgen_tests::{Plane, audit::Entry, case, wait};
use serde_json::json;

use super::{
    probe::{Count, Counted, Passes, Probe, ProbeSpec, operator, probe},
    site::Site,
};
use crate::reference::kinds::{Desk, DeskTree, Net, NetTree, desk, held_by, net};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("select_only_what_has_the_labels_is_listed_and_watched", labels),
        case("select_a_list_is_read_in_pages_of_the_size_that_is_set", pages),
        case("select_two_controllers_of_a_kind_share_one_watch", shared),
        case("select_an_object_that_leaves_the_selection_is_let_go_and_taken_up_again", leaves),
        case("select_an_object_that_left_while_nobody_ran_is_let_go", left_meanwhile),
        case("select_a_wake_of_an_object_of_another_class_is_one_question", one_question),
        case("select_two_installs_hand_an_object_over_by_a_field", two_installs),
        case("select_an_object_that_leaves_lets_go_of_what_it_names_and_of_what_it_is_made_of", references),
    ]
}

/// Two controllers of one operator on one kind.
async fn shared(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let (one, other) = (Passes::default(), Passes::default());
    let operator = operator(&site, &one, |c| c);
    let second = other.clone();
    let operator =
        operator.controls_with::<Counted, Count>(|c| c.options(second).finalizer("probe.example.com/second"));
    let refused = operator.run_with(plane.client(), RunOptions::default(), std::future::pending()).await;
    let said = "two controllers of Probe write the condition Available of the same objects";
    assert!(refused.as_ref().is_err_and(|error| error.to_string().starts_with(said)), "{refused:?}");
    let second = other.clone();
    let operator = self::operator(&site, &one, |c| c).controls_with::<Counted, Count>(|c| {
        c.options(second).finalizer("probe.example.com/second").condition_prefix("Second")
    });
    let _running = site.start(&operator).await;
    probe(&site, "p", ProbeSpec::default()).await;
    one.reach("p", 1).await;
    other.reach("p", 1).await;
    let watches = site.settled().await.resource("probes").verb("watch");
    let lists = site.asked().await.resource("probes").verb("list").code(200);
    assert!(lists.len() <= 1, "{lists}");
    assert!(watches.with(|entry| entry.code == 200).len() <= 1, "{watches}");
    let types = |probe: &Probe| -> Vec<String> {
        let status = probe.status.as_ref();
        status.map(|status| status.conditions.iter().map(|held| held.type_.clone()).collect()).unwrap_or_default()
    };
    let both = ["Available", "Ready", "SecondAvailable", "SecondReady"];
    wait::until_object(&site.api::<Probe>(), "p", "has the conditions of both", |probe| types(probe) == both).await;
    site.delete::<Probe>("p").await;
    wait::until_gone(&site.api::<Probe>(), "p").await;
}

const OURS: &str = "probe.example.com/live";

/// Waits until a probe has these finalizers.
async fn finalizers(site: &Site, name: &str, wanted: &[&str]) {
    let fits = |probe: &Probe| probe.finalizers() == wanted;
    wait::until_object(&site.api::<Probe>(), name, &format!("has the finalizers {wanted:?}"), fits).await;
}

async fn classed(site: &Site, name: &str, class: &str) {
    let mut probe = Probe::new(name, ProbeSpec::default());
    let labels = Some([("class".to_owned(), class.to_owned())].into());
    probe.metadata = ObjectMeta { labels, ..probe.metadata };
    site.create(&probe).await;
}

async fn class(site: &Site, name: &str, class: &str) {
    site.patch::<Probe>(name, &json!({"metadata": {"labels": {"class": class}}})).await;
}

fn of_class_a(site: &Site, passes: &Passes) -> Operator {
    operator(site, passes, |c| c.labels([("class", "a")]))
}

async fn labels(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let _running = site.start(&of_class_a(&site, &passes)).await;
    probe(&site, "none", ProbeSpec::default()).await;
    classed(&site, "other", "b").await;
    classed(&site, "ours", "a").await;
    finalizers(&site, "ours", &[OURS]).await;
    class(&site, "other", "c").await;
    let asked = site.settled().await.resource("probes");
    assert_eq!((passes.of("other"), passes.of("none")), (0, 0));
    assert!(asked.with(|entry| entry.name == "other" || entry.name == "none").is_empty(), "{asked}");
}

/// Five objects in pages of two: as a selection, and as all there are.
async fn pages(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    site.install(&of_class_a(&site, &Passes::default())).await;
    let names = ["p1", "p2", "p3", "p4", "p5"];
    for name in names {
        classed(&site, name, "a").await;
    }
    for is_selected in [true, false] {
        let passes = Passes::default();
        let operator = operator(&site, &passes, |c| if is_selected { c.labels([("class", "a")]) } else { c });
        let before = site.asked().await;
        let running = site.run(&operator.page_size(2), RunOptions::default()).await;
        for name in names {
            passes.reach(name, 1).await;
        }
        let lists = site.settled().await.since(&before).resource("probes").verb("list").code(200);
        let has_selector = |entry: &Entry| entry.uri.contains("labelSelector=class%3Da");
        let pages = lists.with(|entry| entry.uri.contains("limit=2") && has_selector(entry) == is_selected);
        let uris: Vec<_> = lists.iter().map(|entry| &*entry.uri).collect();
        assert_eq!(pages.len(), 3, "selected: {is_selected}: {uris:#?}");
        assert_eq!(pages.with(|entry| entry.uri.contains("continue=")).len(), 2, "{uris:#?}");
        running.end_now().await;
    }
}

async fn leaves(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let _running = site.start(&of_class_a(&site, &passes)).await;
    classed(&site, "p", "a").await;
    finalizers(&site, "p", &[OURS]).await;
    class(&site, "p", "b").await;
    finalizers(&site, "p", &[]).await;
    class(&site, "p", "a").await;
    finalizers(&site, "p", &[OURS]).await;
    // It leaves while it is to go, held by another.
    site.patch::<Probe>("p", &json!({"metadata": {"finalizers": [OURS, "example.com/hold"]}})).await;
    class(&site, "p", "b").await;
    finalizers(&site, "p", &["example.com/hold"]).await;
    site.delete::<Probe>("p").await;
    site.patch::<Probe>("p", &json!({"metadata": {"finalizers": null}})).await;
    wait::until_gone(&site.api::<Probe>(), "p").await;
}

async fn left_meanwhile(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let operator = of_class_a(&site, &passes);
    let running = site.start(&operator).await;
    for name in ["stays", "leaves", "goes"] {
        classed(&site, name, "a").await;
        finalizers(&site, name, &[OURS]).await;
    }
    drop(running);
    class(&site, "leaves", "b").await;
    site.delete::<Probe>("goes").await;
    class(&site, "goes", "b").await;
    let _running = site.run(&operator, RunOptions::default()).await;
    finalizers(&site, "leaves", &[]).await;
    wait::until_gone(&site.api::<Probe>(), "goes").await;
    finalizers(&site, "stays", &[OURS]).await;
}

/// Every change of a ConfigMap wakes an object of the class, and one of another class.
async fn one_question(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let home = site.namespace.clone();
    let both = move |config: &ConfigMap| {
        let name = config.name_any();
        let named = |name: &str| NamespacedName { name: name.to_owned(), namespace: Some(home.clone()) };
        if name == "news" { vec![named("ours"), named("other")] } else { Vec::new() }
    };
    let operator = operator(&site, &passes, |c| c.labels([("class", "a")]).watches(Enqueue::map(both)));
    let _running = site.start(&operator).await;
    classed(&site, "other", "b").await;
    classed(&site, "ours", "a").await;
    passes.reach("ours", 1).await;
    let news = ConfigMap {
        metadata: ObjectMeta { name: Some("news".into()), ..ObjectMeta::default() },
        ..ConfigMap::default()
    };
    site.create(&news).await;
    let mut before = passes.of("ours");
    for number in 0..5 {
        site.patch::<ConfigMap>("news", &json!({"data": {"number": number.to_string()}})).await;
        passes.reach("ours", before + 1).await;
        before = passes.of("ours");
    }
    let is_question = |entry: &Entry| entry.verb == "list" && entry.uri.contains("metadata.name%3Dother");
    let asked = site.settled().await.resource("probes").with(is_question);
    assert_eq!(asked.len(), 1, "{asked}");
    // What is remembered of it is of no use once it is meant, and when it is not any more.
    class(&site, "other", "a").await;
    finalizers(&site, "other", &[OURS]).await;
    class(&site, "other", "b").await;
    finalizers(&site, "other", &[]).await;
    let before = site.settled().await.resource("probes").with(is_question);
    let passed = passes.of("ours");
    site.patch::<ConfigMap>("news", &json!({"data": {"number": "last"}})).await;
    passes.reach("ours", passed + 1).await;
    let after = site.settled().await.resource("probes").with(is_question);
    assert!(after.len() <= before.len() + 1, "{after}");
}

async fn two_installs(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let (blue, red) = (Passes::default(), Passes::default());
    let of_class = |name: &str, passes: &Passes, class: &'static str| {
        let (passes, operator) = (passes.clone(), Operator::new(name).namespace(&site.namespace).namespaced());
        operator.controls_with::<Counted, Count>(|c| c.options(passes).fields([("spec.class", class)]))
    };
    let (live, second) = (of_class("live", &blue, "blue"), of_class("second", &red, "red"));
    let _live = site.start(&live).await;
    // With the same rights: they are those on the kind.
    let _second = site.run(&second, RunOptions::default()).await;
    probe(&site, "p", ProbeSpec { class: "blue".into(), ..ProbeSpec::default() }).await;
    finalizers(&site, "p", &[OURS]).await;
    assert_eq!(red.of("p"), 0);
    site.patch::<Probe>("p", &json!({"spec": {"class": "red"}})).await;
    finalizers(&site, "p", &["probe.example.com/second"]).await;
    site.patch::<Probe>("p", &json!({"spec": {"class": "none"}})).await;
    finalizers(&site, "p", &[]).await;
}

async fn references(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Net, NetTree>();
    let operator = operator.controls_with::<Desk, DeskTree>(|c| c.labels([("class", "a")]));
    let _running = site.start(&operator).await;
    net(&site, "blue", true).await;
    let mut meant = desk("a", "blue");
    meant.metadata.labels = Some([("class".to_owned(), "a".to_owned())].into());
    site.create(&meant).await;
    held_by(&site, "blue", &["a"]).await;
    let configs = site.api::<ConfigMap>();
    wait::until_object(&configs, "a", "is made", |_| true).await;
    site.patch::<Desk>("a", &json!({"metadata": {"labels": {"class": null}}})).await;
    held_by(&site, "blue", &[]).await;
    wait::until_gone(&configs, "a").await;
    let free = |desk: &Desk| desk.finalizers().is_empty();
    wait::until_object(&site.api::<Desk>(), "a", "is free", free).await;
    site.delete::<Net>("blue").await;
    wait::until_gone(&site.api::<Net>(), "blue").await;
}

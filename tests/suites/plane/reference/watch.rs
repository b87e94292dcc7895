//! One watch a kind, whoever looks at its objects.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ObjectMeta;
use libtest_mimic::Trial;
use opgen::{Enqueue, Lister, NamespacedName};
use opgen_tests::{Entries, Plane, case};
use serde_json::json;

use super::kinds::{Desk, DeskTree, Net, NetTree, desk, held_by, net, says};
use crate::operator::{
    probe::{Count, Counted, Passes, ProbeSpec, probe},
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("watch_a_kind_that_is_controlled_named_followed_and_kept_has_one_watch", all_at_once),
        case("watch_a_kind_that_two_controllers_follow_has_one_watch", followed_twice),
    ]
}

/// A watch that is open, and the list that it begins after.
fn is_watched_once(asked: &Entries, resource: &str) {
    let asked = asked.resource(resource);
    for verb in ["list", "watch"] {
        let done = asked.verb(verb).code(200);
        assert_eq!(done.len(), 1, "{done}");
    }
}

async fn all_at_once(plane: Arc<Plane>) {
    let (site, passes, view) = (Site::new(&plane).await, Passes::default(), Lister::<bool>::default());
    let of_all = |net: &Net| {
        let name = net.metadata.name.clone();
        name.map(NamespacedName::cluster)
    };
    let (counted, kept) = (passes.clone(), view.clone());
    let operator =
        site.operator().controls::<Desk, DeskTree>().controls::<Net, NetTree>().controls_with::<Counted, Count>(|c| {
            c.options(counted).watches(Enqueue::map(of_all)).lister(
                &kept,
                |net: &Net| net.spec.up,
                |_, _| None::<NamespacedName>,
            )
        });
    // Its kind is there when the operator begins, or its watch would be tried again.
    let _running = site.start(&operator).await;
    probe(&site, "blue", ProbeSpec::default()).await;
    passes.reach("blue", 1).await;
    let before = passes.of("blue");
    net(&site, "blue", true).await;
    passes.reach("blue", before + 1).await;
    site.create(&desk("a", "blue")).await;
    says(&site, "a", "Provisioned").await;
    held_by(&site, "blue", &["a"]).await;
    assert_eq!(view.read(|nets| nets.get(&site.namespace, "blue").copied()).unwrap(), Some(true));
    site.patch::<Net>("blue", &json!({"spec": {"up": false}})).await;
    says(&site, "a", "ReferenceNotReady").await;
    assert_eq!(view.read(|nets| nets.get(&site.namespace, "blue").copied()).unwrap(), Some(false));
    is_watched_once(&site.settled().await, "nets");
}

async fn followed_twice(plane: Arc<Plane>) {
    let (site, one, other) = (Site::new(&plane).await, Passes::default(), Passes::default());
    let (first, second) = (one.clone(), other.clone());
    let by_name = |config: &ConfigMap| config.metadata.name.clone().map(NamespacedName::cluster);
    let operator = site
        .operator()
        .controls_with::<Counted, Count>(|c| c.options(first).watches(Enqueue::map(by_name)))
        .controls_with::<Counted, Count>(|c| {
            let follow = Enqueue::<ConfigMap>::for_all();
            c.options(second).finalizer("probe.example.com/second").condition_prefix("Second").watches(follow)
        });
    let _running = site.start(&operator).await;
    probe(&site, "p", ProbeSpec::default()).await;
    one.reach("p", 1).await;
    other.reach("p", 1).await;
    site.settled().await;
    let before = [one.of("p"), other.of("p")];
    let metadata = ObjectMeta { name: Some("p".to_owned()), ..ObjectMeta::default() };
    site.create(&ConfigMap { metadata, ..ConfigMap::default() }).await;
    one.reach("p", before[0] + 1).await;
    other.reach("p", before[1] + 1).await;
    let asked = site.settled().await;
    is_watched_once(&asked, "configmaps");
    is_watched_once(&asked, "probes");
}

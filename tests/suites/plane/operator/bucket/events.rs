//! The events about objects in buckets, in Kubernetes and without it.

use std::sync::Arc;

use k8s_openapi::api::{core::v1::ConfigMap, events::v1::Event};
use libtest_mimic::Trial;
use opgen_tests::{
    Plane, case_with_buckets,
    wait::{PATIENCE, until},
};
use serde_json::Value;

use super::{
    super::event::until_event,
    alone::Alone,
    siphon::{Ending, SiphonScene},
    store::CaseBucket,
};

pub(super) fn cases() -> Vec<Trial> {
    vec![
        case_with_buckets(
            "nats_u41_an_event_about_an_entry_regards_its_child_or_the_operator_and_is_related_to_the_entry",
            in_kubernetes,
        ),
        case_with_buckets("nats_u41_events_without_kubernetes_are_in_a_bucket_and_repeats_are_counted", in_a_bucket),
        case_with_buckets("nats_u42_an_event_has_a_reason_of_opgen_and_names_the_child", reasons),
    ]
}

/// Waits for an event of Kubernetes that is related to an entry.
async fn related(scene: &SiphonScene, name: &str, reason: &str) -> Event {
    let is_related = |event: &Event| {
        let related = event.related.as_ref().and_then(|object| object.name.as_deref());
        event.reason.as_deref() == Some(reason) && related == Some(name)
    };
    until_event(&scene.site.api(), format!("an event {reason} about {name}"), is_related).await
}

/// The namespace of an event is that of the object it regards, and no object of Kubernetes is in the bucket.
async fn in_kubernetes(plane: Arc<Plane>) {
    let scene = SiphonScene::started(&plane).await;
    let mut stranger = ConfigMap::default();
    stranger.metadata.name = Some("taken".to_owned());
    scene.site.create(&stranger).await;
    for (name, reason, kind) in [("one", "Created", "ConfigMap"), ("taken", "NotOwned", "Pod")] {
        scene.put(name, "a", Ending::Success).await;
        let event = related(&scene, name, reason).await;
        let (regarding, related) = (event.regarding.unwrap(), event.related.unwrap());
        assert_eq!(regarding.kind.as_deref(), Some(kind));
        assert_eq!((related.kind.as_deref(), related.namespace), (Some("Siphon"), Some(scene.site.namespace.clone())));
    }
    scene.running.end_now().await;
}

/// The reasons are those of all kinds in opgen. The sample controller of Kubernetes has `Synced` and `ErrResourceExists`.
async fn reasons(plane: Arc<Plane>) {
    let scene = SiphonScene::started(&plane).await;
    let mut stranger = ConfigMap::default();
    stranger.metadata.name = Some("taken".to_owned());
    scene.site.create(&stranger).await;
    for (name, reason) in [("one", "Created"), ("taken", "NotOwned")] {
        scene.put(name, "a", Ending::Success).await;
        let note = related(&scene, name, reason).await.note.unwrap_or_default();
        assert!(note.contains("ConfigMap") && note.contains(name), "{note}");
    }
    scene.running.end_now().await;
}

/// The events in a bucket.
async fn events(bucket: &CaseBucket) -> Vec<Value> {
    let entries = bucket.list().await;
    entries.iter().filter_map(|entry| serde_json::from_slice(&entry.value).ok()).collect()
}

async fn in_a_bucket(plane: Arc<Plane>) {
    let alone = Alone::new(&plane).await;
    let running = alone.start(1);
    alone.put("one", "a").await;
    let configs = alone.buckets.bucket("sluice-configmaps");
    for _ in 0..3 {
        let key = until("the child", PATIENCE, async || {
            let entries = configs.list().await;
            let child = entries.iter().find(|entry| entry.key.ends_with(".one")).map(|entry| entry.key.clone());
            child.ok_or_else(|| format!("{entries:?}"))
        })
        .await;
        configs.purge_raw(&key).await;
    }
    let bucket = alone.buckets.bucket("sluice-events");
    let event = until("a repeated event", PATIENCE, async || {
        let events = events(&bucket).await;
        let mut created = events.iter().filter(|event| event["reason"] == "Created");
        match (created.next(), created.next()) {
            (Some(one), None) if one["series"]["count"].as_u64() >= Some(3) => Ok(one.clone()),
            _ => Err(format!("{events:?}")),
        }
    })
    .await;
    assert_eq!(event["regarding"]["kind"], "Siphon");
    assert_eq!((&event["regarding"]["name"], &event["type"]), (&"one".into(), &"Normal".into()));
    running.end_now().await;
}

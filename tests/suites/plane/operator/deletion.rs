//! Objects that go, and who holds them.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams},
};
use libtest_mimic::Trial;
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use serde_json::json;

use super::{
    kinds::{Note, NoteSpec, NoteTree},
    site::Site,
};

const OURS: &str = "live.example.com/live";
const ANOTHERS: &str = "example.com/another";

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("loop_deletion_wins_over_pause", deletion_wins),
        case("loop_the_end_of_an_object_without_our_finalizer_is_none_of_our_business", without_finalizer),
        case("loop_r9_finalizers_of_others_are_kept_and_block_nothing", finalizers_of_others),
        case("loop_deletion_in_the_foreground_ends", in_the_foreground),
        case("loop_objects_that_are_deleted_while_nobody_runs_are_taken_down_later", while_away),
    ]
}

fn note(pause: bool) -> Note {
    Note::new("one", NoteSpec { pause, text: "a".to_owned() })
}

async fn built(site: &Site) {
    until_object(&site.api::<ConfigMap>(), "one", "is there", |_| true).await;
    until_object(&site.api::<Note>(), "one", "has a status", |note| note.status.is_some()).await;
}

async fn deletion_wins(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Note, NoteTree>()).await;
    site.create(&note(false)).await;
    built(&site).await;
    site.patch::<Note>("one", &json!({"spec": {"pause": true}})).await;
    site.delete::<Note>("one").await;
    until_gone(&site.api::<Note>(), "one").await;
    until_gone(&site.api::<ConfigMap>(), "one").await;
}

/// Paused while it lives, so that it never gets our finalizer; somebody else holds it on its way out.
async fn without_finalizer(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Note, NoteTree>()).await;
    let mut held = note(true);
    held.metadata.finalizers = Some(vec![ANOTHERS.to_owned()]);
    site.create(&held).await;
    site.delete::<Note>("one").await;
    site.patch::<Note>("one", &json!({"spec": {"pause": false}})).await;
    // The pass over this one is after that over the other one.
    site.create(&Note {
        metadata: kube::api::ObjectMeta { name: Some("two".into()), ..Default::default() },
        ..note(false)
    })
    .await;
    until_object(&site.api::<ConfigMap>(), "two", "is there", |_| true).await;
    let asked = site.settled().await.name("one");
    assert!(asked.is_empty(), "{asked}");
}

async fn finalizers_of_others(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Note, NoteTree>()).await;
    let mut held = note(false);
    held.metadata.finalizers = Some(vec![ANOTHERS.to_owned()]);
    site.create(&held).await;
    built(&site).await;
    let api = site.api::<Note>();
    assert_eq!(api.get("one").await.unwrap().finalizers(), [ANOTHERS, OURS]);
    site.delete::<Note>("one").await;
    until_gone(&site.api::<ConfigMap>(), "one").await;
    let left = until_object(&api, "one", "is let go by us", |note| !note.finalizers().contains(&OURS.to_owned())).await;
    assert_eq!(left.finalizers(), [ANOTHERS]);
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    api.patch("one", &PatchParams::default(), &release).await.unwrap();
    until_gone(&api, "one").await;
    let asked = site.settled().await;
    assert!(asked.denied().is_empty(), "{asked}");
}

async fn in_the_foreground(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Note, NoteTree>()).await;
    site.create(&note(false)).await;
    built(&site).await;
    site.api::<Note>().delete("one", &DeleteParams::foreground()).await.unwrap();
    until_gone(&site.api::<Note>(), "one").await;
    until_gone(&site.api::<ConfigMap>(), "one").await;
}

async fn while_away(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Note, NoteTree>();
    let mut running = site.start(&operator).await;
    site.create(&note(false)).await;
    built(&site).await;
    running.signal();
    running.end().await.unwrap();
    site.delete::<Note>("one").await;
    let _running = site.run(&operator, Default::default()).await;
    until_gone(&site.api::<Note>(), "one").await;
    until_gone(&site.api::<ConfigMap>(), "one").await;
}

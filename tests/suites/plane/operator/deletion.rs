//! Objects that go, and who holds them.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams},
};
use libtest_mimic::Trial;
use opgen::For;
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use serde_json::json;

use super::{
    kinds::{Diary, Errand, ErrandSpec, ErrandTree, Note, NoteSpec, NoteTree, available},
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
        case("loop_deletion_in_the_foreground_waits_for_what_others_have_made_of_the_object", after_dependents),
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

/// The collector deletes everything that belongs to the object at once; what a node has to do comes after that. What somebody
/// else has made of it is held by a third.
async fn after_dependents(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let options = diary.clone();
    let operator = site.operator().controls_with::<For<Errand, Diary>, ErrandTree>(|c| c.options(options));
    let _running = site.start(&operator).await;
    plane.restart_controller_manager();
    let uid = site.create(&Errand::new("one", ErrandSpec::default())).await.uid();
    until_object(&site.api::<Errand>(), "one", "has a status", |errand| errand.status.is_some()).await;
    let owner = json!({
        "apiVersion": "live.example.com/v1", "kind": "Errand", "name": "one", "uid": uid, "blockOwnerDeletion": true,
    });
    let theirs = json!({"metadata": {"name": "theirs", "ownerReferences": [owner], "finalizers": [ANOTHERS]}});
    site.create::<ConfigMap>(&serde_json::from_value(theirs).unwrap()).await;
    site.api::<Errand>().delete("one", &DeleteParams::foreground()).await.unwrap();
    let waits = |errand: &Errand| {
        let status = errand.status.as_ref().map(|status| &status.standard);
        available(status).is_some_and(|(_, reason, _)| reason == "DependentsRemain")
    };
    until_object(&site.api::<Errand>(), "one", "waits for its dependents", waits).await;
    let going = |config: &ConfigMap| config.metadata.deletion_timestamp.is_some();
    until_object(&site.api::<ConfigMap>(), "theirs", "is going", going).await;
    site.settled().await;
    assert!(diary.times("undo one").is_empty(), "it was torn down before");
    site.patch::<ConfigMap>("theirs", &json!({"metadata": {"finalizers": null}})).await;
    until_gone(&site.api::<Errand>(), "one").await;
    assert_eq!(diary.times("undo one").len(), 1);
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

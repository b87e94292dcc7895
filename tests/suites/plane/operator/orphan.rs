//! Deletion with the propagation policy `Orphan`: children stay, owner references and marks go.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{ResourceExt as _, api::DeleteParams};
use libtest_mimic::Trial;
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};

use super::{
    kinds::{Note, NoteSpec, NoteTree, available},
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("loop_deletion_with_orphan_leaves_the_children_and_removes_owner_references_and_marks", orphaned),
        case("loop_deletion_with_orphan_leaves_the_children_also_if_the_collector_is_first", collector_first),
    ]
}

fn note() -> Note {
    Note::new("one", NoteSpec { pause: false, text: "a".to_owned() })
}

async fn built(site: &Site) -> ConfigMap {
    until_object(&site.api::<Note>(), "one", "has a status", |note| note.status.is_some()).await;
    until_object(&site.api::<ConfigMap>(), "one", "is there", |_| true).await
}

async fn orphaned(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    plane.restart_controller_manager();
    let _running = site.start(&site.operator().controls::<Note, NoteTree>()).await;
    site.create(&note()).await;
    let before = built(&site).await;
    site.api::<Note>().delete("one", &DeleteParams::orphan()).await.unwrap();
    until_gone(&site.api::<Note>(), "one").await;
    let left = site.api::<ConfigMap>().get("one").await.unwrap();
    assert_eq!((left.uid(), &left.data), (before.uid(), &before.data));
    assert_eq!((left.owner_references(), left.labels().len(), left.annotations().len()), (&[][..], 0, 0), "{left:?}");
    let asked = site.settled().await;
    assert!(asked.verb("delete").is_empty(), "{asked}");
    assert!(asked.denied().is_empty(), "{}", asked.denied());

    // What was left is nobody's: a new object of that name doesn't take it.
    site.create(&note()).await;
    let refused = |note: &Note| available(note.status.as_ref()).is_some_and(|(_, reason, _)| reason == "NotOwned");
    until_object(&site.api::<Note>(), "one", "does not own it", refused).await;
    assert_eq!(site.api::<ConfigMap>().get("one").await.unwrap().uid(), before.uid());
}

/// The collector has removed the owner references before the operator looks.
async fn collector_first(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    plane.restart_controller_manager();
    let operator = site.operator().controls::<Note, NoteTree>();
    let mut running = site.start(&operator).await;
    site.create(&note()).await;
    let before = built(&site).await;
    running.signal();
    running.end().await.unwrap();
    site.api::<Note>().delete("one", &DeleteParams::orphan()).await.unwrap();
    let collected = |note: &Note| !note.finalizers().contains(&"orphan".to_owned());
    until_object(&site.api::<Note>(), "one", "is done for the collector", collected).await;
    let _running = site.run(&operator, Default::default()).await;
    until_gone(&site.api::<Note>(), "one").await;
    let left = site.api::<ConfigMap>().get("one").await.unwrap();
    assert_eq!((left.uid(), left.owner_references()), (before.uid(), &[][..]));
}

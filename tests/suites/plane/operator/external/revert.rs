//! Tests notes whose spec is reverted while the operator applies the edit.

use std::{sync::Arc, time::Duration};

use opgen::prelude::*;
use opgen_tests::{
    Plane,
    wait::{PATIENCE, until},
};

use super::{
    Scene, note_says, records,
    service::Moment,
    trees::{CalmTree, HiddenTree, NoteWithService, SwitchedTree},
};

/// How long a deletion takes.
const DELETION: Duration = Duration::from_secs(3);

pub(super) async fn update(plane: Arc<Plane>) {
    update_of::<CalmTree>(&plane).await;
    update_of::<HiddenTree>(&plane).await;
}

/// The update to `b` fails after its work, so that the operator does not know of it. Then `a` is wanted again.
async fn update_of<T>(plane: &Arc<Plane>)
where
    T: Provision<NoteWithService> + Provisioner<Inputs = ()>,
{
    let scene = Scene::provisioned::<T>(plane, "a").await;
    scene.service.fail("update", Moment::After);
    scene.edit("b").await;
    scene.has_only("b").await;
    scene.edit("a").await;
    scene.has_only("a").await;
    note_says(&scene.site, "Provisioned").await;
    assert_eq!(scene.service.entries().into_keys().collect::<Vec<_>>(), ["entry-1"]);
}

pub(super) async fn deletion(plane: Arc<Plane>) {
    let scene = Scene::provisioned::<SwitchedTree>(&plane, "a").await;
    scene.service.set_deletion_time(DELETION);
    scene.service.take_calls();
    scene.edit("off").await;
    until("the deletion has begun", PATIENCE, async || {
        let calls = scene.service.take_calls();
        if calls.contains(&"delete") { Ok(()) } else { Err(format!("{calls:?}")) }
    })
    .await;
    scene.edit("a").await;
    until("another entry replaces the one that is being deleted", PATIENCE, async || {
        let entries = scene.service.entries();
        match entries.keys().collect::<Vec<_>>()[..] {
            [id] if id != "entry-1" => Ok(()),
            _ => Err(format!("{entries:?}")),
        }
    })
    .await;
    note_says(&scene.site, "Provisioned").await;
    scene.site.settled().await;
    assert_eq!(scene.service.only_text().as_deref(), Ok("a"));
    assert_eq!(scene.service.take_calls().iter().filter(|call| **call == "create").count(), 1);
    assert_eq!(records(&scene.site).await.len(), 1);
    scene.delete().await;
    assert!(scene.service.entries().is_empty());
    assert!(records(&scene.site).await.is_empty());
}

//! Tests the records of nodes that a later release of the operator does not have.

use std::sync::Arc;

use opgen::prelude::*;
use opgen_tests::Plane;

use super::{
    Scene, field, note_says, operator, records,
    trees::{CalmTree, TwoRecordsTree},
};
use crate::operator::event::until_event_about;

pub(super) async fn removed_node(plane: Arc<Plane>) {
    let Scene { site, service, running, .. } = Scene::provisioned::<TwoRecordsTree>(&plane, "a").await;
    assert_eq!(service.entries().len(), 2);
    running.end_now().await;
    let operator = operator::<CalmTree>(&site, &service);
    let running = site.start(&operator).await;
    let scene = Scene { site, service, operator, running };
    note_says(&scene.site, "Provisioned").await;
    scene.delete().await;
    assert_eq!(scene.service.only_text().as_deref(), Ok("a"), "no code is left that deletes the other record");
    let left = records(&scene.site).await;
    assert_eq!(left.len(), 1, "{left:?}");
    let expected = format!(
        "DNS record {} exists outside of the cluster, but the tree no longer has the node second; delete the DNS record by hand, and \
         then its record, ConfigMap {}/{}",
        field(&left[0], "id"),
        scene.site.namespace,
        left[0].name_any(),
    );
    let event = until_event_about(&scene.site.api(), "one", "ExternalResourceOrphaned").await;
    assert_eq!(event.note, Some(expected));
}

//! Tests the records of nodes that a later release of the operator does not have.

use std::sync::Arc;

use k8s_openapi::api::events::v1::Event;
use kube::api::ListParams;
use opgen::prelude::*;
use opgen_tests::{
    Plane,
    wait::{PATIENCE, until},
};

use super::{
    Scene, field, note_says, operator, records,
    trees::{CalmTree, TwoRecordsTree},
};

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
    until("an event names the record", PATIENCE, async || {
        let events = scene.site.api::<Event>().list(&ListParams::default()).await.map_err(|error| error.to_string())?;
        let left = events.items.iter().filter(|event| event.reason.as_deref() == Some("ExternalResourceOrphaned"));
        let notes: Vec<_> = left.filter_map(|event| event.note.as_deref()).collect();
        if notes == [expected.as_str()] { Ok(()) } else { Err(format!("{notes:?}")) }
    })
    .await;
}

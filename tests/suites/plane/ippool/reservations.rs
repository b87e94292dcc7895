//! Reservations: those without a Pod go, the others are left alone.

use std::{sync::Arc, time::Duration};

use ippool_api::OverlappingRangeIPReservation;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt as _;
use libtest_mimic::Trial;
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use serde_json::json;

use super::scene::{NEVER, Scene};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("overlapping_o1_malformed_reservation_goes", malformed),
        case("overlapping_o2_reservation_goes_with_its_pod", goes_with_its_pod),
        case("overlapping_o3_deletion_is_told_and_counted_once", told_and_counted),
        case("overlapping_o4_second_pass_writes_nothing", second_pass),
    ]
}

const EVERY: Duration = Duration::from_millis(200);

async fn malformed(plane: Arc<Plane>) {
    let scene = Scene::every(&plane, NEVER).await;
    let reservations = scene.api::<OverlappingRangeIPReservation>();
    for (name, podref) in
        [("10.0.0.1", "malformed"), ("10.0.0.2", "/web"), ("10.0.0.3", "default/"), ("10.0.0.4", "default/a/b")]
    {
        scene.reservation(name, podref).await;
        until_gone(&reservations, name).await;
    }
}

/// Or once that has ended; one that is only being deleted, or waits, or has another address, keeps its reservation.
async fn goes_with_its_pod(plane: Arc<Plane>) {
    let scene = Scene::every(&plane, EVERY).await;
    let reservations = scene.api::<OverlappingRangeIPReservation>();
    for pod in ["live", "ended", "moved", "waiting"] {
        scene.pod(pod).await;
    }
    scene.pod_is("live", json!({"phase": "Running"})).await;
    scene.runs("moved", &["10.0.0.99"]).await;
    for (number, pod) in ["live", "ended", "moved", "waiting", "gone"].into_iter().enumerate() {
        scene.reservation(&format!("10.0.0.{number}"), &scene.podref(pod)).await;
    }
    until_gone(&reservations, "10.0.0.4").await;
    scene.pod_is("ended", json!({"phase": "Failed"})).await;
    until_gone(&reservations, "10.0.0.1").await;
    scene.delete::<Pod>("live").await;
    until_gone(&reservations, "10.0.0.0").await;
    let left = reservations.list(&Default::default()).await.unwrap().items;
    assert_eq!(left.iter().map(|one| one.name_any()).collect::<Vec<_>>(), ["10.0.0.2", "10.0.0.3"]);
}

async fn told_and_counted(plane: Arc<Plane>) {
    let scene = Scene::every(&plane, NEVER).await;
    scene.reservation("10.0.0.1", &scene.podref("gone")).await;
    until_gone(&scene.api::<OverlappingRangeIPReservation>(), "10.0.0.1").await;
    scene.told("10.0.0.1", "OrphanedReservationDeleted").await;
    let cleaned = scene.figure("whereabouts_overlappingrange_reservations_cleaned_total");
    assert_eq!(cleaned, ["whereabouts_overlappingrange_reservations_cleaned_total 1"]);
    let asked = scene.settled().await;
    let writes = asked.writes().resource("overlappingrangeipreservations");
    assert_eq!(writes.len(), 1, "one deletion, and no status of what is gone: {writes}");
}

async fn second_pass(plane: Arc<Plane>) {
    let scene = Scene::every(&plane, EVERY).await;
    scene.pod("live").await;
    scene.reservation("10.0.0.1", &scene.podref("live")).await;
    let says = |one: &OverlappingRangeIPReservation| {
        let mut conditions = one.status.iter().flat_map(|status| &status.conditions);
        conditions.any(|held| {
            let said = (held.type_.as_str(), held.reason.as_str(), held.message.as_str());
            said == ("Ready", "Validated", "referenced pod exists") && held.status == "True"
        })
    };
    let reservations = scene.api::<OverlappingRangeIPReservation>();
    let reservation = until_object(&reservations, "10.0.0.1", "is validated", says).await;
    assert!(reservation.finalizers().is_empty(), "whoever made it can delete it at once");
    let before = scene.settled().await;
    let since = scene.settled().await.since(&before);
    assert!(since.is_empty(), "{since}");
}

//! Replicas without Kubernetes elect the one that writes by a Lease in a bucket.

use std::sync::Arc;

use libtest_mimic::Trial;
use opgen::RunError;
use opgen_tests::{
    Plane, case_with_buckets,
    wait::{PATIENCE, until},
};
use tokio::time::Instant;

use super::{
    alone::{Alone, LEASE_DURATION},
    siphon::{Ending, SiphonScene},
};

pub(super) fn cases() -> Vec<Trial> {
    vec![
        case_with_buckets("nats_u33_the_next_replica_leads_soon_after_the_leader_stops", handover),
        case_with_buckets("nats_u33_a_leader_without_a_connection_stops_writing_before_another_one_leads", cut_off),
        case_with_buckets("nats_u33_the_metrics_count_the_passes_over_entries", metrics),
    ]
}

async fn handover(plane: Arc<Plane>) {
    let alone = Alone::new(&plane).await;
    let first = alone.start_replica(1).await;
    let holder = alone.holder_after("").await;
    let second = alone.start_replica(2).await;
    alone.put("one", "a").await;
    first.visits.reach("one", 1).await;
    first.visits.rest().await;
    assert_eq!(second.visits.count("one"), 0, "only the leader makes passes");
    let stopped = Instant::now();
    first.running.end_now().await;
    alone.holder_after(&holder).await;
    assert!(stopped.elapsed() < LEASE_DURATION / 2, "the Lease was not released: {:?}", stopped.elapsed());
    second.visits.reach("one", 1).await;
    alone.put("one", "b").await;
    until("the next leader does the work", PATIENCE, async || match second.visits.texts("one").pop() {
        Some(text) if text == "b" => Ok(()),
        text => Err(format!("{text:?}")),
    })
    .await;
    second.running.end_now().await;
}

async fn cut_off(plane: Arc<Plane>) {
    let alone = Alone::new(&plane).await;
    let first = alone.start_replica(1).await;
    let holder = alone.holder_after("").await;
    let second = alone.start_replica(2).await;
    alone.put("one", "a").await;
    first.visits.reach("one", 1).await;
    first.visits.rest().await;

    first.cut(true);
    alone.holder_after(&holder).await;
    assert!(first.running.has_ended(), "another replica leads, and the first one still runs");
    let passes = first.visits.count("one");
    // The connection is back, too late.
    first.cut(false);
    alone.put("one", "b").await;
    second.visits.reach("one", 1).await;
    until("the entry has the status of the second replica", PATIENCE, async || {
        let siphon = alone.siphon("one").await;
        let is_observed = siphon["status"]["observedGeneration"] == siphon["metadata"]["generation"];
        if siphon["metadata"]["generation"].is_u64() && is_observed { Ok(()) } else { Err(siphon.to_string()) }
    })
    .await;
    assert_eq!(first.visits.count("one"), passes);
    let end = first.running.end().await;
    assert!(matches!(&end, Err(RunError::LeadLost(_))), "{end:?}");
    second.running.end_now().await;
}

/// The pass counter of a kind in a bucket is counted, and its entry has the finalizer.
async fn metrics(plane: Arc<Plane>) {
    let scene = SiphonScene::started(&plane).await;
    scene.put("one", "a", Ending::Well).await;
    scene.is_available("one", "True").await;
    let text = scene.operator.metrics().text().unwrap();
    let is_count = |line: &&str| {
        let of_siphons = line.starts_with("controller_runtime_reconcile_total{") && line.contains("siphon");
        of_siphons && line.contains("result=\"success\"")
    };
    let count = text.lines().find(is_count).and_then(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok());
    assert!(count.is_some_and(|count| count >= 1.0), "{text}");
    let siphon = super::object(&scene.siphons(), &scene.key("one")).await.unwrap();
    assert!(siphon["metadata"]["finalizers"][0].is_string(), "{siphon}");
    scene.siphons().delete_raw(&scene.key("one")).await;
    scene.is_empty().await;
    scene.running.end_now().await;
}

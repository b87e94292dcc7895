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
    stored::object,
};

pub(super) fn cases() -> Vec<Trial> {
    vec![
        case_with_buckets("nats_u33_the_next_replica_leads_soon_after_the_leader_stops", handover),
        case_with_buckets("nats_u33_a_leader_without_a_connection_stops_writing_before_another_one_leads", cut_off),
        case_with_buckets("nats_u33_replicas_whose_wall_clocks_are_set_keep_their_leader", clock_jumps),
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
    alone.is_observed("one").await;
    assert_eq!(first.visits.count("one"), passes);
    let end = first.running.end().await;
    assert!(matches!(&end, Err(RunError::LeadLost(_))), "{end:?}");
    second.running.end_now().await;
}

/// No wall clock decides who leads: those of two replicas are set forward and back by hours and days.
async fn clock_jumps(plane: Arc<Plane>) {
    const HOUR: i64 = 3_600;
    let alone = Alone::new(&plane).await;
    let first = alone.start_replica(1).await;
    let holder = alone.holder_after("").await;
    let second = alone.start_replica(2).await;
    let jumps = [24 * HOUR, -48 * HOUR, -1, HOUR];
    let names = [0, 1, 2, 3].map(|number| format!("siphon-{number}"));
    for (name, seconds) in names.iter().zip(jumps) {
        first.clock.jump(seconds);
        second.clock.jump(-seconds);
        alone.put(name, "a").await;
        alone.is_observed(name).await;
        // Longer than the lease duration.
        alone.until_renewed(9).await;
        assert_eq!(alone.holder().await, holder, "after {seconds} s");
    }
    // Times in the future and in the past are no reason to wait for anything.
    let (siphons, gone) = (alone.buckets.bucket("siphons"), "default.siphon-0");
    siphons.delete_raw(gone).await;
    until("the entry and its claim are gone", PATIENCE, async || {
        let left: Vec<_> = siphons.list().await.into_iter().filter(|entry| entry.key.ends_with(gone)).collect();
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    })
    .await;
    first.visits.rest().await;
    for name in &names {
        assert!(first.visits.count(name) > 0 && second.visits.count(name) == 0, "{name}");
    }
    assert!(!first.running.has_ended() && !second.running.has_ended());

    first.running.end_now().await;
    alone.holder_after(&holder).await;
    alone.put(&names[1], "b").await;
    until("the next leader does the work", PATIENCE, async || match second.visits.texts(&names[1]).pop() {
        Some(text) if text == "b" => Ok(()),
        text => Err(format!("{text:?}")),
    })
    .await;
    alone.is_observed(&names[1]).await;
    second.running.end_now().await;
}

/// The pass counter of a kind in a bucket is counted, and its entry has the finalizer.
async fn metrics(plane: Arc<Plane>) {
    let scene = SiphonScene::started(&plane).await;
    scene.put("one", "a", Ending::Success).await;
    scene.is_available("one", "True").await;
    let is_count = |line: &&str| {
        let of_siphons = line.starts_with("controller_runtime_reconcile_total{") && line.contains("siphon");
        of_siphons && line.contains("result=\"success\"")
    };
    // A pass is counted at its end, after it has written the status.
    until("a pass is counted", PATIENCE, async || {
        let text = scene.operator.metrics().text().unwrap();
        let count = text.lines().find(is_count).and_then(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok());
        if count.is_some_and(|count| count >= 1.0) { Ok(()) } else { Err(text) }
    })
    .await;
    let siphon = object(&scene.siphons(), &scene.key("one")).await.unwrap();
    assert!(siphon["metadata"]["finalizers"][0].is_string(), "{siphon}");
    scene.siphons().delete_raw(&scene.key("one")).await;
    scene.is_empty().await;
    scene.running.end_now().await;
}

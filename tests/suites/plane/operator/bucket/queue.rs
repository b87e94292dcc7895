//! Tests the backoff, the coalescing of changes, the resync and the gaps of watches for kinds in buckets.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use libtest_mimic::Trial;
use opgen::Backoff;
use opgen_tests::{Plane, case_with_buckets};
use serde_json::json;

use super::{
    siphon::{Ending, SiphonScene},
    store::CaseBucket,
};

pub(super) fn cases() -> Vec<Trial> {
    vec![
        case_with_buckets("nats_u10_a_pass_that_fails_is_repeated_with_growing_delays", growing_delays),
        case_with_buckets("nats_u11_a_change_of_a_child_only_enqueues_its_owner", child_change),
        case_with_buckets("nats_u21_a_success_forgets_the_failures_of_an_entry", success),
        case_with_buckets("nats_u24_a_burst_of_puts_is_one_more_pass_with_the_last_value", burst),
        case_with_buckets("nats_u32_a_period_passes_over_each_entry_again", resync),
        case_with_buckets("nats_u40_a_child_that_is_deleted_during_a_gap_of_its_watch_is_made_again", gap),
    ]
}

/// Delays that double from 200 ms.
const GROWING: Backoff = Backoff::Exponential { base: Duration::from_millis(200), cap: Duration::from_secs(60) };

/// Returns whether a delay is the expected one, with the jitter of a tenth and the time of a pass on a busy machine.
fn is_about(delay: Duration, expected: Duration) -> bool {
    (expected..expected * 2).contains(&delay)
}

async fn growing_delays(plane: Arc<Plane>) {
    let scene = SiphonScene::started_with(&plane, |controller| controller.backoff(GROWING)).await;
    scene.put("one", "a", Ending::Failure).await;
    scene.visits.reach("one", 5).await;
    let times = scene.visits.times("one");
    let delays: Vec<_> = times.iter().zip(times.iter().skip(1)).map(|(one, next)| *next - *one).collect();
    // The first write of the status is a change of the entry, after which nothing is tried earlier.
    let last = delays[2..4].iter().zip([800, 1_600]);
    for (delay, expected) in last {
        assert!(is_about(*delay, Duration::from_millis(expected)), "{delays:?}");
    }
    scene.running.end_now().await;
}

async fn success(plane: Arc<Plane>) {
    let scene = SiphonScene::started_with(&plane, |controller| controller.backoff(GROWING)).await;
    scene.put("one", "a", Ending::Failure).await;
    scene.visits.reach("one", 4).await;
    scene.put("one", "b", Ending::Success).await;
    scene.is_available("one", "True").await;
    scene.visits.rest().await;
    let before = scene.visits.count("one");
    scene.put("one", "c", Ending::Failure).await;
    scene.visits.reach("one", before + 2).await;
    let times = scene.visits.times("one");
    let delay = times[before + 1] - times[before];
    assert!(delay < Duration::from_secs(2), "after four more failures it would be longer: {delay:?}");
    scene.running.end_now().await;
}

async fn child_change(plane: Arc<Plane>) {
    let scene = SiphonScene::started(&plane).await;
    for name in ["one", "two"] {
        scene.put(name, "a", Ending::Success).await;
        scene.is_available(name, "True").await;
    }
    scene.visits.rest().await;
    let (one, two) = (scene.visits.count("one"), scene.visits.count("two"));
    scene.site.patch::<ConfigMap>("one", &json!({"data": {"text": "edited"}})).await;
    scene.visits.reach("one", one + 1).await;
    // A foreign object has no owner, so it wakes nobody.
    let mut stranger = ConfigMap::default();
    stranger.metadata.name = Some("stranger".to_owned());
    scene.site.create(&stranger).await;
    scene.visits.rest().await;
    assert_eq!(scene.visits.count("two"), two);
    scene.running.end_now().await;
}

async fn burst(plane: Arc<Plane>) {
    let scene = SiphonScene::started(&plane).await;
    scene.put("one", "first", Ending::Gate).await;
    scene.visits.reach("one", 1).await;
    for number in 0..50 {
        scene.put("one", &number.to_string(), Ending::Success).await;
    }
    // The operator has seen all values of `one` when it passes over an entry that is written later.
    scene.put("two", "a", Ending::Success).await;
    scene.visits.reach("two", 1).await;
    assert_eq!(scene.visits.count("one"), 1);
    scene.visits.gate.add_permits(1);
    scene.is_available("one", "True").await;
    scene.visits.rest().await;
    let mut texts = scene.visits.texts("one");
    assert!(texts.len() <= 3, "{texts:?}");
    texts.dedup();
    assert_eq!(texts, ["first", "49"]);
    scene.running.end_now().await;
}

async fn resync(plane: Arc<Plane>) {
    let period = Duration::from_secs(1);
    let scene = SiphonScene::started_with(&plane, |controller| controller.resync_period(period)).await;
    for name in ["one", "two"] {
        scene.put(name, "a", Ending::Success).await;
        scene.is_available(name, "True").await;
    }
    let passes_again = async || {
        let counts = ["one", "two"].map(|name| (name, scene.visits.count(name)));
        for (name, count) in counts {
            scene.visits.reach(name, count + 2).await;
        }
    };
    passes_again().await;
    let revisions = revisions(&scene.siphons()).await;
    passes_again().await;
    assert_eq!(self::revisions(&scene.siphons()).await, revisions, "nothing has changed, so nothing is written");
    scene.running.end_now().await;
}

async fn revisions(bucket: &CaseBucket) -> Vec<(String, u64)> {
    bucket.list().await.into_iter().map(|entry| (entry.key, entry.revision)).collect()
}

/// The deletion of an owner's child, and then of the owner itself, is only seen by a new list.
async fn gap(plane: Arc<Plane>) {
    let scene = super::Scene::provisioned(&plane, "one").await;
    let pipes = scene.buckets.bucket("pipes");
    let key = scene.key("one");
    let removed = async |bucket: &CaseBucket| {
        bucket.purge_raw(&key).await;
        bucket.compact().await;
    };
    scene.buckets.gap(&pipes, removed(&pipes)).await;
    scene.has_children("one", "a").await;
    let vats = scene.vats();
    scene.buckets.gap(&vats, removed(&vats)).await;
    scene.has_no_children("one").await;
    scene.running.end_now().await;
}

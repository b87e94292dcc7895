//! Pools: what is freed, what stays, and what is said.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use ippool_api::{IPPool, OverlappingRangeIPReservation};
use ippool_controller::Options;
use k8s_openapi::{api::core::v1::Pod, apimachinery::pkg::apis::meta::v1::Time};
use kube::{
    Client, ResourceExt as _,
    api::{Patch, PatchParams},
    client::Body,
};
use libtest_mimic::Trial;
use opgen_tests::{
    Plane, case,
    wait::{self, PATIENCE, until_gone, until_object},
};
use serde_json::json;

use super::{
    churn::{Churn, Size},
    scene::{History, NEVER, Scene, condition},
};
use crate::operator::{meddler::meddled_with, tally::state_writes};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("ippool_i1_status_of_a_pool_is_no_news", status_is_no_news),
        case("ippool_i1_pod_wakes_only_the_pools_that_have_its_addresses", only_its_pools),
        case("ippool_i2_figures_of_a_pool_go_with_it", figures_go),
        case("ippool_i3_reservations_go_before_their_pool", reservations_go_first),
        case("ippool_i4_finalizer_is_stored_first", finalizer_is_first),
        case("ippool_i5_pool_without_allocations_is_ready", empty_pool),
        case("ippool_i6_orphans_are_freed_and_all_else_stays", orphans_are_freed),
        case("ippool_i10_reservation_of_another_pod_stays", reused_reservation_stays),
        case("ippool_i11_failed_cleanup_is_made_good_and_counted_once", failed_cleanup),
        case("ippool_i12_pending_pods_are_waited_for", pending_pods),
        case("ippool_i13_what_was_cleaned_is_said_and_then_nothing_is_written", said_and_still),
        case("ippool_i13_allocations_of_others_survive_a_cleanup", allocations_of_others),
        case("ippool_i13_allocation_that_changed_hands_stays_and_is_no_error", changed_hands),
        case("ippool_i13_cleanup_that_failed_is_an_error_and_not_counted", failed_patch),
        case("ippool_i13_no_live_allocation_is_freed_while_pods_come_and_go", pods_come_and_go),
        case("ippool_i16_status_counts_and_resolves", status_counts),
    ]
}

async fn status_is_no_news(plane: Arc<Plane>) {
    let scene = Scene::every(&plane, NEVER).await;
    scene.pool("quiet", &[]).await;
    scene.says("quiet", "no allocations to reconcile").await;
    let before = scene.settled().await;
    let patch = Patch::Merge(json!({"status": {"usedIPs": 77}}));
    scene.api::<IPPool>().patch_status("quiet", &PatchParams::default(), &patch).await.unwrap();
    let since = scene.settled().await.since(&before);
    assert!(since.is_empty(), "{since}");
    // Other than the status, the spec is news, and what the status says wrongly is mended.
    scene.merge::<IPPool>("quiet", &json!({"spec": {"range": "10.0.0.0/25"}})).await;
    let pool = scene.says("quiet", "no allocations to reconcile").await;
    assert_eq!(pool.status.map(|status| (status.used_ips, status.total_ips)), Some((0, 126)));
}

async fn only_its_pools(plane: Arc<Plane>) {
    let scene = Scene::every(&plane, NEVER).await;
    for pod in ["one", "two"] {
        scene.pod(pod).await;
        scene.pod_is(pod, json!({"phase": "Running"})).await;
        scene.pool(&format!("of-{pod}"), &[("5", scene.podref(pod))]).await;
    }
    for pool in ["of-one", "of-two"] {
        scene.says(pool, "all allocations verified").await;
    }
    let (earlier, before) = (scene.settled().await, scene.world.metrics.passes());
    // What a kubelet says all the time.
    for beat in 0..20 {
        let condition = json!({"type": "Ready", "status": "True", "message": format!("{beat}")});
        scene.pod_is("one", json!({"conditions": [condition]})).await;
    }
    scene.settled().await;
    assert_eq!(scene.world.metrics.passes() - before, 0, "heartbeats");
    scene.pod_is("one", json!({"phase": "Succeeded"})).await;
    scene.holds("of-one", &[]).await;
    scene.says("of-one", "no allocations to reconcile").await;
    scene.settled().await;
    // That of the Pod, and one or two for what it has changed; the other pool is not looked at.
    let passes = scene.world.metrics.passes() - before;
    assert!((1..=3).contains(&passes), "{passes}");
    let asked = scene.asked().await.since(&earlier).with(|entry| entry.name == "of-two");
    assert!(asked.is_empty(), "{asked}");
}

async fn figures_go(plane: Arc<Plane>) {
    let scene = Scene::every(&plane, NEVER).await;
    scene.pod("web").await;
    scene.pool("counted", &[("5", scene.podref("web")), ("6", scene.podref("gone"))]).await;
    scene.holds("counted", &["5"]).await;
    let of = |pool: &str| {
        let series = |name: &str| scene.figure(name).into_iter().filter(|line| line.contains(pool)).collect::<Vec<_>>();
        (series("whereabouts_ippool_allocations"), series("whereabouts_ippool_orphans_cleaned"))
    };
    scene.told("counted", "OrphanedAllocationsCleaned").await;
    scene.settled().await;
    let (allocations, orphans) = of("counted");
    assert!(allocations[0].ends_with(" 1") && orphans[0].ends_with(" 1"), "{allocations:?} {orphans:?}");
    scene.delete::<IPPool>("counted").await;
    until_gone(&scene.api::<IPPool>(), "counted").await;
    assert_eq!(of("counted"), (Vec::new(), Vec::new()));
}

async fn reservations_go_first(plane: Arc<Plane>) {
    let scene = Scene::every(&plane, NEVER).await;
    for pod in ["one", "two", "three"] {
        scene.pod(pod).await;
    }
    for (name, pod) in [("10.0.0.5", "one"), ("mynet-10.0.0.6", "two"), ("10.0.0.7", "three")] {
        scene.reservation(name, &scene.podref(pod)).await;
    }
    scene.pool("going", &[("5", scene.podref("one")), ("6", scene.podref("two"))]).await;
    let reserved = |pool: &IPPool| pool.status.as_ref().is_some_and(|status| status.overlapping_reservations == 2);
    until_object(&scene.api::<IPPool>(), "going", "has two reservations", reserved).await;
    scene.delete::<IPPool>("going").await;
    until_gone(&scene.api::<IPPool>(), "going").await;
    let left = scene.api::<OverlappingRangeIPReservation>().list(&Default::default()).await.unwrap().items;
    assert_eq!(left.iter().map(|one| one.name_any()).collect::<Vec<_>>(), ["10.0.0.7"]);
    let asked = scene.settled().await;
    let deletions = asked.verb("delete").resource("overlappingrangeipreservations");
    let last = asked.writes().iter().last().cloned().unwrap();
    // The end of the pool is that of its finalizer.
    assert!(deletions.len() == 2 && last.resource == "ippools" && last.verb == "patch", "{asked}");
}

async fn finalizer_is_first(plane: Arc<Plane>) {
    let scene = Scene::every(&plane, NEVER).await;
    let history = History::<IPPool>::follow(&scene);
    scene.pool("held", &[("5", scene.podref("gone"))]).await;
    scene.holds("held", &[]).await;
    scene.says("held", "no allocations to reconcile").await;
    let states = history.of("held");
    let held = |pool: &IPPool| pool.finalizers() == ["whereabouts.cni.cncf.io/ippool-cleanup"];
    let full = |pool: &&IPPool| !pool.spec.allocations.is_empty();
    assert!(states.iter().filter(full).any(held), "held before the allocation went: {states:?}");
    let unheld: Vec<_> = states.iter().filter(|pool| !held(pool)).collect();
    assert!(unheld.iter().all(|pool| full(pool) && pool.status.is_none()), "{unheld:?}");
}

async fn empty_pool(plane: Arc<Plane>) {
    let scene = Scene::every(&plane, NEVER).await;
    scene.pool("empty", &[]).await;
    let pool = scene.says("empty", "no allocations to reconcile").await;
    let status = pool.status.as_ref().unwrap();
    assert_eq!((status.used_ips, status.free_ips, status.total_ips), (0, 254, 254));
    let message = "no allocations to reconcile".to_owned();
    assert_eq!(condition(&pool, "Ready"), Some(("True".to_owned(), "Reconciled".to_owned(), message)));
    assert_eq!((condition(&pool, "Reconciling"), condition(&pool, "Stalled")), (None, None));
}

async fn orphans_are_freed(plane: Arc<Plane>) {
    let options = Options { interval: NEVER, ..Options::default() };
    let scene = Scene::new(&plane, options).await;
    for pod in ["live", "ended", "evicted", "moved", "silent"] {
        scene.pod(pod).await;
    }
    scene.runs("live", &["10.0.0.1"]).await;
    scene.runs("moved", &["10.0.0.99"]).await;
    scene.pod_is("ended", json!({"phase": "Succeeded"})).await;
    scene.pod_is("silent", json!({"phase": "Running"})).await;
    // A disruption that took no Pod away for two minutes is taken back by kube-controller-manager.
    let evicted = json!({
        "type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager", "message": "",
        "lastTransitionTime": Time(plane.now()),
    });
    scene.pod_is("evicted", json!({"phase": "Running", "conditions": [evicted]})).await;
    let allocations = [
        ("1", scene.podref("live")),
        ("2", scene.podref("ended")),
        ("3", scene.podref("evicted")),
        ("4", scene.podref("moved")),
        ("5", scene.podref("silent")),
        ("6", scene.podref("gone")),
        ("7", String::new()),
        ("8", "malformed".to_owned()),
        ("9", scene.podref("a/b")),
        // Of that name, and not the one.
        ("10", "elsewhere/live".to_owned()),
    ];
    scene.reservation("10.0.0.6", &scene.podref("gone")).await;
    scene.pool("mixed", &allocations).await;
    scene.holds("mixed", &["1", "5"]).await;
    until_gone(&scene.api::<OverlappingRangeIPReservation>(), "10.0.0.6").await;
    assert!(scene.told("mixed", "OrphanedAllocationsCleaned").await.contains('8'));
    // A Pod that goes wakes its pool, whatever the interval is.
    scene.delete::<Pod>("live").await;
    scene.holds("mixed", &["5"]).await;
    scene.says("mixed", "all allocations verified").await;
    let asked = scene.settled().await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
    let patches = state_writes(&asked).resource("ippools").subresource("").verb("patch");
    assert_eq!(patches.len(), 3, "the finalizer, and two cleanups: {patches}");
}

async fn reused_reservation_stays(plane: Arc<Plane>) {
    let scene = Scene::every(&plane, NEVER).await;
    scene.pod("heir").await;
    scene.reservation("10.0.0.6", &scene.podref("heir")).await;
    scene.pool("reused", &[("6", scene.podref("gone"))]).await;
    scene.holds("reused", &[]).await;
    scene.settled().await;
    let reservation = scene.api::<OverlappingRangeIPReservation>().get("10.0.0.6").await.unwrap();
    assert_eq!(reservation.spec.podref, scene.podref("heir"));
}

/// A client of which so many requests fail as are `left`, of those that are meant by method and path.
fn failing(client: Client, left: Arc<AtomicUsize>, is_meant: fn(&http::Method, &str) -> bool) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let (client, left) = (client.clone(), left.clone());
        async move {
            let is_meant = is_meant(request.method(), request.uri().path());
            let fails = is_meant && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok();
            if fails {
                let body = json!({"kind": "Status", "status": "Failure", "reason": "InternalError", "code": 500});
                let answer = http::Response::builder().status(500).body(Body::from(body.to_string().into_bytes()));
                return Ok::<_, kube::Error>(answer.unwrap());
            }
            client.send(request).await
        }
    });
    Client::new(service, namespace)
}

async fn failed_cleanup(plane: Arc<Plane>) {
    let options = Options { interval: NEVER, ..Options::default() };
    let deletions =
        |method: &http::Method, path: &str| *method == http::Method::DELETE && path.contains("reservations");
    let scene = Scene::with(&plane, options, |client| failing(client, Arc::new(AtomicUsize::new(1)), deletions)).await;
    scene.pod("one").await;
    scene.reservation("10.0.0.6", &scene.podref("one")).await;
    scene.pool("failing", &[("6", scene.podref("one"))]).await;
    scene.says("failing", "waiting for pending pods to be scheduled").await;
    scene.pod_is("one", json!({"phase": "Failed"})).await;
    scene.holds("failing", &[]).await;
    scene.told("failing", "OverlappingReservationCleanupFailed").await;
    until_gone(&scene.api::<OverlappingRangeIPReservation>(), "10.0.0.6").await;
    scene.says("failing", "no allocations to reconcile").await;
    let orphans = scene.figure("whereabouts_ippool_orphans_cleaned_total");
    assert!(orphans.len() == 1 && orphans[0].ends_with(" 1"), "{orphans:?}");
}

async fn pending_pods(plane: Arc<Plane>) {
    let scene = Scene::every(&plane, NEVER).await;
    scene.pod("starting").await;
    scene.pool("waiting", &[("5", scene.podref("starting")), ("6", scene.podref("gone"))]).await;
    let pool = scene.says("waiting", "waiting for pending pods to be scheduled").await;
    let (truth, reason, _) = condition(&pool, "Reconciling").unwrap();
    assert_eq!((truth.as_str(), reason.as_str()), ("True", "Reconciling"));
    scene.holds("waiting", &["5"]).await;
    scene.runs("starting", &["10.0.0.5"]).await;
    let pool = scene.says("waiting", "all allocations verified").await;
    assert_eq!(pool.status.map(|status| (status.pending_pods, status.used_ips)), Some((0, 1)));
}

async fn said_and_still(plane: Arc<Plane>) {
    let scene = Scene::every(&plane, Duration::from_millis(100)).await;
    let history = History::<IPPool>::follow(&scene);
    scene.pod("live").await;
    scene.runs("live", &["10.0.0.5"]).await;
    scene.pool("still", &[("5", scene.podref("live")), ("6", scene.podref("gone"))]).await;
    scene.says("still", "all allocations verified").await;
    let said = history.of("still").iter().filter_map(|pool| condition(pool, "Ready")).collect::<Vec<_>>();
    let cleaned = ("True".to_owned(), "OrphansCleaned".to_owned(), "cleaned 1 orphaned allocation(s)".to_owned());
    assert!(said.contains(&cleaned), "{said:?}");
    // Some twenty passes find nothing to do and ask for nothing.
    let before = scene.settled().await;
    let since = scene.settled().await.since(&before);
    assert!(since.is_empty(), "{since}");
}

/// Somebody allocates all the time, and what is freed between is freed all the same.
async fn allocations_of_others(plane: Arc<Plane>) {
    let scene = Scene::every(&plane, Duration::from_millis(200)).await;
    scene.pod("live").await;
    scene.pod_is("live", json!({"phase": "Running"})).await;
    scene.pool("shared", &[]).await;
    scene.says("shared", "no allocations to reconcile").await;
    for number in 1..=60 {
        let pod = scene.podref(if number % 3 == 0 { "gone" } else { "live" });
        let entry = json!({"id": format!("container-{number}"), "podref": pod, "ifname": "net1"});
        scene.merge::<IPPool>("shared", &json!({"spec": {"allocations": {number.to_string(): entry}}})).await;
    }
    let mut kept: Vec<_> = (1..=60).filter(|number| number % 3 != 0).map(|number| number.to_string()).collect();
    kept.sort();
    scene.holds("shared", &kept.iter().map(String::as_str).collect::<Vec<_>>()).await;
    scene.says("shared", "all allocations verified").await;
    // A watch of a kind that was defined just now may be told to come again (429).
    let failed = scene.asked().await.writes().with(|entry| entry.code >= 400 && ![404, 409, 422].contains(&entry.code));
    assert!(failed.is_empty(), "{failed}");
}

/// Between the operator's last look and its patch.
async fn changed_hands(plane: Arc<Plane>) {
    let options = Options { interval: NEVER, ..Options::default() };
    let admin = plane.client();
    let change = json!([{"op": "replace", "path": "/spec/allocations/6/id", "value": "another-container"}]).to_string();
    let scene = Scene::with(&plane, options, |client| meddled_with(client, admin, "/ippools/shared", change)).await;
    let history = History::<IPPool>::follow(&scene);
    scene.pool("shared", &[]).await;
    scene.says("shared", "no allocations to reconcile").await;
    let entry = json!({"id": "a-container", "podref": scene.podref("gone"), "ifname": "net1"});
    scene.merge::<IPPool>("shared", &json!({"spec": {"allocations": {"6": entry}}})).await;
    // The second look finds that this, too, is nobody's.
    scene.holds("shared", &[]).await;
    scene.says("shared", "no allocations to reconcile").await;
    let codes: Vec<_> =
        scene.asked().await.verb("patch").subresource("").name("shared").iter().map(|one| one.code).collect();
    assert!(codes.contains(&422), "{codes:?}");
    let failed = |pool: &IPPool| condition(pool, "Ready").is_some_and(|(truth, ..)| truth == "False");
    assert!(!history.of("shared").iter().any(failed), "{:?}", history.of("shared"));
}

async fn status_counts(plane: Arc<Plane>) {
    let scene = Scene::every(&plane, NEVER).await;
    scene.pod("live").await;
    scene.pod_is("live", json!({"phase": "Running"})).await;
    scene.reservation("10.0.0.9", &scene.podref("live")).await;
    let live = || scene.podref("live");
    scene.pool("full", &[("10", live()), ("9", live()), ("x", live()), ("6", scene.podref("gone"))]).await;
    let pool = scene.says("full", "all allocations verified").await;
    let status = pool.status.unwrap();
    assert_eq!((status.first_ip.as_str(), status.last_ip.as_str()), ("10.0.0.1", "10.0.0.254"));
    assert_eq!((status.total_ips, status.used_ips, status.free_ips), (254, 3, 251));
    assert_eq!((status.overlapping_reservations, status.pending_pods), (1, 0));
    let ips: Vec<_> = status.allocated_ips.iter().map(|one| (one.ip.as_str(), one.if_name.as_str())).collect();
    assert_eq!(ips, [("10.0.0.9", "net1"), ("10.0.0.10", "net1"), ("x", "net1")]);
    // A range that can't be read leaves the ends as they were.
    scene.merge::<IPPool>("full", &json!({"spec": {"range": "nonsense"}})).await;
    let status = scene.says("full", "all allocations verified").await.status.unwrap();
    assert_eq!((status.first_ip.as_str(), status.total_ips, status.free_ips), ("10.0.0.1", 0, 0));
}

/// The error is not lost, and what was not done is neither told nor counted, as they were upstream at first.
async fn failed_patch(plane: Arc<Plane>) {
    let (options, left) = (Options { interval: NEVER, ..Options::default() }, Arc::<AtomicUsize>::default());
    let cleanups =
        |method: &http::Method, path: &str| *method == http::Method::PATCH && path.ends_with("/ippools/refused");
    let scene = Scene::with(&plane, options, |client| failing(client, left.clone(), cleanups)).await;
    scene.pod("one").await;
    scene.pool("refused", &[("6", scene.podref("one"))]).await;
    scene.says("refused", "waiting for pending pods to be scheduled").await;
    let orphans = || scene.figure("whereabouts_ippool_orphans_cleaned_total");
    left.store(1, Ordering::SeqCst);
    scene.pod_is("one", json!({"phase": "Failed"})).await;
    let failed = |pool: &IPPool| condition(pool, "Ready").is_some_and(|(truth, ..)| truth == "False");
    let pool = until_object(&scene.api::<IPPool>(), "refused", "says that it failed", failed).await;
    assert_eq!((pool.spec.allocations.len(), orphans()), (1, Vec::new()));
    scene.holds("refused", &[]).await;
    scene.says("refused", "no allocations to reconcile").await;
    let orphans = orphans();
    assert!(orphans.len() == 1 && orphans[0].ends_with(" 1"), "{orphans:?}");
}

async fn pods_come_and_go(plane: Arc<Plane>) {
    let scene = Scene::new(&plane, Options::default()).await;
    let size = Size { pools: 4, settled: 20, pods: 24, replaced: 24 };
    let mut churn = Churn::new(plane.client(), &scene.namespace, size);
    churn.begin().await;
    let equals = |number: usize, wanted: usize| if number == wanted { Ok(()) } else { Err(format!("{number}")) };
    wait::until("all pools are ready", PATIENCE, async || equals(churn.ledger().ready(), size.pools)).await;
    churn.replace().await;
    wait::until("no orphan is left", PATIENCE, async || equals(churn.ledger().orphans(), 0)).await;
    churn.beat().await;
    let ledger = churn.ledger();
    assert!(ledger.freed_alive.is_empty(), "{:?}", ledger.freed_alive);
    assert!(ledger.complaints.is_empty(), "{:?}", ledger.complaints);
    assert_eq!(ledger.stayed.len(), size.replaced);
    assert!(ledger.longest() < Options::default().interval, "{:?}", ledger.longest());
}

//! Replicas of an operator elect the one that writes.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use libtest_mimic::Trial;
use opgen::{
    Operator, RunError, RunOptions,
    environment::Environment,
    leader_election::{LeadLoss, LeaderElection, LeaderElectionError},
    queue::{Jitter as _, Seeded},
};
use opgen_tests::{
    Plane, case,
    wait::{self, PATIENCE},
};
use serde_json::json;
use tokio::time::Instant;

use crate::operator::{
    probe::{Passes, ProbeSpec, operator, probe},
    site::{NAME, Running, Site},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("manager_m3_the_lock_is_a_lease_with_the_record_of_client_go", record),
        case("manager_m21_only_the_leader_makes_passes_and_the_next_leads_soon_after_a_clean_stop", handover),
        case("manager_m2_after_a_crash_the_next_leads_when_the_lease_duration_has_passed", crash),
        case("manager_m33_an_operator_that_loses_the_lead_ends_with_an_error", lost),
        case("manager_m34_a_replica_that_stops_before_it_leads_makes_no_pass", never_elected),
        case("manager_m4_the_lease_may_have_labels_and_a_client_of_its_own", own_client),
        case("manager_m1_an_option_that_can_not_be_used_ends_the_run_before_it_starts", refused),
    ]
}

/// Times that make a crash short.
fn election() -> LeaderElection {
    let election = LeaderElection::default().lease_duration(Duration::from_secs(3));
    election.renew_deadline(Duration::from_secs(2)).retry_period(Duration::from_millis(500))
}

/// A replica with an identity of its own.
fn replica(site: &Site, number: u64, passes: &Passes) -> Operator {
    let (plane, dice) = (site.plane.clone(), Seeded::new(number));
    let environment = Environment::new(move || plane.now(), move || dice.bits());
    operator(site, passes, |controller| controller).environment(environment).leader_election(election())
}

async fn start(site: &Site, operator: &Operator) -> Running {
    site.run(operator, RunOptions::default()).await
}

async fn spec(site: &Site) -> LeaseSpec {
    let lease = site.api::<Lease>().get_opt(&format!("{NAME}.opgen.dev")).await.unwrap();
    lease.and_then(|lease| lease.spec).unwrap_or_default()
}

/// Waits until somebody other than `earlier` holds the Lease.
async fn holder_after(site: &Site, earlier: Option<&str>) -> String {
    wait::until("a new holder", PATIENCE, async || match spec(site).await.holder_identity {
        Some(holder) if !holder.is_empty() && Some(holder.as_str()) != earlier => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    spec(site).await.holder_identity.unwrap()
}

/// Waits until a replica that does not lead watches the Lease; its watch shows a release.
async fn follower_watches(site: &Site) {
    wait::until("a follower watches the Lease", PATIENCE, async || {
        let watches = site.asked().await.resource("leases").verb("watch");
        if watches.is_empty() { Err("none does".to_owned()) } else { Ok(()) }
    })
    .await;
}

async fn record(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let operator = replica(&site, 1, &passes);
    site.install(&operator).await;
    let mut running = start(&site, &operator).await;
    holder_after(&site, None).await;
    let held = spec(&site).await;
    assert_eq!((held.lease_duration_seconds, held.lease_transitions), (Some(3), Some(0)));
    let renewed_at = held.renew_time.clone();
    wait::until("a renewal", PATIENCE, async || {
        if spec(&site).await.renew_time == renewed_at { Err("none".to_owned()) } else { Ok(()) }
    })
    .await;
    assert_eq!(spec(&site).await.acquire_time, held.acquire_time);
    running.signal();
    running.end().await.unwrap();
    let released = spec(&site).await;
    assert_eq!((released.holder_identity.as_deref(), released.lease_duration_seconds), (Some(""), Some(1)));
}

/// Whether the metrics of a replica say that it leads.
fn says_it_leads(operator: &Operator) -> bool {
    let leads = format!(r#"leader_election_master_status{{name="{NAME}.opgen.dev"}} 1"#);
    operator.metrics().text().unwrap().lines().any(|line| line == leads)
}

async fn handover(plane: Arc<Plane>) {
    let (site, first, second) = (Site::new(&plane).await, Passes::default(), Passes::default());
    let (operator, other) = (replica(&site, 1, &first), replica(&site, 2, &second));
    site.install(&operator).await;
    let mut leader = start(&site, &operator).await;
    let holder = holder_after(&site, None).await;
    let mut follower = start(&site, &other).await;
    probe(&site, "one", ProbeSpec::default()).await;
    first.reach("one", 1).await;
    follower_watches(&site).await;
    assert_eq!((second.of("one"), says_it_leads(&operator), says_it_leads(&other)), (0, true, false));
    leader.signal();
    leader.end().await.unwrap();
    let released = Instant::now();
    holder_after(&site, Some(&holder)).await;
    assert!(released.elapsed() <= Duration::from_secs(1), "{:?}", released.elapsed());
    second.reach("one", 1).await;
    assert!(says_it_leads(&other));
    follower.signal();
    follower.end().await.unwrap();
    assert!(!says_it_leads(&other));
    // The role grants what an election needs, and nothing more.
    let asked = site.asked().await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
    let leases = asked.resource("leases");
    for verb in ["create", "get", "update", "watch"] {
        assert!(!leases.verb(verb).is_empty(), "{verb}");
    }
}

async fn crash(plane: Arc<Plane>) {
    let (site, first, second) = (Site::new(&plane).await, Passes::default(), Passes::default());
    let operator = replica(&site, 1, &first);
    site.install(&operator).await;
    let leader = start(&site, &operator).await;
    let holder = holder_after(&site, None).await;
    let _follower = start(&site, &replica(&site, 2, &second)).await;
    follower_watches(&site).await;
    drop(leader);
    let crashed = Instant::now();
    holder_after(&site, Some(&holder)).await;
    // The last renewal is at most a retry period older than the crash.
    let after = crashed.elapsed();
    assert!((Duration::from_millis(2300)..Duration::from_secs(5)).contains(&after), "{after:?}");
    assert_eq!(spec(&site).await.lease_transitions, Some(1));
}

async fn lost(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let operator = replica(&site, 1, &passes);
    site.install(&operator).await;
    let running = start(&site, &operator).await;
    holder_after(&site, None).await;
    site.patch::<Lease>(&format!("{NAME}.opgen.dev"), &json!({"spec": {"holderIdentity": "stranger"}})).await;
    let end = running.end().await;
    assert!(matches!(&end, Err(RunError::LeadLost(LeadLoss::Taken(by))) if by == "stranger"), "{end:?}");
    // It releases nothing that it does not hold.
    assert_eq!(spec(&site).await.holder_identity.as_deref(), Some("stranger"));
}

async fn never_elected(plane: Arc<Plane>) {
    let (site, first, second) = (Site::new(&plane).await, Passes::default(), Passes::default());
    let operator = replica(&site, 1, &first);
    site.install(&operator).await;
    let _leader = start(&site, &operator).await;
    let holder = holder_after(&site, None).await;
    let mut follower = start(&site, &replica(&site, 2, &second)).await;
    probe(&site, "one", ProbeSpec::default()).await;
    first.reach("one", 1).await;
    follower_watches(&site).await;
    follower.signal();
    follower.end().await.unwrap();
    assert_eq!((second.of("one"), spec(&site).await.holder_identity), (0, Some(holder)));
}

async fn own_client(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let operator = replica(&site, 1, &passes);
    site.install(&operator).await;
    let options = RunOptions::default().leader_election(election().label("team", "blue").lease_name("own"));
    let options = options.election_client(plane.client());
    // The namespace is that of the operator, also with another client.
    let _running = site.run(&operator, options).await;
    let labelled = |lease: &Lease| lease.metadata.labels.as_ref().is_some_and(|labels| labels["team"] == "blue");
    wait::until_object(&site.api::<Lease>(), "own", "has its label", labelled).await;
    assert!(site.asked().await.resource("leases").is_empty());
}

async fn refused(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let operator = replica(&site, 1, &passes).leader_election(election().renew_deadline(Duration::from_secs(3)));
    let end = operator.run_with(plane.client(), RunOptions::default(), std::future::pending()).await;
    let wrong = |error: &LeaderElectionError| matches!(error, LeaderElectionError::RenewDeadline { .. });
    assert!(matches!(&end, Err(RunError::LeaderElection(error)) if wrong(error)), "{end:?}");
}

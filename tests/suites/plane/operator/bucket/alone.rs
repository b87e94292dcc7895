//! Replicas of an operator that runs without Kubernetes, whose connections to the buckets can be cut.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use k8s_openapi::jiff::Timestamp;
use opgen::{
    Operator, RunOptions,
    environment::Environment,
    leader_election::LeaderElection,
    queue::{Jitter as _, Seeded},
};
use opgen_tests::{
    Plane,
    wait::{PATIENCE, until},
};
use serde_json::{Value, json};

use super::{
    super::site::{Running, Site},
    link::BucketLink,
    siphon::{SiphonTree, VisitedSiphon, Visits},
    store::CaseBuckets,
    stored::{is_observed, until_stored},
};

/// The buckets that the replicas share, and what they did.
pub(super) struct Alone {
    plane: Arc<Plane>,
    pub(super) buckets: CaseBuckets,
    pub(super) visits: Visits,
}

impl Alone {
    pub(super) async fn new(plane: &Arc<Plane>) -> Self {
        Self { plane: plane.clone(), buckets: CaseBuckets::new(plane).await, visits: Visits::default() }
    }

    /// An operator without leader election, with an identity of its own.
    fn operator(&self, number: u64, buckets: BucketLink, (visits, clock): (&Visits, &WallClock)) -> Operator {
        let (plane, dice, visits, clock) = (self.plane.clone(), Seeded::new(number), visits.clone(), clock.clone());
        Operator::new("sluice")
            .environment(Environment::new(move || clock.at(plane.now()), move || dice.bits()))
            .buckets(buckets)
            .without_kubernetes()
            .controls_with::<VisitedSiphon, SiphonTree>(|controller| controller.options(visits))
    }

    pub(super) fn run(&self, operator: &Operator) -> Running {
        Site::run_with(operator, self.plane.client(), RunOptions::default())
    }

    /// Runs the only replica.
    pub(super) fn start(&self, number: u64) -> Running {
        self.run(&self.operator(number, self.buckets.link(), (&self.visits, &WallClock::default())))
    }

    /// Runs a replica that takes part in the election.
    pub(super) async fn start_replica(&self, number: u64) -> Replica {
        let (visits, clock) = (Visits::default(), WallClock::default());
        let link = self.buckets.another_link().await;
        let operator = self.operator(number, link.clone(), (&visits, &clock));
        let running = self.run(&operator.leader_election(election()));
        Replica { running, visits, clock, link }
    }

    /// Returns the operator of a replica that shares the entries by shards, and its passes.
    pub(super) async fn sharded(&self, number: u64, shards: u16) -> (Operator, Visits) {
        let (visits, link) = (Visits::default(), self.buckets.another_link().await);
        let operator = self.operator(number, link, (&visits, &WallClock::default()));
        (operator.leader_election(election_of_members()).shards(shards), visits)
    }

    pub(super) async fn put(&self, name: &str, text: &str) {
        let value = json!({"spec": {"text": text}}).to_string();
        self.buckets.bucket("siphons").put_raw(&format!("default.{name}"), value).await;
    }

    /// Waits until a siphon has the status of its current generation.
    pub(super) async fn is_observed(&self, name: &str) {
        let (siphons, key) = (self.buckets.bucket("siphons"), format!("default.{name}"));
        until_stored(&siphons, &key, "has a current status", is_observed).await;
    }

    /// The holder of the Lease; empty if there is none.
    pub(super) async fn holder(&self) -> String {
        let leases = self.buckets.bucket("sluice-leases").list().await;
        let lease = leases.iter().find(|entry| entry.key.ends_with("sluice.opgen.dev"));
        let lease: Option<Value> = lease.map(|entry| serde_json::from_slice(&entry.value).unwrap());
        lease.and_then(|lease| lease["spec"]["holderIdentity"].as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Waits until the Lease was renewed so many times.
    pub(super) async fn until_renewed(&self, times: usize) {
        let leases = self.buckets.bucket("sluice-leases");
        let revisions = async || leases.list().await.into_iter().map(|entry| entry.revision).collect::<Vec<_>>();
        for _ in 0..times {
            let before = revisions().await;
            until("a renewal of the Lease", PATIENCE, async || match revisions().await {
                now if now != before => Ok(()),
                now => Err(format!("{now:?}")),
            })
            .await;
        }
    }

    /// Waits until somebody other than `earlier` holds the Lease, and returns who does.
    pub(super) async fn holder_after(&self, earlier: &str) -> String {
        until("a new holder", PATIENCE, async || match self.holder().await {
            holder if !holder.is_empty() && holder != earlier => Ok(holder),
            holder => Err(format!("{holder:?}")),
        })
        .await
    }
}

/// The time without a renewal after which another replica leads.
pub(super) const LEASE_DURATION: Duration = Duration::from_secs(4);

/// Times that make a lost connection short.
fn election() -> LeaderElection {
    let election = LeaderElection::default().lease_duration(LEASE_DURATION);
    election.renew_deadline(Duration::from_secs(2)).retry_period(Duration::from_millis(500))
}

/// Times with which a busy machine loses none of the Leases that a replica with shards renews.
pub(super) fn election_of_members() -> LeaderElection {
    let election = LeaderElection::default().lease_duration(Duration::from_secs(8));
    election.renew_deadline(Duration::from_secs(6)).retry_period(Duration::from_secs(1))
}

/// The wall clock of a replica. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct WallClock(Arc<AtomicI64>);

impl WallClock {
    /// Sets the clock forward by this number of seconds, or back.
    pub(super) fn jump(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }

    /// Returns what the clock shows at a time.
    fn at(&self, time: Timestamp) -> Timestamp {
        let error = self.0.load(Ordering::Relaxed) * 1_000_000;
        Timestamp::from_microsecond(time.as_microsecond() + error).expect("a time")
    }
}

/// A replica of an operator.
pub(super) struct Replica {
    pub(super) running: Running,
    pub(super) visits: Visits,
    pub(super) clock: WallClock,
    link: BucketLink,
}

impl Replica {
    /// Cuts or mends the connection to the buckets.
    pub(super) fn cut(&self, is_cut: bool) {
        self.link.cut(is_cut);
    }
}

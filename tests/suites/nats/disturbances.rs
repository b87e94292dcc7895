//! Two replicas of the operator on three servers, while servers and replicas are disturbed: one of them writes at a time.

use std::{collections::BTreeMap, time::Duration};

use fastrand::Rng;
use opgen::bucket::{Bucket as _, BucketDefinition};
use opgen_tests::{
    Cut, NatsCluster,
    nats::{ForeignClient, StreamMessage},
    wait,
};
use serde_json::Value;

use crate::{
    barrel::{BARRELS, BUCKETS, CONFIG_MAPS, LEASES, TAPS},
    case::{connect, open_in_cluster, options},
    editor::{BarrelClient, EditProgress, LASTING, edit, lasting},
    recording::Recording,
    replicas::ReplicaProcess,
    terms::TermReport,
};

/// The environment variable for the number of disturbances.
const DISTURBANCES: &str = "OPGEN_NATS_DISTURBANCES";

/// The environment variable for the seed.
const SEED: &str = "OPGEN_NATS_SEED";

const FEW: u32 = 8;

/// How many changes the operator has to follow during a disturbance, and after it.
const CHANGES: usize = 3;

/// The longest time of a disturbance that leaves nobody who could follow changes, for example if the connection of the leader leads to
/// the paused server, and the other replica was not faster.
const LONGEST: Duration = Duration::from_secs(6);

/// The time in which the operator goes on after a disturbance: elections of the streams, of a replica, and a reconnection.
const RECOVERY: Duration = Duration::from_secs(60);

/// Something that goes wrong, and is mended.
#[derive(Clone, Copy, Debug)]
enum Disturbance {
    /// A server is killed.
    KilledServer(usize),
    /// A server is stopped by SIGSTOP, with its connections.
    PausedServer(usize),
    /// The leader of a stream hands over.
    SteppedDown(&'static str),
    /// Data between a replica and the servers is lost.
    Partition(usize, Cut),
    /// The replica that leads ends, and is started again.
    StoppedLeader,
}

impl Disturbance {
    /// Draws disturbances, of all forms in turn. One of them stops the leader.
    fn draw(seed: u64, count: u32) -> Vec<Self> {
        let mut random = Rng::with_seed(seed);
        let draw = |at: u32| match at % 5 {
            0 => Self::StoppedLeader,
            1 => Self::Partition(random.usize(..2), [Cut::Both, Cut::Requests, Cut::Responses][random.usize(..3)]),
            2 => Self::PausedServer(random.usize(..3)),
            3 => Self::KilledServer(random.usize(..3)),
            _ => Self::SteppedDown([BARRELS, TAPS, LEASES][random.usize(..3)]),
        };
        let mut drawn: Vec<_> = (0..count).map(draw).collect();
        random.shuffle(&mut drawn);
        drawn
    }
}

/// Returns the number of disturbances.
pub(crate) fn count() -> u32 {
    number(DISTURBANCES).map_or(FEW, |number| u32::try_from(number).expect("a number of disturbances"))
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

/// Three servers and two replicas.
struct Replicated {
    cluster: NatsCluster,
    /// Clients of the buckets, for what no operator does.
    foreign: BTreeMap<&'static str, ForeignClient>,
    recording: Recording,
    replicas: [ReplicaProcess; 2],
}

impl Replicated {
    async fn start() -> Self {
        let cluster = NatsCluster::start().await;
        let mut foreign = BTreeMap::new();
        for name in BUCKETS {
            let client = ForeignClient::connect(&cluster.urls(), name).await;
            wait::until(format!("{name} is created"), wait::PATIENCE, async || {
                client.create_with_whole_history().await?;
                client.leader().await
            })
            .await;
            foreign.insert(name, client);
        }
        let recording = Recording::default();
        let first = ReplicaProcess::start(&cluster, 0, &recording).await;
        let second = ReplicaProcess::start(&cluster, 1, &recording).await;
        Self { cluster, foreign, recording, replicas: [first, second] }
    }

    /// Disturbs, until the operator has followed more changes or for a limited time, and mends.
    async fn disturb(&mut self, disturbance: Disturbance, progress: &EditProgress) {
        match disturbance {
            Disturbance::KilledServer(at) => {
                let name = format!("n{at}");
                self.cluster.server(&name).stop();
                let _ = progress.follows_more(CHANGES, LONGEST).await;
                self.cluster.server(&name).start_again();
                self.cluster.until_healthy().await;
            }
            Disturbance::PausedServer(at) => {
                let name = format!("n{at}");
                self.cluster.server(&name).pause();
                let _ = progress.follows_more(CHANGES, LONGEST).await;
                self.cluster.server(&name).resume();
                self.cluster.until_healthy().await;
            }
            // It may have no leader at the moment.
            Disturbance::SteppedDown(bucket) => drop(self.foreign[bucket].step_down().await),
            Disturbance::Partition(at, cut) => {
                self.replicas[at].cut(cut);
                let _ = progress.follows_more(CHANGES, LONGEST).await;
                self.replicas[at].cut(Cut::Nothing);
            }
            Disturbance::StoppedLeader => {
                let at = self.recording.leader().expect("a replica that has written the Lease");
                self.replicas[at].stop().await;
                let _ = progress.follows_more(CHANGES, LONGEST).await;
                self.replicas[at].start_again();
            }
        }
    }

    /// Checks that the buckets have the lasting barrels with their children, and nothing of the others.
    async fn until_settled(&self, text: &str) {
        let connection = connect(options(self.cluster.urls())).await;
        let mut wanted: Vec<_> = (0..LASTING).map(|number| format!("default.{}", lasting(number))).collect();
        for (name, pointer) in [(TAPS, "/spec/text"), (CONFIG_MAPS, "/data/text"), (BARRELS, "/spec/text")] {
            if name == BARRELS {
                // Each has a claim, since it has a finalizer.
                wanted.extend((0..LASTING).map(|number| format!("_claim.default.{}", lasting(number))));
                wanted.sort();
            }
            let bucket = open_in_cluster(&connection, &BucketDefinition::new(name)).await;
            wait::until(format!("{name} has nothing but {wanted:?}"), wait::PATIENCE, async || {
                let entries = bucket.list().await.map_err(|error| error.to_string())?;
                let keys: Vec<_> = entries.iter().map(|entry| entry.key.clone()).collect();
                let has_text = |value: &[u8]| {
                    let object: Value = serde_json::from_slice(value).unwrap_or_default();
                    object.pointer(pointer).is_some_and(|found| *found == *text)
                };
                let mut objects = entries.iter().filter(|entry| !entry.key.starts_with('_'));
                let are_current = objects.all(|entry| has_text(&entry.value));
                if keys == wanted && are_current { Ok(()) } else { Err(format!("{keys:?}, current: {are_current}")) }
            })
            .await;
        }
    }

    /// Returns the ends of runs that are no loss of the lead.
    fn failures(&self) -> Vec<String> {
        self.replicas.iter().flat_map(ReplicaProcess::failures).collect()
    }

    /// Returns the messages of the streams that the replicas write for objects and for the Lease.
    async fn histories(&self) -> BTreeMap<&'static str, Vec<StreamMessage>> {
        let mut histories = BTreeMap::new();
        for name in [BARRELS, TAPS, CONFIG_MAPS, LEASES] {
            histories.insert(name, self.foreign[name].messages(">", 0).await);
        }
        histories
    }
}

/// The disturbances come one after the other, while barrels change, and the history shows who wrote when.
pub(crate) async fn one_leader() {
    let seed = number(SEED).unwrap_or(1);
    let disturbances = Disturbance::draw(seed, count());
    let mut scene = Replicated::start().await;
    let (client, progress) = (BarrelClient::connect(&scene.cluster).await, EditProgress::default());
    let disturbing = async {
        let first = progress.follows_more(1, RECOVERY).await;
        first.unwrap_or_else(|seen| panic!("the operator does nothing: {seen}; failures: {:#?}", scene.failures()));
        for (at, disturbance) in disturbances.iter().enumerate() {
            scene.disturb(*disturbance, &progress).await;
            let recovered = progress.follows_more(CHANGES, RECOVERY).await;
            recovered.unwrap_or_else(|seen| {
                panic!("seed {seed}: after {disturbance:?}, number {at}: {seen}; failures: {:#?}", scene.failures())
            });
        }
        progress.end();
    };
    tokio::join!(edit(&client, &progress), disturbing);

    for number in 0..LASTING {
        client.put(&lasting(number), "the last text").await;
    }
    scene.until_settled("the last text").await;
    for replica in &mut scene.replicas {
        replica.stop().await;
    }
    let failures = scene.failures();
    assert!(failures.is_empty(), "seed {seed}: {failures:#?}");
    let report = TermReport::new(&scene.histories().await, &scene.recording.writes());
    assert!(report.violations.is_empty(), "seed {seed}: {disturbances:?}\n{report}");
    assert!(report.writes > disturbances.len() && report.leaders.len() > 1, "seed {seed}: {report}");
}

//! Simulates replicas of an operator that start, stop, crash and lose their network, and checks that no shard ever has two writers.

#![allow(clippy::unwrap_used)]

use super::{
    coordinator::{MemberFacts, ShardCoordinator},
    gate::Shards,
    hash::ShardCount,
};
use crate::{
    environment::Environment,
    lease::{leads::Leads, options::LeaderElection},
    queue::{Jitter as _, Seeded},
};
use http::Request;
use k8s_openapi::jiff::Timestamp;
use kube::client::Body;
use opgen_sandbox::Sandbox;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{oneshot, watch},
    task::JoinHandle,
    time::{Instant, sleep_until},
};

const SHARDS: u16 = 7;
const MAX_MEMBERS: usize = 4;
const STEPS: usize = 40;
/// The time between two checks.
const SLICE: Duration = Duration::from_millis(100);
/// The variable is for a long run.
const SCHEDULES: u64 = 8;
const SCHEDULES_VARIABLE: &str = "OPGEN_SHARD_SCHEDULES";
/// A schedule after which all processes end when they are reconnected.
const ALL_END_LATE: u64 = 432;

/// A member that runs.
struct Process {
    shards: Shards,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
    is_cut: watch::Sender<bool>,
}

/// The processes of one schedule.
struct Group {
    sandbox: Sandbox,
    dice: Arc<Seeded>,
    lease: String,
    processes: Vec<Process>,
}

impl Process {
    fn start(group: &Group) -> Self {
        let (is_cut, dice) = (watch::Sender::new(false), group.dice.clone());
        let shards = Shards::new(ShardCount::new(SHARDS).unwrap(), Leads::new());
        let begin = Instant::now();
        // Each renewal changes the record, by which the others know that the holder is alive.
        let now = move || Timestamp::UNIX_EPOCH + begin.elapsed();
        let facts = MemberFacts {
            options: LeaderElection::default().lease_name(&group.lease),
            client: cuttable(group.sandbox.client(), is_cut.subscribe()),
            operator: "simulated".to_owned(),
            namespace: "default".to_owned(),
            environment: Environment::new(now, move || dice.bits()),
        };
        let (stop, stopped) = oneshot::channel();
        let mut coordinator = ShardCoordinator::start(facts, shards.clone(), Arc::new(|_| {}));
        let task = tokio::spawn(async move {
            let hold = async {
                match coordinator.join().await {
                    Ok(()) => coordinator.run().await,
                    Err(loss) => loss,
                }
            };
            tokio::select! {
                biased;
                _ = stopped => {}
                _ = hold => return,
            }
            coordinator.release().await;
        });
        Self { shards, stop: Some(stop), task, is_cut }
    }

    /// Returns whether its passes over objects of a shard may write. Those of an ended process don't run.
    fn may_write(&self, shard: u16) -> bool {
        !self.task.is_finished() && self.shards.may_write(shard)
    }
}

/// Wraps a client whose requests and responses wait while the network is cut.
fn cuttable(client: kube::Client, is_cut: watch::Receiver<bool>) -> kube::Client {
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, mut is_cut) = (client.clone(), is_cut.clone());
        async move {
            let _ = is_cut.wait_for(|is_cut| !is_cut).await;
            let response = client.send(request).await;
            let _ = is_cut.wait_for(|is_cut| !is_cut).await;
            response
        }
    });
    kube::Client::new(service, "default")
}

impl Group {
    /// Lets time pass, and checks the writers of each shard meanwhile.
    async fn pass_time(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            sleep_until(Instant::now() + SLICE).await;
            for shard in 0..SHARDS {
                let writers = self.writers(shard);
                assert!(writers <= 1, "{writers} writers of shard {shard} of {}", self.lease);
            }
            self.processes.retain(|process| !process.task.is_finished());
        }
    }

    fn writers(&self, shard: u16) -> usize {
        self.processes.iter().filter(|process| process.may_write(shard)).count()
    }

    fn below(&self, limit: usize) -> usize {
        usize::try_from(self.dice.bits() % u64::try_from(limit.max(1)).unwrap()).unwrap()
    }

    /// Starts, stops, kills, cuts off or reconnects a process.
    async fn step(&mut self) {
        let (index, action) = (self.below(self.processes.len()), self.below(6));
        match self.processes.get_mut(index) {
            Some(process) if action == 0 => drop(process.stop.take()),
            Some(process) if action == 1 => process.task.abort(),
            Some(process) if action < 4 => drop(process.is_cut.send_replace(action == 2)),
            _ => {
                if self.processes.len() < MAX_MEMBERS {
                    self.processes.push(Process::start(self));
                }
            }
        }
        let time = Duration::from_millis(self.dice.bits() % 9_000);
        self.pass_time(time).await;
    }

    /// Reconnects all processes, and waits until each shard has a writer. Starts a process if none is left: those that lost their Lease
    /// while they were cut off end when they notice it.
    async fn recover(&mut self) {
        for process in &self.processes {
            process.is_cut.send_replace(false);
        }
        // The Lease of a crashed member expires, and so may those of its shards after that.
        let limit = LeaderElection::default().times.lease_duration * 3;
        let (mut end, mut is_started) = (Instant::now() + limit, false);
        while (0..SHARDS).any(|shard| self.writers(shard) == 0) {
            assert!(Instant::now() < end, "a shard of {} has no writer", self.lease);
            if self.processes.iter().all(|process| process.stop.is_none()) {
                assert!(!is_started, "a process of {} ended that was never cut off", self.lease);
                self.processes.push(Process::start(self));
                (end, is_started) = (Instant::now() + limit, true);
            }
            self.pass_time(SLICE).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn shards_have_one_writer_whatever_happens_to_the_members_and_each_has_one_in_the_end() {
    let variable = std::env::var(SCHEDULES_VARIABLE).ok().and_then(|text| text.parse().ok());
    for seed in (0..variable.unwrap_or(SCHEDULES)).chain([ALL_END_LATE]) {
        let (dice, lease) = (Arc::new(Seeded::new(seed)), format!("shop-{seed}"));
        let mut group = Group { sandbox: Sandbox::builder().start(), dice, lease, processes: Vec::new() };
        for _ in 0..STEPS {
            group.step().await;
        }
        group.recover().await;
        group.processes.iter().for_each(|process| process.task.abort());
    }
}

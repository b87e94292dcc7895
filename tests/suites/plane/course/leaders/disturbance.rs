//! Random disturbances of the replicas by seed: signals, partitions, wrong clocks, and a slow API server.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use k8s_openapi::jiff::Timestamp;
use opgen::queue::{Jitter as _, Seeded};
use opgen_tests::Cut;

use super::{
    replica::Replica,
    team::{Team, meanwhile},
};

/// How often each disturbance is chosen, in hundredths.
const WEIGHTS: [(Disturbance, u64); 9] = [
    (Disturbance::Kill, 16),
    (Disturbance::Replace, 14),
    (Disturbance::Stop, 16),
    (Disturbance::Pause, 18),
    (Disturbance::Partition, 9),
    (Disturbance::LostRequests, 8),
    (Disturbance::LostResponses, 9),
    (Disturbance::Clock, 5),
    (Disturbance::SlowServer, 5),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Disturbance {
    /// SIGKILL; the container is restarted in its Pod.
    Kill,
    /// SIGKILL; another Pod takes the place.
    Replace,
    /// SIGTERM; another Pod takes the place.
    Stop,
    /// SIGSTOP for longer than the lease duration, then SIGCONT.
    Pause,
    Partition,
    LostRequests,
    LostResponses,
    /// The wall clock of the running process jumps.
    Clock,
    /// All requests and responses are delayed, by less than the margin of the election.
    SlowServer,
}

/// Disturbs the replicas of a team.
pub(super) struct Disturber {
    random: Seeded,
    seed: u64,
    counts: BTreeMap<Disturbance, usize>,
    history: Vec<String>,
    slow_until: Option<Instant>,
    /// When processes were killed, with their users and whether the container was restarted in its Pod.
    pub(super) kills: Vec<(Timestamp, String, bool)>,
}

impl Disturber {
    pub(super) fn new() -> Self {
        let seed = std::env::var("OPGEN_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
        println!("the disturbances follow from OPGEN_SEED={seed}");
        Self {
            random: Seeded::new(seed),
            seed,
            counts: BTreeMap::new(),
            history: Vec::new(),
            slow_until: None,
            kills: Vec::new(),
        }
    }

    /// Disturbs the team this many times. The disturbances overlap.
    pub(super) async fn disturb(&mut self, team: &mut Team, count: usize) {
        for _ in 0..count {
            let pause = Duration::from_millis(700 + self.below(2_800));
            meanwhile(pause, || self.tend(team)).await;
            let holder = team.holder().await;
            let number = match team.number_of(&holder) {
                Some(leader) if self.below(100) < 70 => leader,
                _ => usize::try_from(self.below(team.replicas.len() as u64)).unwrap_or_default(),
            };
            let disturbance = self.choose();
            self.history.push(format!("{} {disturbance:?} replica-{number}", Timestamp::now()));
            *self.counts.entry(disturbance).or_default() += 1;
            self.apply(team, number, disturbance);
        }
    }

    /// Ends all disturbances.
    pub(super) fn end(&mut self, team: &mut Team) {
        self.slow_until = Some(Instant::now());
        for replica in &mut team.replicas {
            replica.resume();
            replica.heal();
            replica.shift_clock("+0");
        }
        self.tend(team);
    }

    /// Ends what is due, and restarts the processes that have ended.
    pub(super) fn tend(&mut self, team: &mut Team) {
        if self.slow_until.is_some_and(|until| until <= Instant::now()) {
            self.slow_until = None;
            team.replicas.iter().for_each(|replica| replica.proxy.delay(Duration::ZERO));
        }
        team.replicas.iter_mut().for_each(Replica::tend);
    }

    fn apply(&mut self, team: &mut Team, number: usize, disturbance: Disturbance) {
        let duration = Duration::from_millis(3_200 + self.below(3_000));
        let cut_until = Instant::now() + Duration::from_millis(500 + self.below(5_500));
        let offset = ["-10m", "+10m", "-3h", "+2d", "+0"][usize::try_from(self.below(5)).unwrap_or_default()];
        let delay = Duration::from_millis(40 + self.below(400));
        let replica = &mut team.replicas[number];
        match disturbance {
            Disturbance::Kill | Disturbance::Replace => {
                let in_pod = disturbance == Disturbance::Kill && replica.kill_at.is_none();
                self.kills.push((Timestamp::now(), replica.access.user().to_owned(), in_pod));
                replica.process.kill();
                replica.restart(!in_pod);
            }
            Disturbance::Stop => {
                replica.resume();
                replica.process.terminate();
                replica.kill_at = Some(Instant::now() + Duration::from_secs(6));
            }
            Disturbance::Pause => replica.pause(Instant::now() + duration),
            Disturbance::Partition => replica.cut(Cut::Both, cut_until),
            Disturbance::LostRequests => replica.cut(Cut::Requests, cut_until),
            Disturbance::LostResponses => replica.cut(Cut::Responses, cut_until),
            Disturbance::Clock => replica.shift_clock(offset),
            Disturbance::SlowServer => {
                self.slow_until = Some(Instant::now() + duration);
                team.replicas.iter().for_each(|replica| replica.proxy.delay(delay));
            }
        }
    }

    fn choose(&self) -> Disturbance {
        let mut number = self.below(WEIGHTS.iter().map(|(_, weight)| weight).sum());
        let chosen = WEIGHTS.iter().find(|(_, weight)| {
            let is_chosen = number < *weight;
            number = number.saturating_sub(*weight);
            is_chosen
        });
        chosen.expect("a disturbance").0
    }

    fn below(&self, end: u64) -> u64 {
        (self.random.bits() >> 16) % end
    }

    /// Returns the seed, and how often each disturbance was applied.
    pub(super) fn summary(&self) -> String {
        format!("seed {}: {} disturbances: {:?}", self.seed, self.history.len(), self.counts)
    }

    /// Returns all disturbances.
    pub(super) fn history(&self) -> String {
        format!("seed {}:\n{}", self.seed, self.history.join("\n"))
    }
}

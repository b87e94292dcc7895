//! Runs the processes of a candidate in a simulated leader election one after the other: each stands for election, writes while it leads,
//! freezes and ends.

use super::{
    Defects,
    network::{LONGEST_TRANSIT, Network},
    schedule::{Dice, End, Schedule, Window, end_of_window},
};
use crate::{
    environment::Environment,
    lease::{
        candidate::Candidate, elector::Elector, guard, identity::CandidateIdentity, lead::Lead, leads::Leads,
        options::LeaderElection,
    },
};
use http::Request;
use kube::Api;
use std::{
    future::pending,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    sync::oneshot,
    time::{Instant, Sleep, sleep_until, timeout_at},
};

/// The response timeout of the workers' client.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(8);

/// The time until the workers of a process that lost the lead are aborted.
const ABORT_TIME: Duration = Duration::from_millis(20);

/// The part of the dice for the processes of the first candidate. Those of the next candidates follow.
const FIRST_PART: u64 = 10;

/// The time after which Kubernetes kills a process that it has told to stop.
const GRACE_PERIOD: Duration = Duration::from_secs(30);

/// Runs the processes of the candidate `index` one after the other; the caller drops the future when the schedule ends. A process ends by a
/// crash, after which the container restarts in the same Pod, by a stop, after which a new Pod replaces it, or by itself when it loses the
/// leadership.
pub(super) async fn run(index: usize, schedule: &Arc<Schedule>, network: &Network, defects: Defects) {
    let faults = &schedule.candidates[index];
    let dice = Arc::new(Dice::new(schedule.seed, FIRST_PART + index as u64));
    let (mut ends, mut pod_number) = (faults.ends.iter().copied(), 0);
    let mut next_end = ends.next();
    let defects = Defects { clock_rate: faults.clock_rate, ..defects };
    for life in 0.. {
        // The requests of a dead process arrive before its successor starts.
        sleep_until(Instant::now() + LONGEST_TRANSIT + dice.millis(0..2_000)).await;
        // Each process of the three candidates has another number.
        let random = life * 3 + index as u64;
        let identity = CandidateIdentity::new(&format!("pod-{index}"), Some(&format!("uid-{pod_number}")), random);
        let process = Process::new(index, identity, schedule, network, defects, &dice);
        let (end_at, end) = next_end.unwrap_or((schedule.end, End::Crash));
        let process =
            process.run(async move { if end == End::Stop { sleep_until(end_at).await } else { pending().await } });
        let process = Frozen { inner: Box::pin(process), windows: &faults.frozen, sleep: None };
        let killed_at = if end == End::Stop { end_at + GRACE_PERIOD } else { end_at };
        let _ = timeout_at(killed_at, process).await;
        // A process that lost the leadership ends earlier. Then the next process has the same end.
        if Instant::now() >= end_at {
            pod_number += usize::from(end == End::Stop);
            next_end = ends.next();
        }
    }
}

/// One process of a candidate.
struct Process {
    candidate: Candidate,
    lead: Lead,
    /// The client of its workers.
    client: kube::Client,
    dice: Arc<Dice>,
}

impl Process {
    /// Returns a process of the candidate `index`.
    fn new(
        index: usize,
        identity: CandidateIdentity,
        schedule: &Schedule,
        network: &Network,
        defects: Defects,
        dice: &Arc<Dice>,
    ) -> Self {
        let client = network.client(index, identity.as_str());
        let leads = Leads::new();
        let lead = leads.process().clone();
        let mut elector = Elector::new(identity, &LeaderElection::default());
        elector.defects = defects;
        let (wall_clock, random) = (schedule.candidates[index].wall_clock.clone(), dice.clone());
        let now = move || wall_clock.time_at(Instant::now());
        let candidate = Candidate {
            elector,
            leases: Api::namespaced(client.clone(), "default"),
            name: format!("lease-{}", schedule.seed),
            operator: "simulated".to_owned(),
            lead: lead.clone(),
            environment: Environment::new(now, move || random.below(u64::MAX)),
            watch: None,
            reopen_at: None,
            last_failure: None,
        };
        let client = if defects.is_unguarded { client } else { guard::guard_writes(client, leads) };
        Self { candidate, lead, client, dice: dice.clone() }
    }

    /// Runs the candidate and its workers, as the manager runs an operator. When `end` completes, the workers finish their writes, and then
    /// the candidate stops and releases the Lease. When the candidate loses the leadership, the workers run for [`ABORT_TIME`] more, and
    /// the Lease is not released.
    async fn run(self, end: impl Future<Output = ()>) {
        let Self { candidate, lead, client, dice } = self;
        let (stop, stopped) = oneshot::channel::<()>();
        let mut election = std::pin::pin!(candidate.run(async {
            // `stop` is dropped after the candidate, so this receives a message.
            let _ = stopped.await;
        }));
        let (drain, draining) = oneshot::channel();
        let mut workers = std::pin::pin!(work(client, lead, &dice, draining));
        tokio::select! {
            // The workers of an operator are tasks of their own. After a freeze, one may write before the candidate notices that the
            // lead is lost. This is the worst case, so the workers are polled first.
            biased;
            // The workers end only after `end`, so this does not happen.
            () = &mut workers => return,
            _ = &mut election => {
                // A worker on another thread continues until it is aborted.
                let _ = timeout_at(Instant::now() + ABORT_TIME, workers).await;
                return;
            }
            () = end => drop(drain),
        }
        tokio::select! {
            biased;
            () = &mut workers => {}
            // The leadership was lost before the workers had finished.
            _ = &mut election => return,
        }
        let _ = stop.send(());
        let _ = election.await;
    }
}

/// Sends writes as a worker of an operator does, from the time when the process leads until the sender of `draining` is dropped.
async fn work(client: kube::Client, lead: Lead, dice: &Dice, mut draining: oneshot::Receiver<()>) {
    tokio::select! {
        () = lead.wait_until_held() => {}
        _ = &mut draining => return,
    }
    loop {
        let request = Request::patch("/api/v1/namespaces/default/configmaps/work").body(Vec::new().into());
        if let Ok(request) = request {
            let _ = timeout_at(Instant::now() + RESPONSE_TIMEOUT, client.send(request)).await;
        }
        tokio::select! {
            () = sleep_until(Instant::now() + dice.millis(50..1_500)) => {}
            _ = &mut draining => return,
        }
    }
}

/// A process that is not scheduled in some periods, as after SIGSTOP.
struct Frozen<'a, F> {
    inner: Pin<Box<F>>,
    windows: &'a [Window],
    sleep: Option<Pin<Box<Sleep>>>,
}

impl<F: Future> Future for Frozen<'_, F> {
    type Output = F::Output;

    /// Polls the process, except in a window in which it is frozen: then waits until the window ends.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        if let Some(end) = end_of_window(self.windows, Instant::now()) {
            let sleep = self.sleep.insert(Box::pin(sleep_until(end)));
            if sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
        self.sleep = None;
        self.inner.as_mut().poll(context)
    }
}

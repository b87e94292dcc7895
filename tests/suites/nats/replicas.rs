//! Replicas of the operator, each with a connection of its own through proxies, which are started again when they lose the lead.

use std::{
    fmt::Debug,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use opgen::{
    RunError, RunOptions,
    leader_election::LeaderElection,
    nats::{NatsBuckets, NatsConnection, NatsError, NatsOptions},
};
use opgen_tests::{Cut, NatsCluster, Proxy, wait};
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{MissedTickBehavior, interval, timeout},
};

use crate::{
    barrel::{PassCounts, no_cluster, operator},
    recording::Recording,
};

/// The time for which a call waits: shorter than the renew deadline, so that a renewal can be tried again.
const CALL: Duration = Duration::from_secs(1);

/// The time from one attempt at a connection to the next, if it fails at once.
const PAUSE: Duration = Duration::from_millis(100);

/// The ends of runs that are no loss of the lead.
type Failures = Arc<Mutex<Vec<String>>>;

/// A replica, which runs from [`start`](Self::start) to [`stop`](Self::stop).
pub(crate) struct ReplicaProcess {
    number: usize,
    /// One in front of each server.
    proxies: Vec<Proxy>,
    recording: Recording,
    failures: Failures,
    running: Option<(watch::Sender<bool>, JoinHandle<()>)>,
}

impl ReplicaProcess {
    /// Starts the replica of a number.
    pub(crate) async fn start(cluster: &NatsCluster, number: usize, recording: &Recording) -> Self {
        let mut proxies = Vec::new();
        for url in cluster.urls() {
            let server: SocketAddr = url.trim_start_matches("nats://").parse().expect("an address");
            proxies.push(Proxy::start(server).await.expect("a proxy"));
        }
        let (recording, failures) = (recording.clone(), Failures::default());
        let mut replica = Self { number, proxies, recording, failures, running: None };
        replica.start_again();
        replica
    }

    /// Starts it with a new connection. It is started again whenever it has lost the lead, as the kubelet does.
    pub(crate) fn start_again(&mut self) {
        let urls = self.proxies.iter().map(|proxy| format!("nats://{}", proxy.address()));
        let options = NatsOptions::new(urls).request_timeout(CALL);
        let (stop, stopped) = watch::channel(false);
        let (recording, failures) = (self.recording.clone(), Arc::clone(&self.failures));
        let runs = keep_running(options, (self.number, recording), failures, stopped);
        self.running = Some((stop, tokio::spawn(runs)));
    }

    /// Asks it to end, and waits for the end.
    pub(crate) async fn stop(&mut self) {
        if let Some((stop, task)) = self.running.take() {
            stop.send_replace(true);
            let ended = timeout(wait::PATIENCE, task).await.expect("the replica ends in time");
            ended.expect("a replica that does not panic");
        }
    }

    /// Loses the data between the replica and all servers.
    pub(crate) fn cut(&self, cut: Cut) {
        for proxy in &self.proxies {
            proxy.cut(cut);
        }
    }

    /// Returns the ends of runs that are no loss of the lead.
    pub(crate) fn failures(&self) -> Vec<String> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ReplicaProcess {
    fn drop(&mut self) {
        if let Some((_, task)) = &self.running {
            task.abort();
        }
    }
}

fn add_failure(failures: &Failures, error: &dyn Debug) {
    failures.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{error:?}"));
}

/// Runs the operator again and again, until it is stopped or fails otherwise than by the loss of the lead.
async fn keep_running(
    options: NatsOptions,
    (number, recording): (usize, Recording),
    failures: Failures,
    mut stop: watch::Receiver<bool>,
) {
    let mut attempts = interval(PAUSE);
    attempts.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let connect = async {
            attempts.tick().await;
            NatsConnection::connect(options.clone()).await
        };
        let connected = tokio::select! {
            connected = connect => connected,
            () = async { drop(stop.wait_for(|is_stopped| *is_stopped).await) } => return,
        };
        let connection = match connected {
            Ok(connection) => connection,
            // The servers are stopped, paused or cut off.
            Err(NatsError::Unreachable { .. }) => continue,
            Err(error) => return add_failure(&failures, &error),
        };
        let buckets = recording.of_new_run(number, NatsBuckets::new(connection));
        let operator = operator(buckets, &PassCounts::default()).leader_election(election());
        let stopped = async { drop(stop.wait_for(|is_stopped| *is_stopped).await) };
        match operator.run_with(no_cluster(), RunOptions::default(), stopped).await {
            Ok(()) => return,
            Err(RunError::LeadLost(_)) => {}
            Err(error) => return add_failure(&failures, &error),
        }
        if *stop.borrow() {
            return;
        }
    }
}

/// Times that make the loss of a leader short.
fn election() -> LeaderElection {
    let election = LeaderElection::default().lease_duration(Duration::from_secs(3));
    election.renew_deadline(Duration::from_secs(2)).retry_period(Duration::from_millis(500))
}

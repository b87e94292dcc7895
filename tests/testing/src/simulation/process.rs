//! Runs the operator under test in the simulated cluster, restarts it after each stop, and waits until it is idle.

use std::{sync::Arc, time::Duration};

use opgen::{
    bucket::OpenBuckets,
    queue::{Jitter as _, Seeded},
};
use opgen_sandbox::User;
use tokio::{task::JoinHandle, time::Instant};

use super::{
    cluster::Cluster,
    faulty_bucket::FaultyBuckets,
    observer::{object_of, record_passes},
    outcome::Failure,
    panic_hook,
};

/// For how many of its pauses, each its longest time between two calls, a program must only repeat reads to count as polling.
const POLL_PAUSES: u32 = 6;

/// How long a program may take to come to rest.
const MAX_TIME_TO_REST: Duration = Duration::from_secs(4 * 3600);

impl Cluster<'_> {
    /// Runs the program until it is at rest, that is, idle, and restarts it after each stop. `phase` names what happened before, for
    /// messages and the timeline.
    ///
    /// # Errors
    /// If the program does not become idle, or fails as in [`Self::rests_within`].
    pub(crate) async fn rest(&mut self, phase: &'static str) -> Result<(), Failure> {
        if self.rests_within(MAX_TIME_TO_REST, phase).await? { Ok(()) } else { Err(Failure::NotAtRest(phase)) }
    }

    /// Runs the program until it is at rest, that is, idle, or until the time limit. Returns whether it is at rest.
    ///
    /// # Errors
    /// If the program exits, writes or calls too often, or has changed an object of another client.
    pub(crate) async fn rests_within(&mut self, limit: Duration, phase: &'static str) -> Result<bool, Failure> {
        let is_at_rest = self.run_until_rest(limit, phase).await?;
        self.foreign_objects.check(&self.sandbox, self.target, &self.log, phase).await?;
        self.buckets.check_foreign_entries(phase)?;
        Ok(is_at_rest)
    }

    /// Runs the program until it is at rest, and restarts it after each stop. It is at rest if it makes no calls but watches for a pause,
    /// or only repeats reads (polls) for several pauses. Returns `false` if the time limit is reached first.
    ///
    /// # Errors
    /// If the process exits, or if a path is written or the server is called too often.
    async fn run_until_rest(&mut self, limit: Duration, phase: &'static str) -> Result<bool, Failure> {
        // Restarts the period without calls, since something has just happened.
        self.faults.stir();
        self.faults.note(phase);
        self.log.begin_phase();
        let deadline = Instant::now() + limit;
        loop {
            let mut process = match self.process.take() {
                Some(process) => process,
                None => self.spawn_process(),
            };
            tokio::select! {
                biased;
                () = self.faults.stopped() => {
                    process.abort();
                    // Waits until the task has ended; the result of an aborted task is of no interest.
                    let _ = process.await;
                    // The fault plan has stopped a program that makes calls without end.
                    if self.faults.is_exhausted() {
                        return Err(Failure::NotAtRest(phase));
                    }
                    if let Some(disturbance) = self.while_stopped.take() {
                        self.buckets.disturb(&self.target.manifests.samples, disturbance);
                    }
                }
                exit = &mut process => return Err(Failure::Exited(match exit {
                    Ok(Ok(())) => "it ended without an error".to_owned(),
                    Ok(Err(error)) => error,
                    Err(panic) => panic.to_string(),
                })),
                () = self.faults.quiet(self.target.pause) => {
                    self.process = Some(process);
                    return Ok(true);
                }
                write = self.log.hot_loop() => {
                    self.process = Some(process);
                    return Err(Failure::HotLoop(phase, Box::new(write)));
                }
                () = self.faults.quiet_but_for_reads(self.target.pause * POLL_PAUSES) => {
                    self.process = Some(process);
                    return Ok(true);
                }
                () = tokio::time::sleep_until(deadline) => {
                    self.process = Some(process);
                    return Ok(false);
                }
            }
        }
    }

    /// Spawns a new process of the program, with a client and buckets that inject the faults, and an environment that records its passes
    /// and panics and gives it the clients of other clusters, the clock and the random numbers of the run.
    fn spawn_process(&self) -> JoinHandle<Result<(), String>> {
        let (namespace, name) = (&self.target.namespace, &self.target.name);
        let client = self.sandbox.client_through(User::service_account(namespace, name, ""), &self.faults);
        let clusters = self.remote_clusters.clone();
        let client = clusters.observe(client, &self.sandbox, None);
        let process_faults = self.faults.clone();
        // Each process gets other random numbers, derived from the calls of those before it.
        let random = Seeded::new(self.seed ^ self.faults.calls() << 32);
        let environment = self.clock.environment(&self.faults, move || random.bits());
        let environment = environment
            .observed(record_passes(self.faults.clone()))
            .panics_observed(|pass, node| panic_hook::locate(&object_of(pass), node))
            .clusters(move |config| clusters.client(config, &process_faults))
            .helm(self.helm_releases.program());
        let buckets = self.faulty_buckets();
        tokio::spawn(match (&self.service, buckets) {
            (Some(service), buckets) => service.run(&self.faults, client, environment, buckets),
            (None, Some(buckets)) => self.target.program.run_with_buckets(client, environment, buckets),
            (None, None) => self.target.program.run(client, environment),
        })
    }

    /// Returns the buckets (key-value stores) of the run, with the faults of the process that starts, below the layer that the test puts
    /// over them. `None` for a program without kinds in buckets.
    fn faulty_buckets(&self) -> Option<Arc<dyn OpenBuckets>> {
        if self.buckets.kinds().is_empty() {
            return None;
        }
        let (namespace, name) = (&self.target.namespace, &self.target.name);
        let user = format!("system:serviceaccount:{namespace}:{name}");
        let buckets = FaultyBuckets::new(self.buckets.clone(), self.faults.store_calls(), self.log.clone(), user);
        let buckets: Arc<dyn OpenBuckets> = Arc::new(buckets);
        Some(match &self.target.bucket_layer {
            Some(layer) => layer(buckets),
            None => buckets,
        })
    }

    /// Stops the process of the program, if it runs, as a kill does; the next phase starts a new one.
    pub(crate) async fn stop(&mut self) {
        if let Some(process) = self.process.take() {
            self.faults.end();
            process.abort();
            // Waits until the task has ended; the result of an aborted task is of no interest.
            let _ = process.await;
        }
    }
}

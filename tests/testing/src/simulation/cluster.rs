//! `Cluster`: a simulated cluster that starts and stops the program and waits until it is at rest.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use opgen::{
    environment::Environment,
    queue::{Jitter as _, Seeded},
};
use opgen_sandbox::{Sandbox, User, fault::Faults};
use serde_json::Value;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};

use super::{
    fault_plan,
    foreign_object::ForeignObjects,
    observer::{object_of, record_passes},
    optional_webhook::{optional_webhooks, without_query},
    outcome::{Failure, Outcome},
    panic_hook,
    recreation::recreations,
    remote_clusters::{self, RemoteClusters},
    write_log::WriteLog,
};
use crate::{
    admin::{self, ErrorResponse},
    object::is_same_object,
    permission::deploys_applications,
    program::ProgramWebhooks,
    schedule::{Propagation, Schedule},
    snapshot::Snapshot,
    target::Target,
    webhook_schedule::WebhookSchedule,
};

/// The start time of a sandbox with a seed.
const START_TIME: i64 = 1_767_225_600;

/// How many of its pauses a program may need to come to rest with a value that it can't use.
pub(crate) const WAIT_PAUSES: u32 = 20;

/// For how many pauses a program makes nothing but the same reads until it counts as polling.
const POLL_PAUSES: u32 = 6;

/// How long a program may take to come to rest.
const MAX_TIME_TO_REST: Duration = Duration::from_secs(4 * 3600);

/// For how long watches miss events.
const EVENT_LOSS: Duration = Duration::from_secs(3);

/// The time until the administrator repeats a write.
const WRITE_RETRY: Duration = Duration::from_secs(5);

/// The code of a create of an object that exists.
const CONFLICT: u16 = 409;

/// A simulated cluster in which the program runs.
pub(crate) struct Cluster<'a> {
    pub(crate) target: &'a Target,
    pub(crate) sandbox: Sandbox,
    pub(crate) faults: Faults,
    /// Records the reads of webhooks, which belong to another replica than the program that the faults stop.
    webhook_reads: Faults,
    log: WriteLog,
    remote_clusters: RemoteClusters,
    foreign_objects: ForeignObjects,
    started: Instant,
    seed: u64,
    /// The running process; `None` before its start and after a stop.
    process: Option<JoinHandle<Result<(), String>>>,
    /// The version before the samples were created.
    base_version: u64,
    /// The installed manifests of all releases.
    installed: Vec<Value>,
    /// The function of the webhooks of the program that is installed.
    webhooks: CurrentWebhooks,
    webhook_faults: WebhookFaults,
}

/// The faults of the calls to webhooks; `None` after the run, as the faults keep the sandbox alive, and it keeps them.
type WebhookFaults = Arc<Mutex<Option<Faults>>>;

/// The function of the webhooks of the program that is installed; `None` before the installation.
type CurrentWebhooks = Arc<Mutex<Option<WebhookCall>>>;

/// The function that responds to the calls of webhooks, with their client.
type WebhookCall = Arc<dyn Fn(Request<Bytes>) -> BoxFuture<'static, Response<Bytes>> + Send + Sync>;

impl<'a> Cluster<'a> {
    /// Starts a sandbox with the faults of a schedule, and starts to record panics.
    pub(crate) fn new(target: &'a Target, schedule: &Schedule) -> Self {
        panic_hook::start_recording();
        let seed = schedule.seed.unwrap_or(1);
        let log = WriteLog::new();
        let audit = log.clone();
        let webhooks = CurrentWebhooks::default();
        let deploys = deploys_applications(&target.manifests.install);
        let builder = Sandbox::builder().seed(seed).workloads(true).cd_systems(deploys);
        let mut builder = builder.audit(move |record| audit.record(record));
        if let Some(ProgramWebhooks { url, .. }) = target.program.webhooks() {
            let current = webhooks.clone();
            builder = builder.webhook(&url, move |request| {
                let respond = current.lock().unwrap_or_else(PoisonError::into_inner).clone();
                async move {
                    match respond {
                        Some(respond) => respond(request).await,
                        None => no_webhooks(),
                    }
                }
            });
        }
        let webhook_faults = WebhookFaults::default();
        let current = webhook_faults.clone();
        let optional = optional_webhooks(&target.manifests.install);
        let sandbox = builder
            .webhook_faults(move |call| {
                if optional.contains(without_query(&call.url)) {
                    return None;
                }
                current.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.record_webhook_call(call)
            })
            .start();
        let faults = fault_plan::faults(target, &sandbox, schedule);
        *webhook_faults.lock().unwrap_or_else(PoisonError::into_inner) = Some(faults.clone());
        let remote_clusters = RemoteClusters::new(seed, log.clone());
        let (foreign_objects, installed) = (ForeignObjects::default(), Vec::new());
        let started = Instant::now();
        Self {
            target,
            sandbox,
            faults,
            webhook_reads: Faults::none(),
            log,
            remote_clusters,
            foreign_objects,
            started,
            seed,
            process: None,
            base_version: 0,
            installed,
            webhooks,
            webhook_faults,
        }
    }

    /// Installs the manifests of the program.
    pub(crate) async fn install(&mut self) -> Result<(), Failure> {
        let (namespace, name) = (&self.target.namespace, &self.target.name);
        let client = self.sandbox.client_through(User::service_account(namespace, name, ""), &self.webhook_reads);
        let respond = self.target.program.webhooks().map(|webhooks| {
            let respond: WebhookCall = Arc::new(move |request| (webhooks.respond)(request, client.clone()));
            respond
        });
        *self.webhooks.lock().unwrap_or_else(PoisonError::into_inner) = respond;
        let objects = &self.target.manifests.install;
        self.installed.extend(objects.iter().cloned());
        for object in objects {
            let applied = admin::apply(&self.sandbox, object, objects).await;
            applied.map_err(|error| Failure::setup(&format!("failed to install {}", object["kind"]), error))?;
        }
        // The server needs a moment until it serves new kinds.
        sleep(Duration::from_secs(1)).await;
        Ok(())
    }

    /// Creates the foreign objects.
    pub(crate) async fn add_foreign_objects(&mut self) -> Result<(), Failure> {
        self.foreign_objects.create(&self.sandbox, self.target).await?;
        // The controllers of the sandbox may change them.
        sleep(Duration::from_secs(1)).await;
        self.foreign_objects.refresh(&self.sandbox, self.target).await
    }

    /// Takes the current version as the one before the samples: snapshots have the later objects only, and stale lists, if the
    /// run has them, show this version.
    pub(crate) fn set_base_version(&mut self, has_stale_lists: bool) {
        self.base_version = self.sandbox.version();
        if has_stale_lists {
            self.faults.begin_as_of(self.base_version);
        }
    }

    /// Replaces the program by another release and returns the former one.
    pub(crate) async fn replace_program(&mut self, target: &'a Target) -> Result<&'a Target, Failure> {
        let former = std::mem::replace(&mut self.target, target);
        self.stop().await;
        self.install().await?;
        Ok(former)
    }

    /// Runs the program until it is at rest, and restarts it after each stop. `phase` names what happened before, for messages and
    /// the timeline.
    ///
    /// # Errors
    /// If it does not come to rest.
    pub(crate) async fn rest(&mut self, phase: &'static str) -> Result<(), Failure> {
        if self.rests_within(MAX_TIME_TO_REST, phase).await? { Ok(()) } else { Err(Failure::NotAtRest(phase)) }
    }

    /// Runs the program for a limited time, checks the foreign objects, and returns whether it is at rest.
    pub(crate) async fn rests_within(&mut self, limit: Duration, phase: &'static str) -> Result<bool, Failure> {
        let is_at_rest = self.run_until_rest(limit, phase).await?;
        self.foreign_objects.check(&self.sandbox, self.target, &self.log, phase).await?;
        Ok(is_at_rest)
    }

    /// Runs the program until it is at rest, which includes polling, and restarts it after each stop. Returns `false` if the
    /// time limit is reached first.
    ///
    /// # Errors
    /// If the process exits, or if a path is written or the server is called too often.
    async fn run_until_rest(&mut self, limit: Duration, phase: &'static str) -> Result<bool, Failure> {
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
                    // The result of an aborted task says nothing.
                    let _ = process.await;
                    if self.faults.is_exhausted() {
                        return Err(Failure::NotAtRest(phase));
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

    /// Spawns a new process of the program, with a client that injects the faults and an observed environment.
    fn spawn_process(&mut self) -> JoinHandle<Result<(), String>> {
        let (namespace, name) = (&self.target.namespace, &self.target.name);
        let client = self.sandbox.client_through(User::service_account(namespace, name, ""), &self.faults);
        let clusters = self.remote_clusters.clone();
        let client = clusters.observe(client, &self.sandbox, None);
        let (faults, started) = (self.faults.clone(), self.started);
        let now = move || {
            let ahead = SignedDuration::from_secs(faults.clock_lead());
            let start = Timestamp::from_second(START_TIME).unwrap_or(Timestamp::UNIX_EPOCH);
            start.checked_add(started.elapsed()).and_then(|now| now.checked_add(ahead)).unwrap_or(start)
        };
        let process_faults = self.faults.clone();
        let random = Seeded::new(self.seed ^ self.faults.calls() << 32);
        let environment = Environment::new(now, move || random.bits())
            .observed(record_passes(self.faults.clone()))
            .panics_observed(|pass, node| panic_hook::locate(&object_of(pass), node))
            .clusters(move |config| clusters.client(config, &process_faults));
        tokio::spawn(self.target.program.run(client, environment))
    }

    /// Stops the process of the program.
    pub(crate) async fn stop(&mut self) {
        if let Some(process) = self.process.take() {
            self.faults.end();
            process.abort();
            // The result of an aborted task says nothing.
            let _ = process.await;
        }
    }

    /// Returns the samples and all objects that were created after them, without the installed ones.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut objects = self.sandbox.objects(self.base_version);
        objects.retain(|object| !self.installed.iter().any(|installed| is_same_object(installed, object)));
        objects.extend(self.remote_clusters.objects());
        objects.retain(|object| !remote_clusters::is_kubeconfig(object));
        Snapshot::of(objects)
    }

    /// Returns the sandbox that an object of a snapshot is in.
    pub(crate) fn sandbox_of(&self, object: &Value) -> Sandbox {
        self.remote_clusters.sandbox_of(object).unwrap_or_else(|| self.sandbox.clone())
    }

    /// Deletes samples.
    pub(crate) async fn delete(&mut self, samples: &[Value], propagation: Propagation) -> Result<(), Failure> {
        let (sandbox, installed) = (&self.sandbox, &self.target.manifests.install);
        let deleted = self.write(|| admin::delete_all(sandbox, samples, installed, propagation)).await;
        deleted.map_err(|error| Failure::setup("failed to delete a sample", error))
    }

    /// Disturbs the calls to webhooks from now on.
    pub(crate) fn disturb_webhooks(&self, schedule: WebhookSchedule) {
        fault_plan::add_webhook_faults(&self.faults, schedule);
    }

    /// Makes a write of the administrator, and repeats it if it failed while a call to a webhook had a fault. The server may have
    /// stored an object although the response is an error; then it rejects the next create, which counts as a success.
    ///
    /// # Errors
    /// If the server rejects the write for another reason.
    pub(crate) async fn write(&self, write: impl AsyncFn() -> Result<(), ErrorResponse>) -> Result<(), ErrorResponse> {
        let mut may_exist = false;
        loop {
            let disturbed = self.faults.disturbed_webhook_calls();
            match write().await {
                Err(error) if may_exist && error.code == CONFLICT && error.message.contains("already exists") => {
                    return Ok(());
                }
                Err(_) if self.faults.disturbed_webhook_calls() > disturbed => may_exist = true,
                result => return result,
            }
            sleep(WRITE_RETRY).await;
        }
    }

    /// Lets watches miss events for a few seconds.
    pub(crate) fn lose_events(&self) {
        self.faults.lose_events(EVENT_LOSS);
    }

    /// Records the failures at the end of a phase in which the samples were edited.
    pub(crate) fn record_edit_failures(&self, now: &Snapshot, is_at_rest: bool, outcome: &mut Outcome) {
        let timeline = self.faults.timeline();
        outcome.edit_failures.record(self.target, (&self.log, &timeline), (now, is_at_rest));
    }

    /// Records the children that were recreated in a phase, except for one that another client `deleted`.
    pub(crate) async fn record_recreations(
        &self,
        snapshots: (&Snapshot, &Snapshot),
        deleted: Option<&Value>,
        phase: &'static str,
        outcome: &mut Outcome,
    ) {
        let recreations = recreations(|object| self.sandbox_of(object), self.target, snapshots, deleted, phase).await;
        outcome.recreations.extend(recreations);
    }

    /// Ends the run: stops the program and completes the outcome.
    pub(crate) async fn finish(mut self, result: Result<(), Failure>, outcome: &mut Outcome) {
        self.stop().await;
        outcome.failure = result.err();
        outcome.panics = panic_hook::stop_recording();
        outcome.calls = self.faults.calls();
        outcome.timeline = self.faults.timeline();
        outcome.webhook_reads = self.webhook_reads.timeline();
        self.webhook_faults.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Returns the response of a Service without endpoints.
fn no_webhooks() -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(b"no endpoints available"));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}

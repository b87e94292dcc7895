//! `Cluster`: a simulated cluster in which the operator under test runs, with functions that start and stop the operator's program, and
//! wait until the program is idle.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use opgen_sandbox::{Sandbox, User, fault::Faults};
use serde_json::Value;
use tokio::{task::JoinHandle, time::sleep};

use super::{
    bucket_stores::BucketStores,
    fault_plan::{self, PlanTargets},
    foreign_object::ForeignObjects,
    helm_releases::HelmReleases,
    optional_webhook::{optional_webhooks, without_query},
    outcome::{Failure, Outcome},
    panic_hook,
    recreation::recreations,
    remote_clusters::{self, RemoteClusters},
    run_clock::RunClock,
    write_log::WriteLog,
};
use crate::{
    admin::{self, ErrorResponse},
    api_server::ApiServer,
    external_service::RunningService,
    object::{is_same_object, reduce_external_record},
    permission::deploys_applications,
    program::ProgramWebhooks,
    schedule::{Propagation, Schedule},
    snapshot::Snapshot,
    store_disturbance::StoreDisturbance,
    stored_kind::StoredKind,
    target::Target,
    webhook_schedule::WebhookSchedule,
};

/// How many of its pauses a program may need to come to rest with a value that it can't use.
pub(crate) const WAIT_PAUSES: u32 = 20;

/// For how long watches miss events.
const EVENT_LOSS: Duration = Duration::from_secs(3);

/// The time until the administrator repeats a write.
const WRITE_RETRY: Duration = Duration::from_secs(5);

/// The status code of the response to a create if the object exists.
const CONFLICT: u16 = 409;

/// A simulated cluster in which the program runs.
pub(crate) struct Cluster<'a> {
    pub(crate) target: &'a Target,
    pub(super) sandbox: Sandbox,
    /// The sandbox and the buckets, for the requests of the administrator.
    pub(crate) server: ApiServer,
    pub(crate) buckets: BucketStores,
    pub(crate) faults: Faults,
    /// Records the reads of webhooks, which belong to another replica than the program that the faults stop.
    webhook_reads: Faults,
    pub(super) log: WriteLog,
    pub(crate) remote_clusters: RemoteClusters,
    /// The external service; `None` if the program uses none.
    pub(crate) service: Option<Arc<dyn RunningService>>,
    pub(super) helm_releases: HelmReleases,
    pub(super) foreign_objects: ForeignObjects,
    pub(super) clock: RunClock,
    pub(super) seed: u64,
    /// The running process; `None` before its start and after a stop.
    pub(super) process: Option<JoinHandle<Result<(), String>>>,
    /// What happens to the buckets after the next stop, before the program starts again.
    pub(super) while_stopped: Option<StoreDisturbance>,
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
    /// Starts a sandbox with the faults of a schedule, the other clusters, buckets and services that the program uses, and the record of
    /// panics. Does not start the program.
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
                    // Before the installation, calls fail as if the Service of the webhooks had no endpoints.
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
                // Without a call to an optional webhook, objects legitimately differ.
                if optional.contains(without_query(&call.url)) {
                    return None;
                }
                current.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.record_webhook_call(call)
            })
            .start();
        // After a deletion with `Orphan`, the children stay, among them the objects that make other clusters, so these clusters stay, too.
        let may_end = schedule.propagation != Propagation::Orphan;
        let remote_clusters = RemoteClusters::new(seed, log.clone(), may_end);
        let (clock, buckets) = (RunClock::new(), BucketStores::new(&target.manifests.install));
        let server = buckets.server(&sandbox, clock);
        let service = target.service.as_ref().map(|service| service.start(seed));
        let plan = PlanTargets {
            server: &server,
            buckets: &buckets,
            remote_clusters: &remote_clusters,
            service: service.as_ref(),
        };
        let faults = fault_plan::faults(target, &plan, schedule);
        *webhook_faults.lock().unwrap_or_else(PoisonError::into_inner) = Some(faults.clone());
        let (foreign_objects, installed) = (ForeignObjects::default(), Vec::new());
        // `PurgeWhileStopped` at a call changes the buckets while the program is stopped after this call.
        let while_stopped = |(call, disturbance): (u64, StoreDisturbance)| {
            (call > 0 && disturbance == StoreDisturbance::PurgeWhileStopped).then_some(disturbance)
        };
        Self {
            target,
            sandbox,
            server,
            buckets,
            faults,
            webhook_reads: Faults::none(),
            log,
            remote_clusters,
            service,
            helm_releases: HelmReleases::default(),
            foreign_objects,
            clock,
            seed,
            process: None,
            while_stopped: schedule.bucket.and_then(while_stopped),
            base_version: 0,
            installed,
            webhooks,
            webhook_faults,
        }
    }

    /// Installs the manifests of the program, and lets its webhooks respond to the calls of the API server.
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
        if deploys_applications(objects) {
            // The namespaces of the CD systems are created shortly after the start.
            sleep(Duration::from_secs(1)).await;
        }
        // The kinds in buckets have no definition in Kubernetes.
        for object in objects.iter().filter(|object| StoredKind::of(object).is_none()) {
            let applied = admin::apply(&self.sandbox, object, objects).await;
            applied.map_err(|error| Failure::setup(&format!("failed to install {}", object["kind"]), error))?;
        }
        // The server needs a moment until it serves new kinds.
        sleep(Duration::from_secs(1)).await;
        Ok(())
    }

    /// Creates the foreign objects, which belong to other clients and which the program must not change, in the sandbox and in the buckets.
    pub(crate) async fn add_foreign_objects(&mut self) -> Result<(), Failure> {
        self.foreign_objects.create(&self.sandbox, self.target).await?;
        self.buckets.add_foreign_entries(self.target);
        // The controllers of the sandbox may change these objects first; their state after that is the one to keep.
        sleep(Duration::from_secs(1)).await;
        self.foreign_objects.refresh(&self.sandbox, self.target).await
    }

    /// Stores the current version of the cluster as the one before the samples: snapshots have only objects that are written later. With
    /// `has_stale_lists`, the first lists of a restarted program show the state at this version.
    pub(crate) fn set_base_version(&mut self, has_stale_lists: bool) {
        self.base_version = self.sandbox.version();
        self.buckets.set_base_revisions();
        if has_stale_lists {
            self.faults.begin_as_of(self.base_version);
        }
    }

    /// Stops the program, installs the manifests of another release of it, which runs from then on, and returns the former release.
    pub(crate) async fn replace_program(&mut self, target: &'a Target) -> Result<&'a Target, Failure> {
        let former = std::mem::replace(&mut self.target, target);
        self.stop().await;
        self.install().await?;
        Ok(former)
    }

    /// Returns a snapshot of the samples and of all objects written after them: those in the cluster, in other clusters and in buckets, and
    /// the things of the external service. Leaves out the installed manifests and the kubeconfigs that the simulation creates.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut objects = self.sandbox.objects(self.base_version);
        objects.retain(|object| !self.installed.iter().any(|installed| is_same_object(installed, object)));
        objects.extend(self.remote_clusters.objects());
        objects.extend(self.buckets.objects());
        objects.extend(self.service.iter().flat_map(|service| service.objects(&self.target.name)));
        objects.retain(|object| !remote_clusters::is_kubeconfig(object));
        objects.iter_mut().for_each(reduce_external_record);
        Snapshot::of(objects)
    }

    /// Returns the API server of the cluster that an object of a snapshot is in.
    pub(crate) fn server_of(&self, object: &Value) -> ApiServer {
        self.remote_clusters.sandbox_of(object).map_or_else(|| self.server.clone(), ApiServer::of)
    }

    /// Deletes samples with a propagation policy, the last sample first.
    pub(crate) async fn delete(&mut self, samples: &[Value], propagation: Propagation) -> Result<(), Failure> {
        let (server, installed) = (&self.server, &self.target.manifests.install);
        let deleted = self.write(|| admin::delete_all(server, samples, installed, propagation)).await;
        deleted.map_err(|error| Failure::setup("failed to delete a sample", error))
    }

    /// Injects the faults of a schedule into the calls to webhooks from now on.
    pub(crate) fn disturb_webhooks(&self, schedule: WebhookSchedule) {
        fault_plan::add_webhook_faults(&self.faults, schedule);
    }

    /// Makes a write of the administrator, and repeats it if it failed while a call to a webhook had an injected fault. The server may have
    /// stored a new object although the response was an error; then it rejects the repeated create with `already exists`, which counts as a
    /// success.
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

    /// Adds the failures at the end of a phase in which the samples were edited to the outcome, such as rejected writes. `now` is the
    /// snapshot at the end, and `is_at_rest` says whether the program is idle.
    pub(crate) fn record_edit_failures(&self, now: &Snapshot, is_at_rest: bool, outcome: &mut Outcome) {
        let timeline = self.faults.timeline();
        outcome.edit_failures.record(self.target, &self.log, &timeline, now, is_at_rest);
    }

    /// Adds the children that the program recreated in a phase, by the snapshots before and after it, to the outcome. Leaves out the child
    /// that another client `deleted`.
    pub(crate) async fn record_recreations(
        &self,
        snapshots: (&Snapshot, &Snapshot),
        deleted: Option<&Value>,
        phase: &'static str,
        outcome: &mut Outcome,
    ) {
        let recreations = recreations(|object| self.server_of(object), self.target, snapshots, deleted, phase).await;
        outcome.recreations.extend(recreations);
    }

    /// Ends the run: stops the program, and stores the failure in `result`, the panics, the timeline and the counts in the outcome.
    pub(crate) async fn finish(mut self, result: Result<(), Failure>, outcome: &mut Outcome) {
        self.stop().await;
        outcome.failure = result.err();
        outcome.panics = panic_hook::stop_recording();
        outcome.service_problems.extend(self.service.iter().flat_map(|service| service.violations()));
        outcome.calls = self.faults.calls();
        outcome.timeline = self.faults.timeline();
        outcome.webhook_reads = self.webhook_reads.timeline();
        // The faults and the sandbox keep each other alive; this ends it.
        self.webhook_faults.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Returns the response of a Service without endpoints.
fn no_webhooks() -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(b"no endpoints available"));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}

//! Runs an operator: hooks, watches, controllers, runnables, probes, and a graceful shutdown.
//!
//! # Flow
//! 1. The buckets of kinds that are not in Kubernetes are opened. While one can't be opened, the operator is alive but not ready, and
//!    tries again. Only the controllers that need the bucket wait. The run waits for buckets that all its parts need: those of the
//!    operator's own kinds if it runs without Kubernetes, and those of controllers with an `initialize` function.
//! 2. The functions of [`Controller::initialize`](crate::Controller::initialize) run. Then the servers, the runnables before caches and
//!    all watches start, and the runnables without lead when the watches have synced. With leader election, the operator waits for
//!    the lead. The other runnables start with the lead.
//! 3. The upgrade hook of a controller runs, and then its workers start, when the first list of each required watch is complete, or
//!    its kind is missing or forbidden. So a kind that can't be listed delays only the controllers that require it.
//!    With shards, the replica joins the members instead; then it works on the objects of the shards that it holds.
//! 4. After a signal, and after an error of a runnable or a controller, no new pass starts. The operator waits for runnables and
//!    running passes, then writes the queued events within the shutdown timeout, and then ends the watches. It releases the lead
//!    last. If the lead is lost, the run ends at once.

use crate::{
    client::Client,
    controller::worker::RunningController,
    informer::namespaces::Namespaces,
    lease::{connection, leads::Leads, options::LeaderElectionError},
    manager::{run_error::RunError, run_options::RunOptions},
    metrics::live::LiveOperator,
    provisioner::schedule::catch_panic,
    spans::export,
    tasks::Tasks,
};
use futures::FutureExt as _;
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::{net::TcpListener, sync::oneshot, task::JoinSet};
use {
    super::{
        buckets::{self, ServedBuckets, opening::OpeningBuckets},
        conditions::StoredConditionsCheck,
        extensions::Extensions,
        health::{HasHealth, SYNC_TIMEOUT, wait_for_sync},
        informers::Informers,
        leadership::Leadership,
        operator::Operator,
        operators::Operators,
        probes::{self, ProbeTargets},
        runnable::{RunFacts, RunnableGroup, Runnables},
        runnable_groups::RunnableGroups,
        servers::{ServedWebhooks, Servers},
        shutdown::Shutdown,
        spawn,
        upgrade::UpgradeRunner,
    },
    crate::{garbage::orphans::OrphanRequests, manager::wiring::Wiring},
};

impl Operator {
    /// Runs until SIGINT or SIGTERM, in the cluster of the environment: the kubeconfig, or the service account of the Pod.
    ///
    /// # Errors
    /// Those that [`RunError`] lists.
    pub async fn run(&self, options: RunOptions) -> Result<(), RunError> {
        run_until_signal(Operators::one(self), options).await
    }

    /// Runs with the client of the caller until `stop` completes. The operator's [timeouts](Operator::timeouts) apply to its
    /// calls, except the timeout for connecting; [`Timeouts::client`](crate::Timeouts::client) creates a client with all of them.
    /// With leader election each write checks the lead before it is passed to this client; the connections of the client that
    /// [`Operator::run`] creates check it again directly before they send.
    ///
    /// # Errors
    /// Those that [`RunError`] lists.
    pub async fn run_with(
        &self,
        client: kube::Client,
        options: RunOptions,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), RunError> {
        run_until(Operators::one(self), client, options, stop).await
    }

    /// Returns the namespaces to watch: the chosen ones, else its own if it is namespaced, else all.
    fn watched_namespaces(&self, chosen: Vec<String>, own: &str) -> Namespaces {
        let chosen = Namespaces::new(chosen);
        if chosen.is_all() && self.namespaced { Namespaces::new(vec![own.to_owned()]) } else { chosen }
    }

    /// Runs the functions of [`Controller::initialize`](crate::Controller::initialize) one after the other.
    ///
    /// # Errors
    /// Fails with the first function that fails or panics.
    async fn initialize(&self, client: &kube::Client) -> Result<(), RunError> {
        for factory in &self.factories {
            let Some(hook) = &factory.settings().initialize else { continue };
            let failure = |error| RunError::Hook { kind: factory.kind(), error };
            catch_panic(async { hook.run(client.clone()).await }).await.map_err(failure)?;
        }
        Ok(())
    }

    /// Spawns a task for each controller, which starts its workers when the watches that it requires have synced.
    fn spawn_controllers(
        &self,
        client: Client,
        own_namespace: &str,
        wiring: &Wiring,
        controllers: &mut JoinSet<Result<(), RunError>>,
    ) {
        let kube_client = client.kube();
        let check =
            StoredConditionsCheck { client, operator: self.name.clone(), controllers: wiring.controllers.clone() };
        for controller in &wiring.controllers {
            let required = wiring.required_watches(controller);
            let requests = wiring.orphan_requests.clone();
            let upgrade = UpgradeRunner {
                client: kube_client.clone(),
                operator: self.name.clone(),
                version: self.version.clone(),
                namespace: own_namespace.to_owned(),
            };
            controllers.spawn(run_controller(controller.clone(), required, requests, (check.clone(), upgrade)));
        }
    }
}

/// Runs operators until SIGINT or SIGTERM, in the cluster of the environment. A second signal ends the run at once. The options of the
/// process are those of the first operator.
pub(super) async fn run_until_signal(operators: Operators<'_>, options: RunOptions) -> Result<(), RunError> {
    let base = operators.first;
    let has_leases = options.leader_election.is_some() || base.leader_election.is_some() || base.shards.is_some();
    let leads = has_leases.then(Leads::new);
    let client = connect(base, leads.as_ref()).await?;
    let options = RunOptions { leads, ..options };
    let mut signals = super::signals::register().map_err(RunError::Signals)?;
    let (stop, stopped) = oneshot::channel::<()>();
    let running = run_until(operators, client, options, async {
        // A dropped sender is a stop as well.
        let _ = stopped.await;
    });
    tokio::pin!(running);
    tokio::select! {
        biased;
        result = &mut running => return result,
        () = signals.next() => tracing::info!("stopping; a second signal stops the process at once"),
    }
    drop(stop);
    tokio::select! {
        biased;
        result = running => result,
        () = signals.next() => Err(RunError::Interrupted),
    }
}

/// Returns a client for the cluster of the kubeconfig, or of the service account of the Pod. If there are `leads`, the state of the Leases,
/// its connections (other than those through a proxy) send nothing after the Lease has expired. Without Kubernetes, it reads no kubeconfig,
/// and all calls of the client fail.
async fn connect(base: &Operator, leads: Option<&Leads>) -> Result<kube::Client, RunError> {
    if base.without_kubernetes {
        return Ok(Client::disconnected().kube());
    }
    let config = kube::Config::infer().await.map_err(RunError::Config)?;
    base.metrics.set_host(config.cluster_url.authority().map_or("", |authority| authority.as_str()));
    let client = match leads {
        Some(leads) => connection::client(base.timeouts.configure(config), leads.clone()),
        None => base.timeouts.client(config),
    };
    client.map_err(RunError::Client)
}

/// Runs operators with the client of the caller until `stop` completes. The options of the process are those of the first operator. While
/// it waits for required buckets, it serves the probes: `/livez` passes, and `/readyz` fails.
pub(super) async fn run_until(
    operators: Operators<'_>,
    client: kube::Client,
    options: RunOptions,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), RunError> {
    let extensions = operators.check().map_err(|mistake| *mistake)?;
    let (mut stop, opening) = (std::pin::pin!(stop), OpeningBuckets::default());
    let probes = probes::bind(options.probes).await?;
    let served = tokio::select! {
        biased;
        served = buckets::serve(operators, client, &opening) => served?,
        () = &mut stop => return Ok(()),
        never = serve_probes_before_start(operators.first, probes.clone(), &opening) => match never {},
    };
    run_served((operators, extensions), served, (options, probes), stop).await
}

/// Serves the probes of a run that waits for buckets, if the probes have an address. It never returns.
async fn serve_probes_before_start(
    base: &Operator,
    probes: Option<Arc<TcpListener>>,
    opening: &OpeningBuckets,
) -> Infallible {
    if let Some(listener) = probes {
        let targets = ProbeTargets::before_start(opening.check(), base.counters.clone());
        probes::serve_before_start(listener, targets).await;
    }
    std::future::pending().await
}

/// Runs operators whose required buckets are open: binds the servers, wires the controllers, starts everything in the order of the module's
/// documentation, and waits for `stop`, for a part that fails, or for the loss of a Lease. Then it shuts down. After the loss of a Lease it
/// ends all tasks at once, since another replica may write.
async fn run_served(
    (operators, extensions): (Operators<'_>, Extensions),
    ServedBuckets { client, kinds: bucket_kinds, unopened }: ServedBuckets,
    (options, probes): (RunOptions, Option<Arc<TcpListener>>),
    stop: impl Future<Output = ()> + Send,
) -> Result<(), RunError> {
    let stop = std::pin::pin!(stop);
    let base = operators.first;
    let own_namespace = std::env::var("POD_NAMESPACE").unwrap_or_else(|_| client.default_namespace().to_owned());
    let bound_servers =
        Servers::bind((options.servers(), probes), &extensions, (base, &own_namespace), &client).await?;
    let leadership = leadership_of(base, &options, &client, &own_namespace);
    let mut leadership = leadership.map_err(RunError::LeaderElection)?;
    let client = base.wrap_client(leadership.guard(client)).with_bucket_kinds(bucket_kinds);
    let connector = base.cluster_connector(&leadership);
    let facts = RunFacts { client: client.kube(), operator: base.name.clone(), namespace: own_namespace.clone() };
    let runnables = begin_runnables(options.runnables, &extensions, facts, (&leadership, operators));
    let mut runnables = runnables.map_err(|refusal| *refusal)?;
    for operator in operators.iter() {
        operator.initialize(&client.kube()).await?;
    }
    let namespaces = base.watched_namespaces(options.namespaces, &own_namespace);
    let mut servers = Tasks::new(base.counters.clone());
    let mut tasks = servers.sibling();
    let mut informers = Informers::new(operators);
    let scope = (own_namespace.clone(), namespaces.clone());
    let wire = |operator: &Operator| {
        operator.wire(client.clone(), scope.clone(), &mut informers, &mut tasks, (leadership.shards(), &connector))
    };
    let wirings: Arc<[_]> = operators.iter().map(wire).collect();
    // The metrics have a weak reference, so they read these values as long as the operators run.
    let observed: Arc<dyn LiveOperator> = Arc::new(spawn::observed(&informers, &wirings));
    base.metrics.observe(&observed);
    let targets = ProbeTargets::new(&wirings, tasks.failed_tasks(), leadership.probed(), base.counters.clone())
        .with_buckets(operators.iter().any(|operator| operator.buckets.is_some()), unopened.check());
    let webhooks = bound_servers.spawn(extensions, targets, (base.metrics.clone(), client.kube()), &mut servers);
    operators.log_start();
    runnables.start(RunnableGroup::BeforeCaches);
    spawn::spawn_informers(&informers, &wirings, &client, &namespaces, &mut tasks);
    let (watches, mut controllers) = (wirings.iter().flat_map(Wiring::watches).collect::<Vec<_>>(), JoinSet::new());
    // The drop of `led` completes `lead`, which starts the runnables that need the leader.
    let (led, lead) = oneshot::channel::<()>();
    // A kind that can't be listed delays the runnables that need no leader for the timeout only.
    let synced = async { drop(tokio::time::timeout(SYNC_TIMEOUT, wait_for_sync(&watches)).await) };
    let ended = tokio::select! {
        biased;
        () = stop => Ok(()),
        error = runnables.supervise(synced, lead.map(drop)) => Err(error),
        error = unopened.open_all() => Err(error),
        error = async {
            if let Err(loss) = leadership.acquire(&watches, &wirings).await {
                return loss;
            }
            // With shards, this keeps the sender, so that these runnables never start.
            let _kept_sender = leadership.announce(led);
            for (operator, wiring) in operators.iter().zip(wirings.iter()) {
                wiring.spawn_orphan_collector(&mut tasks);
                spawn::spawn_migrations(operator, &client, &mut tasks);
                operator.spawn_controllers(client.clone(), &own_namespace, wiring, &mut controllers);
            }
            tokio::select! {
                biased;
                loss = leadership.hold() => loss,
                error = first_error(&mut controllers) => error,
            }
        } => Err(error),
    };
    if matches!(ended, Err(RunError::LeadLost(_))) {
        // The tasks that write to the API server end first.
        drop((controllers, tasks));
        servers.end().await;
        webhooks.end().await;
        return ended;
    }
    let (timeout, runnables) = (base.shutdown, &mut runnables);
    let shutdown = Shutdown { timeout, wirings: &wirings, controllers, runnables, caches: tasks, servers };
    ended.and(shut_down(shutdown, leadership, webhooks).await)
}

/// Stops all parts of a run in order, and releases the Lease, so that another replica can lead. Then it ends the webhooks and the export of
/// spans, for which no other replica waits. If the Lease is lost meanwhile, it returns at once.
async fn shut_down(
    shutdown: Shutdown<'_>,
    mut leadership: Leadership,
    webhooks: ServedWebhooks,
) -> Result<(), RunError> {
    let (timeout, stop_time) = (shutdown.timeout, tokio::time::Instant::now());
    let stopped = tokio::select! {
        biased;
        loss = leadership.wait_until_lost() => Err(loss),
        stopped = shutdown.run() => Ok(stopped),
    };
    let stopped = match stopped {
        Ok(stopped) => stopped,
        Err(loss) => {
            webhooks.end().await;
            return Err(loss);
        }
    };
    // No task writes any more, so another replica may lead.
    leadership.release().await;
    finish(webhooks, timeout, stop_time).await;
    stopped
}

/// Creates the leader election of a run, with the options and the client of `RunOptions` if they are set, else with those of the operator.
fn leadership_of(
    base: &Operator,
    options: &RunOptions,
    client: &kube::Client,
    own_namespace: &str,
) -> Result<Leadership, LeaderElectionError> {
    let election = options.leader_election.as_ref().or(base.leader_election.as_ref());
    let election_client = options.election_client.as_ref().map_or_else(|| client.clone(), Client::kube);
    let leads = options.leads.clone().unwrap_or_else(Leads::new);
    Leadership::new(base, election, leads, election_client, own_namespace)
}

/// Lets the webhooks finish their requests and ends them, and exports the last spans within the rest of the shutdown timeout, which began
/// at `stop_time`. It runs after the release of the Lease, so no other replica waits for it. A zero timeout drops requests and spans.
async fn finish(webhooks: ServedWebhooks, timeout: Duration, stop_time: tokio::time::Instant) {
    if !timeout.is_zero() {
        webhooks.drain().await;
    }
    webhooks.end().await;
    export::flush(timeout.saturating_sub(stop_time.elapsed())).await;
    tracing::info!("stopped");
}

/// Collects the runnables of the operators and of the handle for a run, without starting them.
///
/// # Errors
/// Fails if an earlier run has used the handle. With shards no replica leads, so it also fails if a runnable or an upgrade hook needs the
/// leader.
fn begin_runnables(
    handle: Runnables,
    extensions: &Extensions,
    facts: RunFacts,
    (leadership, operators): (&Leadership, Operators<'_>),
) -> Result<RunnableGroups, Box<RunError>> {
    let counters = operators.first.counters.clone();
    let runnables = RunnableGroups::new(handle, &extensions.runnables, facts, counters);
    let runnables = runnables.ok_or(RunError::AlreadyStarted)?;
    let led_runnable = || runnables.name_of_led().map(|name| format!("runnable {name}"));
    match leadership.refused_part(|| led_runnable().or_else(|| operators.upgrade_hook())) {
        Some(part) => Err(RunError::NeedsLead { part }.into()),
        None => Ok(runnables),
    }
}

/// Runs a controller until it is stopped: waits for the required watches, checks the stored conditions, runs the upgrade hook, and
/// runs the workers.
async fn run_controller(
    controller: Arc<RunningController>,
    required_watches: Vec<Arc<dyn HasHealth>>,
    orphan_requests: OrphanRequests,
    (check, upgrade): (StoredConditionsCheck, UpgradeRunner),
) -> Result<(), RunError> {
    let ready = async {
        wait_for_sync(&required_watches).await;
        check.run(&controller).await?;
        upgrade.run(&controller).await;
        Ok(())
    };
    tokio::select! {
        biased;
        () = controller.wait_until_stopped() => return Ok(()),
        checked = ready => checked.map_err(RunError::Conditions)?,
    }
    // The cache of the kind is complete now, so orphans can be distinguished from children.
    orphan_requests.request_all();
    let repeated_check = async {
        check.repeat(&controller).await;
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        biased;
        () = controller.clone().run_workers() => Ok(()),
        never = repeated_check => match never {},
    }
}

/// Waits for the first controller that ends with an error, or forever.
async fn first_error(controllers: &mut JoinSet<Result<(), RunError>>) -> RunError {
    while let Some(result) = controllers.join_next().await {
        match result {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return error,
            // No worker would reconcile its objects. So the process ends, which is visible, and its restart reconciles them all.
            Err(error) => {
                tracing::error!(%error, "a controller ended unexpectedly");
                return RunError::Controller(error);
            }
        }
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests;

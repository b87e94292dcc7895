//! Runs an operator: hooks, watches, controllers, runnables, probes, and a graceful shutdown.
//!
//! # Flow
//! 1. The functions of [`Controller::initialize`](crate::Controller::initialize) run. Then the servers, the runnables before caches and
//!    all watches start, and the runnables without lead when the watches have synced. With leader election, the operator waits for
//!    the lead. The other runnables start with the lead.
//! 2. The upgrade hook of a controller runs, and then its workers start, when the first list of each required watch is complete, or
//!    its kind is missing or forbidden. So a kind that can't be listed delays only the controllers that require it.
//!    With shards, the replica joins the members instead; then it works on the objects of the shards that it holds.
//! 3. After a signal, and after an error of a runnable or a controller, no new pass starts. The operator waits for runnables and
//!    running passes, then writes the queued events within the shutdown timeout, and then ends the watches. It releases the lead
//!    last. If the lead is lost, the run ends at once.

use crate::{
    client::Client,
    controller::worker::RunningController,
    informer::namespaces::Namespaces,
    lease::{connection, leads::Leads, options::LeaderElection},
    manager::run_error::RunError,
    metrics::{MetricsServer, live::LiveOperator},
    provisioner::schedule::catch_panic,
    spans::export,
    webhook::WebhookServer,
};
use futures::FutureExt as _;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::{sync::oneshot, task::JoinSet};
use {
    super::{
        conditions::StoredConditionsCheck,
        extensions::Extensions,
        health::{HasHealth, SYNC_TIMEOUT, wait_for_sync},
        informers::Informers,
        leadership::Leadership,
        operator::Operator,
        operators::Operators,
        probes::ProbeTargets,
        runnable::{RunFacts, RunnableGroup, Runnables},
        runnable_groups::RunnableGroups,
        servers::{ServedWebhooks, ServerOptions, Servers},
        shutdown::Shutdown,
        spawn,
        tasks::Tasks,
        upgrade::UpgradeRunner,
    },
    crate::{garbage::orphans::OrphanRequests, manager::wiring::Wiring},
};

/// The options of a run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// The only namespaces that are watched. Default: all, or the operator's own if it is [namespaced](Operator::namespaced).
    pub namespaces: Vec<String>,
    /// The address at which `/livez` and `/readyz` are served. Default: none.
    pub probes: Option<SocketAddr>,
    /// The server of `/metrics`. Default: none.
    pub metrics: Option<MetricsServer>,
    /// The server of the webhooks. Default: none. Without webhooks, its address is not bound.
    pub webhooks: Option<WebhookServer>,
    /// The options of leader election. Default: those of the [operator](Operator::leader_election).
    pub leader_election: Option<LeaderElection>,
    /// The runnables that are added to this run.
    pub(super) runnables: Runnables,
    /// The client of leader election. Default: that of the run.
    pub(crate) election_client: Option<Client>,
    /// The leads that the connections of the client check. Default: new ones, which only the guard checks.
    leads: Option<Leads>,
}

impl RunOptions {
    /// Watches this namespace only.
    #[must_use]
    pub fn namespace(self, namespace: impl Into<String>) -> Self {
        self.namespaces([namespace])
    }

    /// Watches these namespaces only; without any, all of them. One namespace is watched with requests for it. Several are watched
    /// with requests for all namespaces, which need a ClusterRole, and objects of other namespaces are dropped when they arrive, so
    /// they cost no memory.
    #[must_use]
    pub fn namespaces<N: Into<String>>(mut self, namespaces: impl IntoIterator<Item = N>) -> Self {
        self.namespaces = namespaces.into_iter().map(Into::into).collect();
        self
    }

    /// Serves the probes `/livez` (also as `/healthz`) and `/readyz` at this address. `?verbose` lists their checks,
    /// `?exclude=<name>` leaves a check out, and `/readyz/<name>` is the response of one check.
    #[must_use]
    pub fn probes(mut self, address: SocketAddr) -> Self {
        self.probes = Some(address);
        self
    }

    /// Serves `/metrics` at an address, or with the settings of a [`MetricsServer`].
    #[must_use]
    pub fn metrics(mut self, server: impl Into<MetricsServer>) -> Self {
        self.metrics = Some(server.into());
        self
    }

    /// Serves the webhooks of the operator at an address, or with the settings of a [`WebhookServer`].
    #[must_use]
    pub fn webhooks(mut self, server: impl Into<WebhookServer>) -> Self {
        self.webhooks = Some(server.into());
        self
    }

    /// Runs with leader election, by these options instead of those of the operator.
    #[must_use]
    pub fn leader_election(mut self, options: LeaderElection) -> Self {
        self.leader_election = Some(options);
        self
    }

    /// Also runs the runnables of this handle, beside those of the operator. A handle is for one run: a second run with it fails with
    /// [`RunError::AlreadyStarted`].
    #[must_use]
    pub fn runnables(mut self, runnables: &Runnables) -> Self {
        self.runnables = runnables.clone();
        self
    }

    /// Reads and writes the Lease with this client, for example with a connection of its own or in another cluster.
    #[must_use]
    pub fn election_client(mut self, client: kube::Client) -> Self {
        self.election_client = Some(Client::new(client));
        self
    }

    /// Returns the addresses of the servers.
    fn servers(&self) -> ServerOptions {
        ServerOptions { probes: self.probes, metrics: self.metrics.clone(), webhooks: self.webhooks.clone() }
    }
}

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

    /// Wraps a client in the layers of the operator: timeouts, metrics, the rate limit, and the wait for `Retry-After`.
    pub(super) fn wrap_client(&self, client: kube::Client) -> Client {
        let client = self.metrics.calls().wrap(self.timeouts.wrap(client, self.counters.clone()));
        let client = self.rate_limit.map_or_else(|| client.clone(), |limit| limit.wrap_client(client.clone()));
        let client = Client::throttled(client, self.environment.clone(), self.counters.clone());
        client.with_page_size(self.page_size)
    }

    /// Returns the namespaces to watch: the chosen ones, else its own if it is namespaced, else all.
    fn watched_namespaces(&self, chosen: Vec<String>, own: &str) -> Namespaces {
        let chosen = Namespaces::new(chosen);
        if chosen.is_all() && self.namespaced { Namespaces::new(vec![own.to_owned()]) } else { chosen }
    }

    /// Runs the functions of [`Controller::initialize`](crate::Controller::initialize).
    async fn initialize(&self, client: &kube::Client) -> Result<(), RunError> {
        for factory in &self.factories {
            let Some(hook) = &factory.settings().initialize else { continue };
            let failure = |error| RunError::Hook { kind: factory.kind(), error };
            catch_panic(async { hook.run(client.clone()).await }).await.map_err(failure)?;
        }
        Ok(())
    }

    /// Starts the controllers, whose workers start when their watches have synced.
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

/// Runs operators until SIGINT or SIGTERM, in the cluster of the environment. The options of the process are those of the first.
pub(super) async fn run_until_signal(operators: Operators<'_>, options: RunOptions) -> Result<(), RunError> {
    let base = operators.first;
    let config = kube::Config::infer().await.map_err(RunError::Config)?;
    base.metrics.set_host(config.cluster_url.authority().map_or("", |authority| authority.as_str()));
    let has_leases = options.leader_election.is_some() || base.leader_election.is_some() || base.shards.is_some();
    let leads = has_leases.then(Leads::new);
    let client = match &leads {
        Some(leads) => connection::client(base.timeouts.configure(config), leads.clone()),
        None => base.timeouts.client(config),
    };
    let client = client.map_err(RunError::Client)?;
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

/// Runs operators with the client of the caller until `stop` completes. The options of the process are those of the first.
pub(super) async fn run_until(
    operators: Operators<'_>,
    client: kube::Client,
    options: RunOptions,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), RunError> {
    let (base, extensions) = (operators.first, operators.check().map_err(|mistake| *mistake)?);
    let stop = std::pin::pin!(stop);
    let own_namespace = std::env::var("POD_NAMESPACE").unwrap_or_else(|_| client.default_namespace().to_owned());
    let bound_servers = Servers::bind(options.servers(), &extensions, (base, &own_namespace), &client).await?;
    let election = options.leader_election.as_ref().or(base.leader_election.as_ref());
    let election_client = options.election_client.as_ref().map_or_else(|| client.clone(), Client::kube);
    let leads = options.leads.unwrap_or_else(Leads::new);
    let leadership = Leadership::new(base, election, leads, election_client, &own_namespace);
    let mut leadership = leadership.map_err(RunError::LeaderElection)?;
    let client = base.wrap_client(leadership.guard(client));
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
    // The metrics read it as long as the operators run.
    let observed: Arc<dyn LiveOperator> = Arc::new(spawn::observed(&informers, &wirings));
    base.metrics.observe(&observed);
    let targets = ProbeTargets::new(&wirings, tasks.failed_tasks(), leadership.probed(), base.counters.clone());
    let webhooks = bound_servers.spawn(extensions, targets, (base.metrics.clone(), client.kube()), &mut servers);
    operators.log_start();
    runnables.start(RunnableGroup::BeforeCaches);
    spawn::spawn_informers(&informers, &wirings, &client, &namespaces, &mut tasks);
    let (watches, mut controllers) = (wirings.iter().flat_map(Wiring::watches).collect::<Vec<_>>(), JoinSet::new());
    let (led, lead) = oneshot::channel::<()>();
    let synced = async { drop(tokio::time::timeout(SYNC_TIMEOUT, wait_for_sync(&watches)).await) };
    let ended = tokio::select! {
        biased;
        () = stop => Ok(()),
        error = runnables.supervise(synced, lead.map(drop)) => Err(error),
        error = async {
            if let Err(loss) = leadership.acquire(&watches, &wirings).await {
                return loss;
            }
            let _unled = leadership.announce(led);
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
        return ended;
    }
    let (timeout, runnables, stop_time) = (base.shutdown, &mut runnables, tokio::time::Instant::now());
    let shutdown = Shutdown { timeout, wirings: &wirings, controllers, runnables, caches: tasks, servers };
    let stopped = tokio::select! {
        biased;
        loss = leadership.wait_until_lost() => return Err(loss),
        stopped = shutdown.run() => stopped,
    };
    // Nothing writes any more.
    leadership.release().await;
    finish(&webhooks, timeout, stop_time).await;
    ended.and(stopped)
}

/// Ends what delays no other replica, after the release of the lead: the webhooks and the export of spans.
async fn finish(webhooks: &ServedWebhooks, timeout: Duration, stop_time: tokio::time::Instant) {
    if !timeout.is_zero() {
        webhooks.drain().await;
    }
    export::flush(timeout.saturating_sub(stop_time.elapsed())).await;
    tracing::info!("stopped");
}

/// Begins the run of the runnables; none has started. With shards, it refuses runnables and upgrade hooks that need the lead.
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
    controller.run_workers().await;
    Ok(())
}

/// Waits for the first controller that ends with an error, or forever.
async fn first_error(controllers: &mut JoinSet<Result<(), RunError>>) -> RunError {
    while let Some(result) = controllers.join_next().await {
        match result {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return error,
            // Nobody would reconcile its objects. The end of the process is visible, and a restart reconciles them all.
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

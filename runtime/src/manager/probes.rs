//! Serves the probes `/livez` and `/readyz` of an operator, and each of their checks by name.
//!
//! Ready means that the workers run, and every watch and every bucket is open. The response names each kind that is missing (unless
//! all its nodes work without it), each missing permission, the watches that a controller waits for, and each bucket that can't be
//! opened. Live means that all tasks of the operator run, that no pass exceeds its limit, and that the lead is renewed in time; after
//! a panic of a task the probe fails until the task is started again. A replica that waits for the lead is ready once its watches are
//! open, so that a rolling update can go on. `?verbose` lists all checks, `?exclude=<name>` leaves one out, and `/readyz/<name>`
//! responds with one alone. `/healthz` is another name of `/livez`.

use super::{
    checks::{CheckReport, CheckResult, HealthCheck, Probe, ProbeQuery},
    extensions::Extensions,
    health::HasHealth,
    probed_lead::ProbedLead,
    run_error::RunError,
};
use crate::{
    controller::worker::RunningController, counters::Counters, informer::watch::WatchState, kind::Kind,
    manager::wiring::Wiring, server::connection::ACCEPT_PAUSE, tasks::FailedTasks,
};
use axum::{
    Router,
    http::{StatusCode, Uri},
    response::{AppendHeaders, IntoResponse},
    routing::get,
};
use futures::future::join_all;
use std::{collections::BTreeSet, net::SocketAddr, sync::Arc};
use tokio::{io, net::TcpListener};

/// The watches that a controller requires before its workers start.
type RequiredWatches = Vec<Arc<dyn HasHealth>>;

/// The advice about a missing kind for an operator with buckets.
const BUCKET_HINT: &str = "; for a kind in a bucket, call `Operator::defines` or `Operator::uses`";

/// The watches, controllers and tasks that the probes check.
#[derive(Clone)]
pub(crate) struct ProbeTargets {
    watches: Vec<Arc<dyn HasHealth>>,
    controllers: Vec<(Arc<RunningController>, RequiredWatches)>,
    failed_tasks: FailedTasks,
    lead: ProbedLead,
    /// The kinds whose objects this operator converts.
    converted: Arc<BTreeSet<Kind>>,
    /// Whether the operator can open buckets, so that a missing kind may be in one.
    has_buckets: bool,
    /// The checks of the user.
    readyz: Vec<HealthCheck>,
    livez: Vec<HealthCheck>,
    counters: Counters,
}

/// Binds the address of the probes before anything starts, so that an invalid one is an error at once. Without an address there are none.
pub(crate) async fn bind(address: Option<SocketAddr>) -> Result<Option<Arc<TcpListener>>, RunError> {
    let Some(address) = address else { return Ok(None) };
    let listener = TcpListener::bind(address).await;
    listener.map(|listener| Some(Arc::new(listener))).map_err(|source| RunError::Probes { address, source })
}

/// Serves the probes until the server fails.
pub(crate) async fn serve(listener: Arc<TcpListener>, targets: ProbeTargets) {
    serve_with(listener, targets, &[]).await;
}

/// Serves the probes of a run that has not started yet. Each response closes its connection: the next request of the client opens a new
/// one, which [`serve`] accepts after the start.
pub(super) async fn serve_before_start(listener: Arc<TcpListener>, targets: ProbeTargets) {
    serve_with(listener, targets, &[("connection", "close")]).await;
}

/// Serves the probes until the server fails, with these headers in each response.
async fn serve_with(
    listener: Arc<TcpListener>,
    targets: ProbeTargets,
    headers: &'static [(&'static str, &'static str)],
) {
    let respond = get(move |uri: Uri| {
        let targets = targets.clone();
        async move {
            let response = targets.respond(uri.path(), uri.query().unwrap_or_default()).await;
            (AppendHeaders(headers.iter().copied()), response).into_response()
        }
    });
    let router = Router::new().fallback(respond);
    if let Err(error) = axum::serve(Listener(listener), router).await {
        tracing::error!(%error, "the probe server stopped");
    }
}

/// A shared listener, which stays bound while the task that serves is started again.
struct Listener(Arc<TcpListener>);

impl axum::serve::Listener for Listener {
    type Io = tokio::net::TcpStream;
    type Addr = SocketAddr;

    /// Accepts the next connection. After an error, it pauses and tries again.
    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            match self.0.accept().await {
                Ok(accepted) => return accepted,
                // For example too many open files, which may be over after a pause.
                Err(error) => {
                    tracing::warn!(%error, "failed to accept a probe");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl ProbeTargets {
    /// Returns the targets of these operators; [`Self::with_checks`] adds the checks of the user, whose panics `counters` counts.
    pub(super) fn new(wirings: &[Wiring], failed_tasks: FailedTasks, lead: ProbedLead, counters: Counters) -> Self {
        let controllers_with_watches = |wiring: &Wiring| {
            let with_watches =
                |controller: &Arc<RunningController>| (controller.clone(), wiring.required_watches(controller));
            wiring.controllers.iter().map(with_watches).collect::<Vec<_>>()
        };
        let controllers = wirings.iter().flat_map(controllers_with_watches).collect();
        Self {
            watches: wirings.iter().flat_map(Wiring::watches).collect(),
            controllers,
            failed_tasks,
            lead,
            converted: Arc::default(),
            has_buckets: false,
            readyz: Vec::new(),
            livez: Vec::new(),
            counters,
        }
    }

    /// Returns the targets of a run that has not started yet. `/livez` passes, and `/readyz` runs `reason`, the check of what it waits for.
    pub(super) fn before_start(reason: HealthCheck, counters: Counters) -> Self {
        let targets = Self::new(&[], FailedTasks::default(), ProbedLead::default(), counters);
        Self { readyz: vec![reason], ..targets }
    }

    /// Adds the kinds whose objects this operator converts. A watch of such a kind may fail because no replica serves the conversion
    /// webhook. Then this replica counts as ready all the same: API servers call the webhook of ready replicas only.
    pub(super) fn with_converted(self, kinds: impl IntoIterator<Item = Kind>) -> Self {
        Self { converted: Arc::new(kinds.into_iter().collect()), ..self }
    }

    /// Adds whether the operator can open buckets, and the check of those that are not open.
    pub(super) fn with_buckets(self, has_buckets: bool, not_open: Option<HealthCheck>) -> Self {
        Self { has_buckets, readyz: not_open.into_iter().collect(), ..self }
    }

    /// Returns whether a watch fails because no replica serves the conversion webhook for its objects.
    fn waits_for_conversion(&self, watch: &dyn HasHealth) -> bool {
        let WatchState::Failing(why) = watch.health().state() else { return false };
        // The texts of kube-apiserver for a conversion that it could not call (one that answers with a failure reads differently), and for
        // a cache that it can't fill, for example without the conversion.
        let is_call = why.contains("conversion webhook for ") && why.contains("failed: Post ");
        let is_cache = why.contains("storage is (re)initializing");
        (is_call || is_cache) && self.converted.contains(watch.health().kind())
    }

    /// Adds the checks of the user.
    pub(super) fn with_checks(self, extensions: &Extensions) -> Self {
        Self { readyz: [self.readyz, extensions.readyz.clone()].concat(), livez: extensions.livez.clone(), ..self }
    }

    /// Returns the status and the body for a request of a probe (`/readyz`) or of one of its checks (`/readyz/<check>`); 404 for others.
    async fn respond(&self, path: &str, query: &str) -> (StatusCode, String) {
        let (endpoint, check) = match path.trim_matches('/').split_once('/') {
            Some((endpoint, check)) => (endpoint, Some(check)),
            None => (path.trim_matches('/'), None),
        };
        let not_found = || (StatusCode::NOT_FOUND, "not found; the probes are at /livez and /readyz\n".to_owned());
        let Some(probe) = Probe::at(endpoint) else { return not_found() };
        let (query, only_check) = (ProbeQuery::parse(query), check.map(str::to_owned));
        let report =
            self.report(probe, |name| only_check.as_deref().map_or(!query.excludes(name), |only| only == name)).await;
        match only_check {
            None => report.respond(&query),
            Some(name) => report.respond_for(&name).unwrap_or_else(|| {
                (StatusCode::NOT_FOUND, format!("not found; /{}?verbose lists the checks\n", probe.endpoint()))
            }),
        }
    }

    /// Runs the built-in checks of a probe, and the checks of the user that `is_wanted` selects by name. The others count as passed.
    async fn report(&self, probe: Probe, is_wanted: impl Fn(&str) -> bool) -> CheckReport {
        let failed_tasks = CheckResult::of_failures("tasks", self.failed_tasks.lines());
        let (mut results, checks) = match probe {
            Probe::Live => (vec![failed_tasks, self.check_workers(), self.lead.check_live()], &self.livez),
            Probe::Ready => {
                let lead = self.lead.check_ready();
                (vec![failed_tasks, self.check_watches(), lead, self.check_controllers()], &self.readyz)
            }
        };
        let run = async |check: &HealthCheck| match is_wanted(&check.name) {
            true => check.run(&self.counters).await,
            false => CheckResult::of_failures(&check.name, String::new()),
        };
        results.extend(join_all(checks.iter().map(run)).await);
        CheckReport { probe, results }
    }

    /// Returns the result of the check `workers`, which fails while a pass exceeds the `pass_limit` of its controller.
    fn check_workers(&self) -> CheckResult {
        let overdue = self.controllers.iter().filter_map(|(controller, _)| {
            let (longest, limit) = (controller.longest_running_pass(), controller.settings().pass_limit);
            let kind = controller.health().kind();
            (longest > limit).then(|| {
                format!(
                    "controller of {kind}: a pass has been running for {} s, its limit is {} s\n",
                    longest.as_secs(),
                    limit.as_secs()
                )
            })
        });
        CheckResult::of_failures("workers", overdue.collect())
    }

    /// Returns the check `watches` with a line for each watch. It fails unless each watch is open, is of an optional kind, or waits for
    /// the conversion webhook of this operator.
    fn check_watches(&self) -> CheckResult {
        let (mut unique_lines, mut lines, mut is_ok) = (BTreeSet::new(), String::new(), true);
        for watch in &self.watches {
            let (is_ready, description) = describe(watch.as_ref());
            is_ok &= is_ready || self.waits_for_conversion(watch.as_ref());
            let (kind, is_missing) = (watch.health().kind(), watch.health().state() == WatchState::Missing);
            let hint = if is_missing && self.has_buckets { BUCKET_HINT } else { "" };
            let line = format!("{kind}: {description}{hint}\n");
            if unique_lines.insert(line.clone()) {
                lines.push_str(&line);
            }
        }
        CheckResult { name: "watches".to_owned(), is_ok, lines }
    }

    /// Returns the check `controllers`, which fails with a line for each controller that has not started. One that waits only for the
    /// Lease, or for a conversion webhook of this operator, is left out.
    fn check_controllers(&self) -> CheckResult {
        let is_waiting = self.lead.describe_waiting().is_some();
        let mut text = String::new();
        for (controller, required) in &self.controllers {
            let unsynced = || required.iter().filter(|watch| watch.health().is_undecided());
            let is_upgrading = controller.upgrade_state().is_some();
            // The conversion webhook is called only if this replica is ready, see `with_converted`.
            if !is_upgrading && unsynced().any(|watch| self.waits_for_conversion(watch.as_ref())) {
                continue;
            }
            if controller.is_working() || is_waiting && unsynced().next().is_none() {
                continue;
            }
            text.push_str(&format!("controller of {} is not started", controller.health().kind()));
            text.extend(controller.upgrade_state().map(|state| format!(": {state}")));
            for (index, watch) in unsynced().enumerate() {
                let begin = if index == 0 { ": waiting for" } else { " and" };
                text.push_str(&format!("{begin} {} ({})", watch.health().kind(), describe(watch.as_ref()).1));
            }
            text.push('\n');
        }
        CheckResult::of_failures("controllers", text)
    }
}

/// Returns whether a watch lets the operator be ready, and a description of its state.
fn describe(watch: &dyn HasHealth) -> (bool, String) {
    match watch.health().state() {
        WatchState::Following => (true, "ok".to_owned()),
        WatchState::Starting => (false, "not listed yet".to_owned()),
        WatchState::Missing if watch.is_optional() => {
            (true, "the cluster does not serve this optional kind".to_owned())
        }
        WatchState::Missing => (false, "the cluster does not serve this kind".to_owned()),
        WatchState::Forbidden(rule) => (false, rule.to_string()),
        WatchState::Failing(why) => (false, why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        counters::Counters,
        lease::{
            lead::{LeadState, Tenure},
            leads::Leads,
        },
        tasks::{OnEnd, Tasks},
    };
    use futures::FutureExt;
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };

    fn targets_of(leads: &Leads) -> ProbeTargets {
        let lead = ProbedLead { leads: Some(leads.clone()), shards: None };
        targets(&Tasks::new(Counters::default()), lead)
    }

    /// Returns targets without watches, controllers and checks of the user.
    fn targets(tasks: &Tasks, lead: ProbedLead) -> ProbeTargets {
        let (failed_tasks, counters) = (tasks.failed_tasks(), Counters::default());
        let (watches, controllers) = (Vec::new(), Vec::new());
        ProbeTargets {
            watches,
            controllers,
            failed_tasks,
            lead,
            converted: Arc::default(),
            has_buckets: false,
            readyz: Vec::new(),
            livez: Vec::new(),
            counters,
        }
    }

    /// Returns the statuses of `/livez` and `/readyz`.
    async fn statuses(targets: &ProbeTargets) -> [u16; 2] {
        [targets.respond("/livez", "").await.0.as_u16(), targets.respond("/readyz", "").await.0.as_u16()]
    }

    #[tokio::test(start_paused = true)]
    async fn a_replica_that_waits_for_the_lead_is_ready_and_an_overdue_lead_is_not_healthy() {
        let leads = Leads::new();
        let (lead, targets) = (leads.process().clone(), targets_of(&leads));
        assert_eq!(targets.respond("/readyz", "").await, (StatusCode::OK, "waiting for the lead\n".to_owned()));
        lead.set(LeadState::Waiting { holder: Some("other".to_owned()) });
        let waiting = (StatusCode::OK, "waiting for the lead, held by other\n".to_owned());
        assert_eq!(targets.respond("/readyz", "").await, waiting);
        let overdue = tokio::time::Instant::now() + Duration::from_secs(25);
        lead.set(LeadState::Held(Tenure { deadline: overdue, give_up: overdue, overdue }));
        assert_eq!(statuses(&targets).await, [200, 200]);
        tokio::time::advance(Duration::from_secs(25)).await;
        assert_eq!(statuses(&targets).await, [503, 200]);
        assert_eq!(targets.respond("/livez/lead", "").await.0.as_u16(), 503);
        lead.set(LeadState::Ended);
        assert_eq!(statuses(&targets).await, [200, 200]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ended_fails_both_probes_until_it_is_started_again() {
        let mut tasks = Tasks::new(Counters::default());
        let targets = targets(&tasks, ProbedLead::default());
        assert_eq!(statuses(&targets).await, [200, 200]);
        let mut starts = 0;
        tasks.spawn("informer of Pod", None, OnEnd::Restart, move || {
            starts += 1;
            let is_first = starts == 1;
            async move {
                if !is_first {
                    std::future::pending().await
                }
            }
            .boxed()
        });
        tokio::task::yield_now().await;
        let text = "informer of Pod: ended unexpectedly and is restarted: it ended\n".to_owned();
        for path in ["/healthz", "/livez", "/readyz", "/livez/tasks", "/readyz/tasks"] {
            assert_eq!(targets.respond(path, "").await, (StatusCode::SERVICE_UNAVAILABLE, text.clone()), "{path}");
        }
        assert_eq!(targets.respond("/livez", "exclude=tasks").await, (StatusCode::OK, "ok\n".to_owned()));
        tokio::time::advance(Duration::from_millis(200)).await;
        tokio::task::yield_now().await;
        assert_eq!(statuses(&targets).await, [200, 200]);
    }

    #[tokio::test(start_paused = true)]
    async fn checks_of_the_user_run_only_where_they_are_asked_for() {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let closed = HealthCheck::new("queue", move || {
            count.fetch_add(1, Ordering::Relaxed);
            std::future::ready(crate::error::yield_because("Closed", "closed"))
        });
        let mut targets = targets(&Tasks::new(Counters::default()), ProbedLead::default());
        targets.readyz.push(closed);
        assert_eq!(
            targets.respond("/readyz", "").await,
            (StatusCode::SERVICE_UNAVAILABLE, "queue: closed\n".to_owned())
        );
        assert_eq!(targets.respond("/readyz/queue", "").await.0.as_u16(), 503);
        assert_eq!(targets.respond("/livez", "").await.0.as_u16(), 200);
        assert_eq!(targets.respond("/readyz", "exclude=queue").await.0.as_u16(), 200);
        assert_eq!(targets.respond("/readyz/tasks", "").await.0.as_u16(), 200);
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        for path in ["/", "/readyz/stack", "/livez/queue", "/metrics"] {
            assert_eq!(targets.respond(path, "").await.0.as_u16(), 404, "{path}");
        }
        let verbose = targets.respond("/readyz", "verbose").await.1;
        for name in Probe::Ready.own_checks() {
            assert!(verbose.contains(&format!("[+]{name} ok\n")), "{verbose}");
        }
    }
}

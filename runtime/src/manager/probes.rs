//! Serves the health and readiness probes `/healthz` and `/readyz` of an operator.
//!
//! Ready means that the workers run and every watch is open. The response names each kind that is missing (unless all its nodes
//! work without it), each missing permission, and the watches that a controller waits for. Healthy means that all tasks of the
//! operator run; after a panic of a task the probe fails until the task is started again. A replica that waits for the lead is ready
//! once its watches are open, so that a rolling update can go on.

use crate::{
    controller::worker::RunningController,
    informer::watch::WatchState,
    lease::lead::{Lead, LeadState},
};
use axum::{Router, http::StatusCode, routing::get};
use std::{collections::BTreeSet, net::SocketAddr, sync::Arc};
use tokio::{io, net::TcpListener};
use {
    super::{health::HasHealth, run_error::RunError, tasks::FailedTasks},
    crate::manager::wiring::Wiring,
};

/// The watches that a controller requires before its workers start.
type RequiredWatches = Vec<Arc<dyn HasHealth>>;

/// The watches, controllers and tasks that the probes check.
#[derive(Clone)]
pub(crate) struct ProbeTargets {
    watches: Vec<Arc<dyn HasHealth>>,
    controllers: Vec<(Arc<RunningController>, RequiredWatches)>,
    failed_tasks: FailedTasks,
    /// The lead, if the operator elects one of several replicas.
    lead: Option<Lead>,
}

/// Binds the address before anything starts, so that an invalid one is an error immediately.
pub(crate) async fn bind(address: Option<SocketAddr>) -> Result<Option<TcpListener>, RunError> {
    let Some(address) = address else { return Ok(None) };
    let listener = TcpListener::bind(address).await;
    listener.map(Some).map_err(|source| RunError::Probes { address, source })
}

/// Serves the probes until the server fails.
pub(crate) async fn serve(listener: Arc<TcpListener>, targets: ProbeTargets) {
    let health_targets = targets.clone();
    let healthz = get(move || std::future::ready(health_targets.health()));
    let readyz = get(move || std::future::ready(targets.readiness()));
    let router = Router::new().route("/healthz", healthz).route("/readyz", readyz);
    if let Err(error) = axum::serve(Listener(listener), router).await {
        tracing::error!(%error, "the probe server stopped");
    }
}

/// A shared listener, which stays bound while the task that serves is started again.
struct Listener(Arc<TcpListener>);

impl axum::serve::Listener for Listener {
    type Io = tokio::net::TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            match self.0.accept().await {
                Ok(accepted) => return accepted,
                // For example too many open files, which may be over after a pause.
                Err(error) => {
                    tracing::warn!(%error, "failed to accept a probe");
                    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl ProbeTargets {
    pub(super) fn new(wiring: &Wiring, failed_tasks: FailedTasks, lead: Option<Lead>) -> Self {
        let required = |controller: &Arc<RunningController>| (controller.clone(), wiring.required_watches(controller));
        let controllers = wiring.controllers.iter().map(required).collect();
        Self { watches: wiring.watches(), controllers, failed_tasks, lead }
    }

    /// Returns the response of `/healthz`.
    fn health(&self) -> (StatusCode, String) {
        let mut failed = self.failed_tasks.lines();
        if self.lead.as_ref().is_some_and(Lead::is_overdue) {
            failed.push_str("leader election: the lead was not renewed in time\n");
        }
        if failed.is_empty() { (StatusCode::OK, "ok\n".to_owned()) } else { (StatusCode::SERVICE_UNAVAILABLE, failed) }
    }

    /// Returns the response of `/readyz`: a line for each failed task, each watch, and each controller that has not started. It is
    /// ready if there is no failed task, all watches are, and all controllers have started or wait for the lead alone.
    fn readiness(&self) -> (StatusCode, String) {
        let mut text = self.failed_tasks.lines();
        let mut ready = text.is_empty();
        let (mut unique_lines, mut lines) = (BTreeSet::new(), Vec::new());
        for watch in &self.watches {
            let (is_ready, description) = describe(watch.as_ref());
            ready &= is_ready;
            let line = format!("{}: {description}\n", watch.health().kind());
            if unique_lines.insert(line.clone()) {
                lines.push(line);
            }
        }
        text.extend(lines);
        let waiting = self.describe_waiting();
        text.extend(waiting.clone());
        let waiting = waiting.is_some();
        for (controller, required) in &self.controllers {
            if controller.is_working() {
                continue;
            }
            if waiting && !required.iter().any(|watch| watch.health().is_undecided()) {
                continue;
            }
            ready = false;
            text.push_str(&format!("controller of {} is not started", controller.health().kind()));
            text.extend(controller.upgrade_state().map(|state| format!(": {state}")));
            let unsynced = required.iter().filter(|watch| watch.health().is_undecided());
            for (index, watch) in unsynced.enumerate() {
                let begin = if index == 0 { ": waiting for" } else { " and" };
                text.push_str(&format!("{begin} {} ({})", watch.health().kind(), describe(watch.as_ref()).1));
            }
            text.push('\n');
        }
        (if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, text)
    }
}

impl ProbeTargets {
    /// Returns the line of a replica that waits for the lead; `None` if it leads, or without leader election.
    fn describe_waiting(&self) -> Option<String> {
        match self.lead.as_ref()?.state() {
            LeadState::Waiting { holder: Some(holder) } => Some(format!("waiting for the lead, held by {holder}\n")),
            LeadState::Waiting { holder: None } => Some("waiting for the lead\n".to_owned()),
            LeadState::Held(_) | LeadState::Ended => None,
        }
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
        lease::lead::Tenure,
        manager::tasks::{OnEnd, Tasks},
    };
    use futures::FutureExt;
    use std::time::Duration;

    fn targets_of(lead: &Lead) -> ProbeTargets {
        let failed_tasks = Tasks::new(Counters::default()).failed_tasks();
        ProbeTargets { watches: Vec::new(), controllers: Vec::new(), failed_tasks, lead: Some(lead.clone()) }
    }

    #[tokio::test(start_paused = true)]
    async fn a_replica_that_waits_for_the_lead_is_ready_and_an_overdue_lead_is_not_healthy() {
        let lead = Lead::new();
        let targets = targets_of(&lead);
        assert_eq!(targets.readiness(), (StatusCode::OK, "waiting for the lead\n".to_owned()));
        lead.set(LeadState::Waiting { holder: Some("other".to_owned()) });
        assert_eq!(targets.readiness(), (StatusCode::OK, "waiting for the lead, held by other\n".to_owned()));
        let overdue = tokio::time::Instant::now() + Duration::from_secs(25);
        lead.set(LeadState::Held(Tenure { deadline: overdue, give_up: overdue, overdue }));
        assert_eq!((targets.health().0, targets.readiness().0), (StatusCode::OK, StatusCode::OK));
        tokio::time::advance(Duration::from_secs(25)).await;
        assert_eq!(targets.health().0, StatusCode::SERVICE_UNAVAILABLE);
        lead.set(LeadState::Ended);
        assert_eq!(targets.health().0, StatusCode::OK);
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ended_fails_both_probes_until_it_is_started_again() {
        let mut tasks = Tasks::new(Counters::default());
        let targets = ProbeTargets {
            watches: Vec::new(),
            controllers: Vec::new(),
            failed_tasks: tasks.failed_tasks(),
            lead: None,
        };
        assert_eq!((targets.health().0, targets.readiness().0), (StatusCode::OK, StatusCode::OK));
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
        assert_eq!(targets.health(), (StatusCode::SERVICE_UNAVAILABLE, text.clone()));
        assert_eq!(targets.readiness(), (StatusCode::SERVICE_UNAVAILABLE, text));
        tokio::time::advance(Duration::from_millis(200)).await;
        tokio::task::yield_now().await;
        assert_eq!((targets.health().0, targets.readiness().0), (StatusCode::OK, StatusCode::OK));
    }
}

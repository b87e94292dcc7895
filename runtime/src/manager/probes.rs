//! `/healthz` and `/readyz`.
//!
//! Ready means that the operator can do its work: its workers run, and every watch follows its kind. A kind that is missing
//! (unless all its nodes can do without it), a permission that is lacking, and what a controller waits for before it starts, are
//! said here in words. Healthy means that every task of the operator runs; one that panicked fails until it is started again.

use crate::{controller::worker::Running, informer::watch::WatchState};
use axum::{Router, http::StatusCode, routing::get};
use std::{collections::BTreeSet, net::SocketAddr, sync::Arc};
use tokio::{io, net::TcpListener};
use {
    super::{health::AsHealth, run_error::RunError, tasks::Down},
    crate::manager::wiring::Floor,
};

/// The watches that a controller needs before it works.
type Needs = Vec<Arc<dyn AsHealth>>;

/// What the probes look at.
#[derive(Clone)]
pub(crate) struct Probed {
    watched: Vec<Arc<dyn AsHealth>>,
    /// Each with the watches that it needs before it works.
    controllers: Vec<(Arc<Running>, Needs)>,
    down: Down,
}

/// Takes the address before anything starts, so that a wrong one is an error at once (frameworks M8).
pub(crate) async fn bind(address: Option<SocketAddr>) -> Result<Option<TcpListener>, RunError> {
    let Some(address) = address else { return Ok(None) };
    let listener = TcpListener::bind(address).await;
    listener.map(Some).map_err(|source| RunError::Probes { address, source })
}

/// Serves the probes until that fails.
pub(crate) async fn serve(listener: Arc<TcpListener>, probed: Probed) {
    let healthy = probed.clone();
    let healthz = get(move || std::future::ready(healthy.health()));
    let readyz = get(move || std::future::ready(probed.readiness()));
    let router = Router::new().route("/healthz", healthz).route("/readyz", readyz);
    if let Err(error) = axum::serve(Listener(listener), router).await {
        tracing::error!(%error, "the probes are not served any more");
    }
}

/// A listener that outlives the task that serves.
struct Listener(Arc<TcpListener>);

impl axum::serve::Listener for Listener {
    type Io = tokio::net::TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            match self.0.accept().await {
                Ok(accepted) => return accepted,
                // Too many open files, for example; the next moment may be better.
                Err(error) => {
                    tracing::warn!(%error, "a probe could not be accepted");
                    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl Probed {
    pub(super) fn new(floor: &Floor, down: Down) -> Self {
        let with_needs = |controller: &Arc<Running>| (controller.clone(), floor.needs(controller));
        Self { watched: floor.health(), controllers: floor.controllers.iter().map(with_needs).collect(), down }
    }

    fn health(&self) -> (StatusCode, String) {
        let down = self.down.lines();
        if down.is_empty() { (StatusCode::OK, "ok\n".to_owned()) } else { (StatusCode::SERVICE_UNAVAILABLE, down) }
    }

    fn readiness(&self) -> (StatusCode, String) {
        let mut text = self.down.lines();
        let mut ready = text.is_empty();
        let (mut said, mut lines) = (BTreeSet::new(), Vec::new());
        for watched in &self.watched {
            let (is_ready, word) = word_of(watched.as_ref());
            ready &= is_ready;
            let line = format!("{}: {word}\n", watched.health().kind());
            if said.insert(line.clone()) {
                lines.push(line);
            }
        }
        text.extend(lines);
        for (controller, needs) in &self.controllers {
            if controller.is_working() {
                continue;
            }
            ready = false;
            text.push_str(&format!("controller of {} is not started", controller.health().kind()));
            for (at, need) in needs.iter().filter(|need| need.health().is_undecided()).enumerate() {
                let begin = if at == 0 { ": waiting for" } else { " and" };
                text.push_str(&format!("{begin} {} ({})", need.health().kind(), word_of(need.as_ref()).1));
            }
            text.push('\n');
        }
        (if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, text)
    }
}

/// Whether the operator is ready as far as a watch goes, and how that is said.
fn word_of(watched: &dyn AsHealth) -> (bool, String) {
    match watched.health().state() {
        WatchState::Following => (true, "ok".to_owned()),
        WatchState::Starting => (false, "not listed yet".to_owned()),
        WatchState::Missing if watched.is_optional() => {
            (true, "the cluster has no such kind, and need not have it".to_owned())
        }
        WatchState::Missing => (false, "the cluster has no such kind".to_owned()),
        WatchState::Forbidden(rule) => (false, rule.to_string()),
        WatchState::Failing(why) => (false, why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        counters::Counters,
        manager::tasks::{OnEnd, Tasks},
    };
    use futures::FutureExt;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ended_fails_both_probes_until_it_is_started_again() {
        let mut tasks = Tasks::new(Counters::default());
        let probed = Probed { watched: Vec::new(), controllers: Vec::new(), down: tasks.down() };
        assert_eq!((probed.health().0, probed.readiness().0), (StatusCode::OK, StatusCode::OK));
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
        let said = "informer of Pod: ended and is started again: it came to its end\n".to_owned();
        assert_eq!(probed.health(), (StatusCode::SERVICE_UNAVAILABLE, said.clone()));
        assert_eq!(probed.readiness(), (StatusCode::SERVICE_UNAVAILABLE, said));
        tokio::time::advance(Duration::from_millis(200)).await;
        tokio::task::yield_now().await;
        assert_eq!((probed.health().0, probed.readiness().0), (StatusCode::OK, StatusCode::OK));
    }
}

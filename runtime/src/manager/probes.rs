//! `/healthz` and `/readyz`.
//!
//! Ready means that the operator can do its work: its workers run, and every watch follows its kind. A kind that is missing
//! (unless all its nodes can do without it) or a permission that is lacking is said here in words.

use super::{health::AsHealth, run::RunError};
use crate::watch::WatchState;
use axum::{Router, http::StatusCode, routing::get};
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::net::TcpListener;

/// Whether the workers run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Started(Arc<AtomicBool>);

impl Started {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Takes the address before anything starts, so that a wrong one is an error at once (frameworks M8).
pub(crate) async fn bind(address: Option<SocketAddr>) -> Result<Option<TcpListener>, RunError> {
    let Some(address) = address else { return Ok(None) };
    let listener = TcpListener::bind(address).await;
    listener.map(Some).map_err(|source| RunError::Probes { address, source })
}

pub(crate) async fn serve(listener: TcpListener, watched: Vec<Arc<dyn AsHealth>>, started: Started) {
    let ready = move || std::future::ready(readiness(&watched, &started));
    let router = Router::new().route("/healthz", get(|| async { "ok\n" })).route("/readyz", get(ready));
    if let Err(error) = axum::serve(listener, router).await {
        tracing::error!(%error, "the probes are not served any more");
    }
}

fn readiness(watched: &[Arc<dyn AsHealth>], started: &Started) -> (StatusCode, String) {
    let mut text = String::new();
    let mut ready = started.0.load(Ordering::Relaxed);
    for watched in watched {
        let health = watched.health();
        let optional = watched.is_optional() && health.state() == WatchState::Missing;
        let word = match health.state() {
            WatchState::Following => "ok".to_owned(),
            WatchState::Starting => "not listed yet".to_owned(),
            WatchState::Missing if optional => "the cluster has no such kind, and need not have it".to_owned(),
            WatchState::Missing => "the cluster has no such kind".to_owned(),
            WatchState::Forbidden(rule) => rule.to_string(),
            WatchState::Failing(why) => why,
        };
        ready &= optional || health.state() == WatchState::Following;
        text.push_str(&format!("{}: {word}\n", health.kind()));
    }
    (if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, text)
}
